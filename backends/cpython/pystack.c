#include "backends/cpython/pystack.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyasyncio.h"
#include "backends/cpython/pycall.h"
#include "backends/cpython/pycode.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pystack-private.h"
#include "backends/cpython/pytask.h"
#include "backends/cpython/pytstate.h"
#include "backends/linux/memory.h"
#include "backends/native/capture.h"
#include "backends/native/registers.h"
#include "backends/tracer/freezer.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

#define REFRESH_TRIES 4
#define HOLD_TRIES 10

struct pystack *pystack_new(struct memory *memory, const struct cpython *python,
			    struct stack_table *table, struct freezer *holds)
{
	struct pystack *pystack = xcalloc(1, sizeof(*pystack));
	pid_t inner;

	pystack->pid = memory_pid(memory);
	pystack->memory = memory;
	pystack->aside = memory_new(pystack->pid);
	pystack->python = python;
	pystack->table = table;
	pystack->holds = holds;
	pystack->codes = pycode_cache_new(memory, python, table);
	pystack->calls = pycall_cache_new(memory, python);
	pystack->asyncio = pyasyncio_new(memory, python);
	pystack->statm = -1;
	inner = task_inner(pystack->pid);
	pystack->is_namespaced = inner && inner != pystack->pid;
	return pystack;
}

static void drop_task(struct pystack *pystack, struct pytask *pytask)
{
	pystack->other_calls += pytask->task.calls;
	pytask_free(pytask);
}

void pystack_free(struct pystack *pystack)
{
	if (!pystack)
		return;
	if (pystack->statm >= 0)
		close(pystack->statm);
	free(pystack->addresses);
	free(pystack->raised);
	free(pystack->gils);
	for (size_t i = 0; i < pystack->task_count; i++)
		pytask_free(pystack->tasks[i]);
	free(pystack->tasks);
	pytstate_list_clear(&pystack->states);
	pycall_cache_free(pystack->calls);
	pycode_cache_free(pystack->codes);
	memory_free(pystack->aside);
	pyasyncio_free(pystack->asyncio);
	free(pystack);
}

uint64_t pystack_interpreter(const struct pystack *pystack)
{
	return pystack->states.main_interpreter;
}

uint64_t pystack_calls(const struct pystack *pystack)
{
	uint64_t calls =
		pystack->other_calls + memory_calls(pystack->memory) + memory_calls(pystack->aside);

	for (size_t i = 0; i < pystack->task_count; i++)
		calls += pystack->tasks[i]->task.calls;
	return calls;
}

static bool is_same_state(const struct pytstate *a, const struct pytstate *b)
{
	return a->address == b->address && a->ident == b->ident && a->tid == b->tid &&
	       a->interpreter == b->interpreter;
}

static struct pytask *take_known(struct pytask **tasks, size_t count, const struct pytstate *state)
{
	for (size_t i = 0; i < count; i++) {
		struct pytask *pytask = tasks[i];
		if (!pytask || !is_same_state(&pytask->state, state))
			continue;
		tasks[i] = NULL;
		return pytask;
	}
	return NULL;
}

static struct pytask *make_task(struct pystack *pystack, const struct pytstate *state)
{
	pid_t tid = state->tid;

	if (pystack->is_namespaced)
		tid = task_find(pystack->pid, state->tid);
	return pytask_new(state, pystack->pid, tid);
}

static int compare_tasks(const void *a, const void *b)
{
	const struct pytask *left = *(struct pytask *const *)a;
	const struct pytask *right = *(struct pytask *const *)b;

	if (left->state.number != right->state.number)
		return left->state.number < right->state.number ? -1 : 1;
	/* The main thread's tid is the pid, which is usually the lowest tid. */
	bool left_is_main = left->task.tid == left->task.pid;
	bool right_is_main = right->task.tid == right->task.pid;
	if (left_is_main != right_is_main)
		return left_is_main ? -1 : 1;
	return left->task.tid < right->task.tid ? -1 : left->task.tid > right->task.tid;
}

/*
 * Replaces pystack->tasks by the threads of pystack->states, and keeps known threads; true if some
 * threads are new.
 */
static bool merge_tasks(struct pystack *pystack)
{
	struct pytask **old = pystack->tasks;
	size_t old_count = pystack->task_count;
	bool has_new = false;

	pystack->tasks = NULL;
	pystack->task_count = 0;
	pystack->task_capacity = 0;
	for (size_t i = 0; i < pystack->states.count; i++) {
		const struct pytstate *state = &pystack->states.items[i];
		struct pytask *pytask = take_known(old, old_count, state);
		if (!pytask) {
			pytask = make_task(pystack, state);
			has_new = true;
		}
		pytask->state = *state;
		ARRAY_GROW(pystack->tasks, pystack->task_count, pystack->task_capacity);
		pystack->tasks[pystack->task_count++] = pytask;
	}
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			drop_task(pystack, old[i]);
	free(old);
	qsort(pystack->tasks, pystack->task_count, sizeof(*pystack->tasks), compare_tasks);
	return has_new;
}

static bool has_changed(const struct pystack *pystack)
{
	if (pystack->states.count != pystack->task_count)
		return true;
	for (size_t i = 0; i < pystack->task_count; i++) {
		bool is_known = false;
		for (size_t j = 0; j < pystack->task_count && !is_known; j++)
			is_known =
				is_same_state(&pystack->states.items[i], &pystack->tasks[j]->state);
		if (!is_known)
			return true;
	}
	return false;
}

/*
 * A stop signal stops all threads, so the other threads are checked only if the main thread is
 * stopped.
 */
static void look_at_tasks(struct pystack *pystack)
{
	bool is_stopped;

	for (size_t i = 0; i < pystack->task_count; i++)
		task_begin(&pystack->tasks[i]->task);
	is_stopped = pystack->task_count > 0 && pytask_is_stopped(pystack->tasks[0]);
	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		pytask_look(pytask);
		pytask->is_stopped = is_stopped && pytask_is_stopped(pytask);
	}
}

/*
 * Takes a snapshot after reading the kernel state of the known threads. If the snapshot shows a new
 * thread, whose kernel state was not read before, both reads are repeated.
 */
static int take_snapshot(struct pystack *pystack, struct error *error)
{
	int result = -1;

	for (int i = 0; i < REFRESH_TRIES; i++) {
		memory_begin(pystack->memory, true);
		result = pytstate_list_read(&pystack->states, pystack->memory, pystack->python,
					    error);
		if (result < 0)
			continue;
		if (!has_changed(pystack))
			return 0;
		pystack->name_tries = PYSTACK_NAME_TRIES;
		if (!merge_tasks(pystack))
			return 0;
		look_at_tasks(pystack);
	}
	return result;
}

const struct pygil *pystack_gil(const struct pystack *pystack, uint64_t interpreter)
{
	for (size_t i = 0; i < pystack->gil_count; i++)
		if (pystack->gils[i].interpreter == interpreter)
			return &pystack->gils[i];
	return NULL;
}

static void read_gils(struct pystack *pystack)
{
	pystack->gil_count = 0;
	for (size_t i = 0; i < pystack->task_count; i++) {
		uint64_t interpreter = pystack->tasks[i]->state.interpreter;
		if (pystack_gil(pystack, interpreter))
			continue;
		ARRAY_GROW(pystack->gils, pystack->gil_count, pystack->gil_capacity);
		pygil_read(&pystack->gils[pystack->gil_count++], pystack->memory, pystack->python,
			   interpreter);
	}
}

/* frozen: address of the GIL whose holder is ptrace-stopped; 0: none. */
static void settle_tasks(struct pystack *pystack, uint64_t frozen)
{
	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		const struct pygil *gil = pystack_gil(pystack, pytask->state.interpreter);
		if (!pytask->is_gone)
			pytask_settle(pytask, pystack->memory, pystack->python,
				      frozen && gil && gil->address == frozen);
	}
}

static int read_once(struct pystack *pystack, uint64_t frozen, struct error *error)
{
	if (take_snapshot(pystack, error) < 0)
		return -1;
	read_gils(pystack);
	settle_tasks(pystack, frozen);
	return 0;
}

static pid_t holder_tid(const struct pystack *pystack, const struct pygil *gil)
{
	for (size_t i = 0; i < pystack->task_count; i++) {
		const struct pytask *pytask = pystack->tasks[i];
		if (pytask->state.address == gil->holder)
			return pytask->is_gone ? 0 : pytask->task.tid;
	}
	return 0;
}

static bool is_still_held(const struct pystack *pystack, const struct pygil *gil)
{
	struct pygil now;

	pygil_read(&now, pystack->memory, pystack->python, gil->interpreter);
	return now.holder == gil->holder && now.address == gil->address;
}

/*
 * Reads while the GIL's holder is ptrace-stopped. That thread may just have been giving the GIL
 * away, so the holder is checked before and after. True: no Python ran during the read.
 */
static bool pystack_read_held(struct pystack *pystack, const struct pygil *gil,
			      struct process_sample *sample)
{
	pid_t tid = holder_tid(pystack, gil);
	struct error refused = ERROR_INIT;
	bool is_exact = false;

	if (!tid || freezer_begin(pystack->holds, pystack->pid, tid, &refused) < 0)
		return false;
	if (is_still_held(pystack, gil) && read_once(pystack, gil->address, &refused) == 0)
		is_exact = is_still_held(pystack, gil);
	sample->held_ns += freezer_end(pystack->holds);
	return is_exact;
}

/* Reads while the holder of the main interpreter's GIL is ptrace-stopped, if there is one. */
static int read_exactly(struct pystack *pystack, struct process_sample *sample, struct error *error)
{
	for (int i = 0; i < HOLD_TRIES; i++) {
		struct pygil gil;
		look_at_tasks(pystack);
		pygil_read(&gil, pystack->memory, pystack->python,
			   pystack->states.main_interpreter);
		if (gil.holder && pystack_read_held(pystack, &gil, sample))
			return 0;
	}
	look_at_tasks(pystack);
	return read_once(pystack, 0, error);
}

int pystack_sample(struct pystack *pystack, bool exact, struct process_sample *sample,
		   struct error *error)
{
	struct timespec now;
	uint64_t calls = pystack_calls(pystack);

	process_sample_clear(sample);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->pid = pystack->pid;
	sample->epoch = ++pystack->epoch;
	sample->time = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	/* Warms the caches with a first read, so that the read with a stopped thread is short. */
	if (!exact || pystack->task_count == 0) {
		look_at_tasks(pystack);
		if (read_once(pystack, 0, error) < 0)
			return -1;
	}
	if (exact && read_exactly(pystack, sample, error) < 0)
		return -1;
	pystack_fill(pystack, sample);
	sample->syscalls = pystack_calls(pystack) - calls;
	return 0;
}

/* The frames of one thread, or task, of the newest sample. */

const struct pytask *pystack_find_state(const struct pystack *pystack, uint64_t state)
{
	for (size_t i = 0; i < pystack->task_count; i++)
		if (pystack->tasks[i]->state.address == state && !pystack->tasks[i]->is_gone)
			return pystack->tasks[i];
	return NULL;
}

/*
 * Returns the frames of a task; for a running task the newest frames of its thread, up to the frame
 * of the task's coroutine.
 */
struct pywalk pystack_walk_of(const struct pystack *pystack, const struct pyasyncio_task *task,
			      const struct pytask *pytask)
{
	uint64_t frame = pyasyncio_frame(pystack->asyncio, task);

	for (size_t i = 0; task->is_running && pytask && i < pytask->walk->count; i++)
		if (pytask->walk->frames[i].address == frame)
			return (struct pywalk){
				.frames = pytask->walk->frames,
				.count = i + 1,
			};
	return task->walk;
}

static struct pytask *pystack_frames_find_thread(const struct pystack *pystack, pid_t tid,
						 int interpreter)
{
	for (size_t i = 0; i < pystack->task_count; i++)
		if (pystack->tasks[i]->task.tid == tid &&
		    pystack->tasks[i]->state.number == interpreter)
			return pystack->tasks[i];
	return NULL;
}

static struct pywalk task_walk(const struct pystack *pystack, const struct pyasyncio_task *task)
{
	return pystack_walk_of(pystack, task, pystack_find_state(pystack, task->thread));
}

/* The frames are borrowed; count 0: no such thread. */
static struct pywalk find_walk(const struct pystack *pystack, pid_t tid, int interpreter)
{
	const struct pyasyncio_task *task = tid < 0 ? pyasyncio_find(pystack->asyncio, -tid) : NULL;
	const struct pytask *pytask =
		tid < 0 ? NULL : pystack_frames_find_thread(pystack, tid, interpreter);

	if (task)
		return task_walk(pystack, task);
	return pytask ? *pytask->walk : (struct pywalk){ .count = 0 };
}

static int find_task_frame(const struct pystack *pystack, int number, int depth,
			   struct pyobject_frame *frame)
{
	const struct pyasyncio_task *task = pyasyncio_find(pystack->asyncio, number);
	struct pywalk walk;

	if (!task)
		return -1;
	walk = task_walk(pystack, task);
	if (depth < 0 || (size_t)depth >= walk.count)
		return -1;
	*frame = (struct pyobject_frame){
		.address = walk.frames[depth].address,
		.thread = task->is_running ? task->thread : 0,
	};
	if (!task->is_running)
		frame->coroutine = frame->address - (uint64_t)pystack->python->offsets.gen_frame;
	return 0;
}

int pystack_frame(const struct pystack *pystack, pid_t tid, int interpreter, int depth,
		  struct pyobject_frame *frame)
{
	const struct pytask *pytask;

	if (tid < 0)
		return find_task_frame(pystack, -tid, depth, frame);
	pytask = pystack_frames_find_thread(pystack, tid, interpreter);
	if (!pytask || depth < 0 || (size_t)depth >= pytask->walk->count)
		return -1;
	*frame = (struct pyobject_frame){
		.address = pytask->walk->frames[depth].address,
		.thread = pytask->state.address,
		.is_newest = depth == 0,
	};
	return 0;
}

static void pystack_frames_prepare_codes(struct pystack *pystack, const struct pywalk *walk)
{
	pystack->addresses = array_grow(pystack->addresses, walk->count, &pystack->address_capacity,
					sizeof(*pystack->addresses));
	for (size_t i = 0; i < walk->count; i++)
		pystack->addresses[i] = walk->frames[i].code;
	pycode_prepare(pystack->codes, pystack->addresses, walk->count);
}

int pystack_walk_again(struct pystack *pystack, pid_t tid, int interpreter, struct memory *memory)
{
	struct pytask *pytask = pystack_frames_find_thread(pystack, tid, interpreter);

	if (!pytask || pytask_walk_again(pytask, memory, pystack->python) < 0)
		return -1;
	pystack_frames_prepare_codes(pystack, pytask->walk);
	return 0;
}

size_t pystack_frame_count(const struct pystack *pystack, pid_t tid, int interpreter,
			   size_t *dropped)
{
	struct pywalk walk = find_walk(pystack, tid, interpreter);

	*dropped = walk.dropped_count;
	return walk.count;
}

const struct code *pystack_code(const struct pystack *pystack, pid_t tid, int interpreter,
				int depth)
{
	struct pywalk walk = find_walk(pystack, tid, interpreter);
	const struct pycode *code = pycode_find(pystack->codes, walk.frames[depth].code);

	return code ? code->code : pycode_unknown(pystack->table);
}

int pystack_line(const struct pystack *pystack, pid_t tid, int interpreter, int depth)
{
	struct pywalk walk = find_walk(pystack, tid, interpreter);
	const struct pyframe *frame = &walk.frames[depth];
	const struct pycode *code = pycode_find(pystack->codes, frame->code);

	return code ? pycode_line(code, pystack->python, frame->position) : 0;
}

void pystack_use_captures(struct pystack *pystack, struct capture_set *captures)
{
	pystack->captures = captures;
}

/*
 * A ptrace-stop may end a system call with EINTR, which the program may not expect. So a thread
 * that is blocked in a system call is not stopped, except in a futex wait, which restarts by
 * itself.
 */
static bool pystack_native_may_be_held(const struct pytask *pytask)
{
	const struct task_state *seen = &pytask->seen;

	return seen->is_known && !pytask->is_gone && !pytask->is_stopped &&
	       (!seen->is_blocked || seen->syscall == SYS_futex);
}

static int capture_held(struct pystack *pystack, struct pytask *pytask, struct capture *capture)
{
	struct capture_set *captures = pystack->captures;
	struct error refused = ERROR_INIT;
	struct registers registers;
	int result = -1;

	if (!captures->may_hold || captures->held_ns > CAPTURE_HELD_NS ||
	    !pystack_native_may_be_held(pytask))
		return -1;
	capture_prepare(capture, CAPTURE_HELD_MAXIMUM);
	pytask_prepare_held(pytask, pystack->aside, pystack->python);
	if (freezer_begin(pystack->holds, pystack->pid, pytask->task.tid, &refused) < 0)
		return -1;
	if (freezer_registers(pystack->holds, &registers) == 0)
		result = pytask_capture_held(pytask, pystack->aside, pystack->python, &registers,
					     capture);
	if (result == 0 && captures->held_ns + freezer_elapsed(pystack->holds) < CAPTURE_MORE_NS)
		capture_rest(capture, pystack->aside);
	captures->held_ns += freezer_end(pystack->holds);
	return result;
}

static int capture_sleeping(struct pystack *pystack, struct pytask *pytask, struct capture *capture)
{
	return pytask_capture(pytask, pystack->memory, pystack->python, capture);
}

/* Tries to capture without a ptrace-stop first, unless unwinding needs the thread's registers. */
static int capture_one(struct pystack *pystack, struct pytask *pytask, struct capture *capture)
{
	bool is_held_first = pytask->native.wants_registers;

	if ((is_held_first ? capture_held : capture_sleeping)(pystack, pytask, capture) == 0)
		return 0;
	capture_clear(capture);
	return (is_held_first ? capture_sleeping : capture_held)(pystack, pytask, capture);
}

/* Threads whose native frames are still valid are not captured. */
void pystack_capture(struct pystack *pystack)
{
	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		struct capture *capture;

		bool is_wanted = !pytask->is_gone && !pystack_is_of_agent(pystack, pytask);
		pytask->native.is_current = is_wanted && pytask_has_native(pytask, pystack->memory);
		if (!is_wanted || pytask->native.is_current)
			continue;
		capture = capture_set_add(pystack->captures);
		if (capture_one(pystack, pytask, capture) < 0)
			capture_set_drop(pystack->captures);
	}
}

void pystack_name_captures(const struct pystack *pystack)
{
	size_t next = 0;

	for (size_t i = 0; i < pystack->task_count; i++) {
		const struct pytask *pytask = pystack->tasks[i];
		struct capture *capture;

		if (next == pystack->captures->count)
			return;
		capture = &pystack->captures->captures[next];
		if (capture->tid != pytask->task.tid ||
		    capture->interpreter != pytask->state.number)
			continue;
		/*
		 * The thread's name was read after its capture, and shows that the thread is the
		 * agent's.
		 */
		if (pytask->is_left_out) {
			capture_set_remove(pystack->captures, next);
			continue;
		}
		pytask_name_capture(pytask, capture);
		next++;
	}
}

bool pystack_take_native(struct pystack *pystack, const struct capture *capture,
			 const struct stack *python, const struct stack *merged)
{
	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		bool wants_registers =
			pytask->native.wants_registers || capture->end == NATIVE_REGISTERS;

		if (pytask->task.tid != capture->tid ||
		    pytask->state.number != capture->interpreter)
			continue;
		bool is_new = wants_registers != pytask->native.wants_registers;
		/*
		 * If the next capture is to have registers, that capture may give a better stack:
		 * this one is not kept.
		 */
		pytask->native.stack = is_new ? NULL : merged;
		pytask->native.python = python;
		pytask->native.switches = capture->switches;
		pytask->native.fingerprint = capture_fingerprint(capture);
		pytask->native.wants_registers = wants_registers;
		return !is_new;
	}
	return true;
}

void pystack_forget_native(struct pystack *pystack)
{
	for (size_t i = 0; i < pystack->task_count; i++)
		pystack->tasks[i]->native.stack = NULL;
}
