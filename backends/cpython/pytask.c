#include "backends/cpython/pytask.h"

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycall.h"
#include "backends/cpython/pycode.h"
#include "backends/cpython/pywalk.h"
#include "backends/linux/memory.h"
#include "backends/native/capture.h"
#include "backends/native/registers.h"
#include "base/alloc.h"
#include "base/array.h"
#include "protocol/stack.h"

#define TRIES 10     /* maximum fetches of a running thread, two copies each */
#define SPARE 2	     /* index of a walk that is free after pytask_settle() */
#define AGREEMENTS 3 /* fetches in a row that must show the same stack */

struct pytask *pytask_new(const struct pytstate *state, pid_t pid, pid_t tid)
{
	struct pytask *pytask = xcalloc(1, sizeof(*pytask));

	pytask->state = *state;
	pytask->walk = &pytask->walks[0];
	task_init(&pytask->task, pid, tid);
	return pytask;
}

void pytask_free(struct pytask *pytask)
{
	if (!pytask)
		return;
	free(pytask->name);
	free(pytask->call.text);
	free(pytask->frames);
	for (size_t i = 0; i < ARRAY_LENGTH(pytask->walks); i++)
		pywalk_clear(&pytask->walks[i]);
	task_clear(&pytask->task);
	free(pytask);
}

void pytask_look(struct pytask *pytask)
{
	pytask->is_gone = task_look(&pytask->task, &pytask->seen) < 0;
}

bool pytask_is_stopped(struct pytask *pytask)
{
	char letter = task_letter(&pytask->task);

	return letter == 'T' || letter == 't';
}

/* True if the thread was blocked before the snapshot and has not run since. */
static bool has_slept(struct pytask *pytask)
{
	struct task_state now;

	return pytask->seen.is_blocked && pytask->seen.switches &&
	       task_look_switches(&pytask->task, &now) == 0 &&
	       now.switches == pytask->seen.switches;
}

/*
 * Walks the frames in one copy of memory's snapshot; false: the chain breaks off, or further system
 * calls were needed.
 */
static bool walk_copy(struct pytask *pytask, int copy, struct memory *memory,
		      const struct cpython *python)
{
	uint64_t calls = memory_calls(memory);
	struct pywalk *walk = &pytask->walks[copy];

	memory_use(memory, copy);
	int result = pywalk_read(walk, memory, python, pytask->state.address);
	memory_use(memory, 0);
	pytask->walk = walk;
	pytask->is_broken = result < 0;
	return result == 0 && memory_calls(memory) == calls;
}

static void swap_walks(struct pywalk *a, struct pywalk *b)
{
	struct pywalk held = *a;

	*a = *b;
	*b = held;
}

/*
 * Fetches the thread's memory repeatedly, two copies each time, until AGREEMENTS fetches in a row
 * show the same stack in all copies. Two copies alone are not enough: with a tight loop both have
 * the same half-old state in a few percent of all cases, and four copies in 0.1 to 5 percent.
 */
static enum exactness compare_copies(struct pytask *pytask, struct memory *memory,
				     const struct cpython *python, bool is_first_whole)
{
	struct pywalk *walks = pytask->walks;
	bool is_whole = is_first_whole;
	int agreed = 0;

	for (int i = 0; i < TRIES; i++) {
		if (i > 0) {
			memory_again(memory);
			is_whole = walk_copy(pytask, 0, memory, python);
		}
		is_whole = walk_copy(pytask, 1, memory, python) && is_whole;
		if (!is_whole || !pywalk_agrees(&walks[0], &walks[1])) {
			agreed = 0;
			continue;
		}
		if (agreed && !pywalk_agrees(&walks[0], &walks[2]))
			agreed = 0;
		if (++agreed == AGREEMENTS)
			return CONSISTENT;
		swap_walks(&walks[0], &walks[2]);
	}
	return TORN;
}

void pytask_settle(struct pytask *pytask, struct memory *memory, const struct cpython *python,
		   bool is_frozen)
{
	memory_group(memory);
	memory_take_failure(memory);
	bool is_whole = walk_copy(pytask, 0, memory, python);
	if (is_frozen || has_slept(pytask))
		pytask->exactness = pytask->is_broken ? TORN : EXACT;
	else
		pytask->exactness = compare_copies(pytask, memory, python, is_whole);
	int failure = memory_take_failure(memory);
	pytask->failure = pytask->is_broken ? failure : 0;
}

int pytask_walk_again(struct pytask *pytask, struct memory *memory, const struct cpython *python)
{
	struct pywalk *walk = &pytask->walks[SPARE];

	if (!pytstate_is_there(&pytask->state, memory, python) ||
	    pywalk_read(walk, memory, python, pytask->state.address) < 0)
		return -1;
	pytask->walk = walk;
	return 0;
}

const struct stack *pytask_resolve(struct pytask *pytask, const struct cpython *python,
				   struct pycode_cache *codes, struct stack_table *table)
{
	const struct pywalk *walk = pytask->walk;

	pytask->frames = array_grow(pytask->frames, walk->count + 1, &pytask->frame_capacity,
				    sizeof(*pytask->frames));
	pytask->has_unknown = false;
	for (size_t i = 0; i < walk->count; i++) {
		const struct pyframe *frame = &walk->frames[i];
		const struct pycode *code = pycode_find(codes, frame->code);
		struct frame *out = &pytask->frames[i];
		if (code) {
			out->code = code->code;
			out->lineno = pycode_line(code, python, frame->position);
			continue;
		}
		*out = (struct frame){ .code = pycode_unknown(table) };
		if (pytask->exactness != TORN)
			pytask->has_unknown = true;
		pytask->exactness = TORN;
	}
	return stack_table_stack(table, pytask->frames, walk->count, walk->dropped_count);
}

static bool is_same_place(const struct pyframe *a, const struct pyframe *b)
{
	return a->address == b->address && a->code == b->code && a->position == b->position;
}

/* True if the thread has not run since its call was read. */
static bool has_call(const struct pytask *pytask, const struct pyframe *frame)
{
	return pytask->seen.is_blocked && pytask->seen.switches &&
	       pytask->call.switches == pytask->seen.switches &&
	       is_same_place(&pytask->call.frame, frame);
}

bool pytask_note_place(struct pytask *pytask)
{
	struct pyframe before = pytask->place;

	if (pytask->walk->count == 0)
		return false;
	pytask->place = pytask->walk->frames[0];
	return is_same_place(&before, &pytask->place);
}

const char *pytask_call(struct pytask *pytask, struct pycall_cache *calls)
{
	const struct pyframe *frame = pytask->walk->frames;

	if (pytask->walk->count == 0 || pytask->exactness == TORN)
		return NULL;
	if (has_call(pytask, frame))
		return pytask->call.text;
	free(pytask->call.text);
	pytask->call.text =
		pycall_read(calls, frame, pytask->frames[0].code, pytask->exactness == EXACT);
	pytask->call.frame = *frame;
	/* What was read of a thread that has run meanwhile is read anew. */
	pytask->call.switches = pytask->exactness == EXACT ? pytask->seen.switches : 0;
	return pytask->call.text;
}

uint64_t pytask_values(struct pytask *pytask, struct pycall_cache *calls)
{
	if (!pytask->call.text || pytask->exactness != CONSISTENT)
		return 0;
	return pycall_values(calls, pytask->walk->frames, pytask->frames, pytask->walk->count);
}

static void copy_frames(struct pytask *pytask, struct memory *memory, const struct cpython *python,
			struct capture *capture)
{
	struct pywalk *walk = &pytask->walks[pytask->walk - pytask->walks];

	pyanchor_fill(walk, memory, python, pytask->state.address);
	capture->tid = pytask->task.tid;
	capture->interpreter = pytask->state.number;
	capture->python = xcalloc(walk->count + 1, sizeof(*capture->python));
	capture->python_count = walk->count;
	capture->python_dropped = walk->dropped_count;
	for (size_t i = 0; i < walk->count; i++)
		capture->python[i].anchor = walk->frames[i].anchor;
}

int pytask_capture(struct pytask *pytask, struct memory *memory, const struct cpython *python,
		   struct capture *capture)
{
	const struct task_state *seen = &pytask->seen;

	if (pytask->is_gone || pytask->exactness != EXACT || !seen->is_blocked)
		return -1;
	registers_from_syscall(&capture->registers, seen->instruction, seen->stack_pointer);
	capture_prepare(capture, CAPTURE_STACK_BYTES);
	if (capture_stack(capture, memory, capture->stack_capacity) < 0)
		return -1;
	copy_frames(pytask, memory, python, capture);
	capture->switches = seen->switches;
	return has_slept(pytask) ? 0 : -1;
}

void pytask_prepare_held(struct pytask *pytask, struct memory *memory, const struct cpython *python)
{
	struct pywalk *walk = &pytask->walks[SPARE];

	memory_begin(memory, true);
	if (pywalk_read(walk, memory, python, pytask->state.address) == 0)
		pyanchor_fill(walk, memory, python, pytask->state.address);
}

int pytask_capture_held(struct pytask *pytask, struct memory *memory, const struct cpython *python,
			const struct registers *registers, struct capture *capture)
{
	struct pywalk *walk = &pytask->walks[SPARE];

	capture->registers = *registers;
	if (capture_stack(capture, memory, CAPTURE_HELD_BYTES) < 0)
		return -1;
	capture->is_fixed = true;
	memory_begin_short(memory);
	if (pywalk_read(walk, memory, python, pytask->state.address) < 0)
		return -1;
	pytask->walk = walk;
	pytask->is_broken = false;
	pytask->exactness = EXACT;
	copy_frames(pytask, memory, python, capture);
	return 0;
}

void pytask_name_capture(const struct pytask *pytask, struct capture *capture)
{
	for (size_t i = 0; i < capture->python_count; i++)
		capture->python[i].frame = pytask->frames[i];
}

/*
 * True if the top of the stack is unchanged. Then the thread's context switches do not matter: the
 * thread returned to the same place, or its own capture's ptrace-stop was the switch.
 */
static bool has_same_fingerprint(struct pytask *pytask, struct memory *memory)
{
	struct capture capture = { .tid = 0 };
	bool is_same = false;

	registers_from_syscall(&capture.registers, pytask->seen.instruction,
			       pytask->seen.stack_pointer);
	capture_prepare(&capture, CAPTURE_FINGERPRINT_BYTES);
	if (capture_stack(&capture, memory, CAPTURE_FINGERPRINT_BYTES) == 0)
		is_same = capture_fingerprint(&capture) == pytask->native.fingerprint &&
			  has_slept(pytask);
	capture_clear(&capture);
	return is_same;
}

bool pytask_has_native(struct pytask *pytask, struct memory *memory)
{
	const struct task_state *seen = &pytask->seen;

	if (!pytask->native.stack || !seen->is_blocked || pytask->exactness != EXACT)
		return false;
	if (seen->switches == pytask->native.switches)
		return true;
	if (!has_same_fingerprint(pytask, memory))
		return false;
	pytask->native.switches = seen->switches;
	return true;
}

const char *pytask_wchan(struct pytask *pytask)
{
	if (!pytask->seen.is_blocked)
		return "";
	if (!pytask->seen.switches || pytask->wchan_switches != pytask->seen.switches) {
		task_wchan(&pytask->task, pytask->wchan, sizeof(pytask->wchan));
		pytask->wchan_switches = pytask->seen.switches;
	}
	return pytask->wchan;
}
