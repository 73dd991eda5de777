#include "backends/ptrace/pystack.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"

#include "backends/ptrace/arch.h"
#include "backends/ptrace/capture.h"
#include "backends/ptrace/cpython.h"
#include "backends/ptrace/holds.h"
#include "backends/ptrace/memory.h"
#include "backends/ptrace/pyasyncio.h"
#include "backends/ptrace/pycode.h"
#include "backends/ptrace/pygil.h"
#include "backends/ptrace/pyobject.h"
#include "backends/ptrace/pytask.h"
#include "backends/ptrace/pythread.h"
#include "backends/ptrace/pytstate.h"
#include "backends/ptrace/refusal.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

#define REFRESH_TRIES 4
#define HOLD_TRIES 10
#define NAME_TRIES 4 /* samples in which a thread without a name is asked */

struct pystack {
	pid_t pid;
	struct memory *memory;
	const struct cpython *python;
	struct stack_table *table;
	struct pycode_cache *codes;
	struct pytstate_list states;
	struct pytask **tasks; /* the main thread first */
	size_t task_count;
	size_t task_capacity;
	struct pygil *gils; /* one an interpreter */
	size_t gil_count;
	size_t gil_capacity;
	uint64_t *addresses; /* of code objects, for one sample */
	size_t address_capacity;
	struct holds *holds;
	struct capture_set *captures; /* NULL: native frames are not wanted */
	struct memory *aside; /* for threads that are held, one by one */
	struct pyasyncio *asyncio;
	int statm;
	int name_tries;
	bool has_no_names;  /* nobody wants them */
	bool is_namespaced; /* its tids are not ours */
	uint64_t epoch;
	uint64_t other_calls; /* of threads that have gone, and our own */
};

struct pystack *pystack_new(struct memory *memory, const struct cpython *python,
			    struct stack_table *table, struct holds *holds)
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
	free(pystack->gils);
	for (size_t i = 0; i < pystack->task_count; i++)
		pytask_free(pystack->tasks[i]);
	free(pystack->tasks);
	pytstate_list_clear(&pystack->states);
	pycode_cache_free(pystack->codes);
	memory_free(pystack->aside);
	pyasyncio_free(pystack->asyncio);
	free(pystack);
}

uint64_t pystack_interpreter(const struct pystack *pystack)
{
	return pystack->states.main_interpreter;
}

static uint64_t count_calls(const struct pystack *pystack)
{
	uint64_t calls = pystack->other_calls + memory_calls(pystack->memory) +
			 memory_calls(pystack->aside);

	for (size_t i = 0; i < pystack->task_count; i++)
		calls += pystack->tasks[i]->task.calls;
	return calls;
}

static bool is_same_state(const struct pytstate *a, const struct pytstate *b)
{
	return a->address == b->address && a->ident == b->ident &&
	       a->tid == b->tid && a->interpreter == b->interpreter;
}

static struct pytask *take_known(struct pytask **tasks, size_t count,
				 const struct pytstate *state)
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

static struct pytask *make_task(struct pystack *pystack,
				const struct pytstate *state)
{
	pid_t tid = state->tid;

	if (pystack->is_namespaced)
		tid = task_find(pystack->pid, state->tid);
	return pytask_new(state, pystack->pid, tid);
}

static bool is_main(const struct pystack *pystack, const struct pytask *pytask)
{
	return pytask->task.tid == pystack->pid && pytask->state.number == 0;
}

static int compare_tasks(const void *a, const void *b)
{
	const struct pytask *left = *(struct pytask *const *)a;
	const struct pytask *right = *(struct pytask *const *)b;

	if (left->state.number != right->state.number)
		return left->state.number < right->state.number ? -1 : 1;
	/* The main thread's tid is the pid, most often the lowest. */
	bool left_is_main = left->task.tid == left->task.pid;
	bool right_is_main = right->task.tid == right->task.pid;
	if (left_is_main != right_is_main)
		return left_is_main ? -1 : 1;
	return left->task.tid < right->task.tid
		       ? -1
		       : left->task.tid > right->task.tid;
}

/* Makes the kept threads those of the list. True when some are new. */
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
		ARRAY_GROW(pystack->tasks, pystack->task_count,
			   pystack->task_capacity);
		pystack->tasks[pystack->task_count++] = pytask;
	}
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			drop_task(pystack, old[i]);
	free(old);
	qsort(pystack->tasks, pystack->task_count, sizeof(*pystack->tasks),
	      compare_tasks);
	return has_new;
}

static bool has_changed(const struct pystack *pystack)
{
	if (pystack->states.count != pystack->task_count)
		return true;
	for (size_t i = 0; i < pystack->task_count; i++) {
		bool is_known = false;
		for (size_t j = 0; j < pystack->task_count && !is_known; j++)
			is_known = is_same_state(&pystack->states.items[i],
						 &pystack->tasks[j]->state);
		if (!is_known)
			return true;
	}
	return false;
}

/* A stop is everybody's; the main thread answers for all. */
static void look_at_tasks(struct pystack *pystack)
{
	bool is_stopped =
		pystack->task_count > 0 && pytask_is_stopped(pystack->tasks[0]);

	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		pytask_look(pytask);
		pytask->is_stopped = is_stopped && pytask_is_stopped(pytask);
	}
}

/*
 * Takes a snapshot after a look at the known threads. A thread that shows up
 * in it had no look before, so the snapshot is taken again.
 */
static int take_snapshot(struct pystack *pystack, struct error *error)
{
	int result = -1;

	for (int i = 0; i < REFRESH_TRIES; i++) {
		memory_begin(pystack->memory, true);
		result = pytstate_list_read(&pystack->states, pystack->memory,
					    pystack->python, error);
		if (result < 0)
			continue;
		if (!has_changed(pystack))
			return 0;
		pystack->name_tries = NAME_TRIES;
		if (!merge_tasks(pystack))
			return 0;
		look_at_tasks(pystack);
	}
	return result;
}

static const struct pygil *find_gil(const struct pystack *pystack,
				    uint64_t interpreter)
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
		if (find_gil(pystack, interpreter))
			continue;
		ARRAY_GROW(pystack->gils, pystack->gil_count,
			   pystack->gil_capacity);
		pygil_read(&pystack->gils[pystack->gil_count++],
			   pystack->memory, pystack->python, interpreter);
	}
}

/* frozen: address of the GIL whose holder is held, 0 for none. */
static void settle_tasks(struct pystack *pystack, uint64_t frozen)
{
	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		const struct pygil *gil =
			find_gil(pystack, pytask->state.interpreter);
		if (!pytask->is_gone)
			pytask_settle(pytask, pystack->memory, pystack->python,
				      frozen && gil && gil->address == frozen);
	}
}

static int read_once(struct pystack *pystack, uint64_t frozen,
		     struct error *error)
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

static bool is_still_held(const struct pystack *pystack,
			  const struct pygil *gil)
{
	struct pygil now;

	pygil_read(&now, pystack->memory, pystack->python, gil->interpreter);
	return now.holder == gil->holder && now.address == gil->address;
}

/*
 * Reads while the GIL's holder stands. Whoever is named as the holder may be
 * just giving the GIL away, so that is checked before and after.
 * True: nothing ran between.
 */
static bool read_held(struct pystack *pystack, const struct pygil *gil,
		      struct process_sample *sample)
{
	pid_t tid = holder_tid(pystack, gil);
	struct error refused = ERROR_INIT;
	bool is_exact = false;

	if (!tid ||
	    holds_begin(pystack->holds, pystack->pid, tid, &refused) < 0)
		return false;
	if (is_still_held(pystack, gil) &&
	    read_once(pystack, gil->address, &refused) == 0)
		is_exact = is_still_held(pystack, gil);
	sample->held_ns += holds_end(pystack->holds);
	return is_exact;
}

/* Reads with the holder of the main interpreter's GIL held if there is one. */
static int read_exactly(struct pystack *pystack, struct process_sample *sample,
			struct error *error)
{
	for (int i = 0; i < HOLD_TRIES; i++) {
		struct pygil gil;
		look_at_tasks(pystack);
		pygil_read(&gil, pystack->memory, pystack->python,
			   pystack->states.main_interpreter);
		if (gil.holder && read_held(pystack, &gil, sample))
			return 0;
	}
	look_at_tasks(pystack);
	return read_once(pystack, 0, error);
}

static void take_name(uint64_t ident, const char *name, void *data)
{
	struct pystack *pystack = data;

	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		if (pytask->state.ident != ident)
			continue;
		free(pytask->name);
		pytask->name = xstrdup(name);
	}
}

static bool has_nameless(const struct pystack *pystack)
{
	for (size_t i = 0; i < pystack->task_count; i++)
		if (!pystack->tasks[i]->name)
			return true;
	return false;
}

void pystack_use_names(struct pystack *pystack, bool has_names)
{
	pystack->has_no_names = !has_names;
}

/* A thread enters threading's table a little after its state is there. */
static void read_names(struct pystack *pystack)
{
	struct pyreader reader;

	if (pystack->has_no_names || pystack->name_tries == 0 ||
	    !has_nameless(pystack))
		return;
	pystack->name_tries--;
	for (size_t i = 0; i < pystack->gil_count; i++) {
		pyreader_init(&reader, pystack->memory, pystack->python);
		pythread_names(&reader, pystack->gils[i].interpreter, take_name,
			       pystack);
	}
}

void pystack_use_captures(struct pystack *pystack, struct capture_set *captures)
{
	pystack->captures = captures;
}

/*
 * A system call that a stop would end with EINTR in a program that may not
 * expect it is left alone: a wait for a futex goes on by itself.
 */
static bool may_be_held(const struct pytask *pytask)
{
	const struct task_state *seen = &pytask->seen;

	return seen->is_known && !pytask->is_gone && !pytask->is_stopped &&
	       (!seen->is_blocked || seen->syscall == SYS_futex);
}

static int capture_held(struct pystack *pystack, struct pytask *pytask,
			struct capture *capture)
{
	struct capture_set *captures = pystack->captures;
	struct error refused = ERROR_INIT;
	struct registers registers;
	int result = -1;

	if (!captures->may_hold || captures->held_ns > CAPTURE_HELD_NS ||
	    !may_be_held(pytask))
		return -1;
	capture_prepare(capture, CAPTURE_HELD_BYTES);
	if (holds_begin(pystack->holds, pystack->pid, pytask->task.tid,
			&refused) < 0)
		return -1;
	if (holds_registers(pystack->holds, &registers) == 0)
		result = pytask_capture_held(pytask, pystack->aside,
					     pystack->python, &registers,
					     capture);
	captures->held_ns += holds_end(pystack->holds);
	return result;
}

/* Threads whose native frames are known already cost nothing. */
static void capture_threads(struct pystack *pystack)
{
	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		struct capture *capture;

		pytask->native.is_current =
			pytask_has_native(pytask, pystack->memory);
		if (pytask->is_gone || pytask->native.is_current)
			continue;
		capture = capture_set_add(pystack->captures);
		if (!pytask->native.wants_registers &&
		    pytask_capture(pytask, pystack->memory, pystack->python,
				   capture) == 0)
			continue;
		capture_clear(capture);
		if (capture_held(pystack, pytask, capture) < 0)
			capture_set_drop(pystack->captures);
	}
}

static void name_captures(const struct pystack *pystack)
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
		pytask_name_capture(pytask, capture);
		next++;
	}
}

bool pystack_take_native(struct pystack *pystack, const struct capture *capture,
			 const struct stack *python, const struct stack *merged)
{
	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		bool wants_registers = pytask->native.wants_registers ||
				       capture->end == NATIVE_REGISTERS;

		if (pytask->task.tid != capture->tid ||
		    pytask->state.number != capture->interpreter)
			continue;
		bool is_new = wants_registers != pytask->native.wants_registers;
		pytask->native.stack = merged;
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

static void prepare_codes(struct pystack *pystack)
{
	size_t count = 0;

	for (size_t i = 0; i < pystack->task_count; i++) {
		const struct pywalk *walk = pystack->tasks[i]->walk;
		pystack->addresses =
			array_grow(pystack->addresses, count + walk->count,
				   &pystack->address_capacity,
				   sizeof(*pystack->addresses));
		for (size_t j = 0; j < walk->count; j++)
			pystack->addresses[count++] = walk->frames[j].code;
	}
	pycode_prepare(pystack->codes, pystack->addresses, count);
}

/* Without /proc/PID/task/TID/syscall only the letter tells. */
static enum thread_state state_by_letter(struct pytask *pytask)
{
	switch (task_letter(&pytask->task)) {
	case 'R':
		return THREAD_RUNNING;
	case 'S':
	case 'D':
		return THREAD_BLOCKED;
	case 'T':
	case 't':
		return THREAD_STOPPED;
	}
	return THREAD_UNKNOWN;
}

static enum thread_state judge_state(const struct pystack *pystack,
				     struct pytask *pytask,
				     const struct pygil *gil)
{
	const struct task_state *seen = &pytask->seen;

	if (!seen->is_known)
		return state_by_letter(pytask);
	if (pytask->is_stopped || (seen->is_blocked && seen->syscall < 0 &&
				   pytask_is_stopped(pytask)))
		return THREAD_STOPPED;
	if (seen->is_blocked && seen->syscall == SYS_futex && gil &&
	    pygil_contains(gil, pystack->python, seen->argument))
		return THREAD_GIL;
	if (gil && gil->is_collecting && gil->holder == pytask->state.address)
		return THREAD_GC;
	return seen->is_blocked ? THREAD_BLOCKED : THREAD_RUNNING;
}

/* Python's name, else the kernel's, which is asked for once. */
static void fill_name(const struct pystack *pystack, struct pytask *pytask,
		      struct thread_sample *thread)
{
	if (pystack->has_no_names)
		return;
	if (!pytask->name && !pytask->comm[0])
		task_name(&pytask->task, pytask->comm, sizeof(pytask->comm));
	if (pytask->name || pytask->comm[0])
		thread->name =
			xstrdup(pytask->name ? pytask->name : pytask->comm);
}

static void fill_thread(struct pystack *pystack, struct pytask *pytask,
			struct process_sample *sample)
{
	struct thread_sample *thread = process_sample_add(sample);
	const struct pygil *gil = find_gil(pystack, pytask->state.interpreter);

	thread->tid = pytask->task.tid;
	fill_name(pystack, pytask, thread);
	thread->is_main = is_main(pystack, pytask);
	thread->is_gil_known = gil && gil->is_known;
	thread->has_gil = gil && gil->holder == pytask->state.address;
	thread->state = judge_state(pystack, pytask, gil);
	thread->interpreter = pytask->state.number;
	thread->syscall = pytask->seen.syscall;
	thread->argument = pytask->seen.argument;
	thread->cpu_ns = pytask->seen.cpu_ns;
	thread->switches = pytask->seen.switches;
	snprintf(thread->wchan, sizeof(thread->wchan), "%s",
		 pytask_wchan(pytask));
	thread->stack = pytask_resolve(pytask, pystack->python, pystack->codes,
				       pystack->table);
	thread->exactness = pytask->exactness;
	if (pystack->captures && pytask->native.is_current &&
	    pytask->native.python == thread->stack)
		thread->native = pytask->native.stack;
	if (pytask->is_broken)
		thread->error = xasprintf("the chain of frames breaks off "
					  "after %zu frames",
					  pytask->walk->count);
}

static const struct pytask *find_state(const struct pystack *pystack,
				       uint64_t state)
{
	for (size_t i = 0; i < pystack->task_count; i++)
		if (pystack->tasks[i]->state.address == state &&
		    !pystack->tasks[i]->is_gone)
			return pystack->tasks[i];
	return NULL;
}

/* A task that runs is where its thread is, below the coroutine's caller. */
static struct pywalk walk_of(const struct pystack *pystack,
			     const struct pyasyncio_task *task,
			     const struct pytask *pytask)
{
	uint64_t frame = pyasyncio_frame(pystack->asyncio, task);

	for (size_t i = 0; task->is_running && pytask && i < pytask->walk->count;
	     i++)
		if (pytask->walk->frames[i].address == frame)
			return (struct pywalk){
				.frames = pytask->walk->frames,
				.count = i + 1,
			};
	return task->walk;
}

/* Only its thread moves a task, so what rests with it is exact. */
static void fill_task(struct pystack *pystack,
		      const struct pyasyncio_task *task,
		      struct process_sample *sample)
{
	const struct pytask *pytask = find_state(pystack, task->thread);
	struct pywalk walk = walk_of(pystack, task, pytask);
	struct thread_sample *thread = process_sample_add(sample);
	bool is_known;

	thread->tid = -task->number;
	thread->loop_tid = pytask ? pytask->task.tid : 0;
	thread->name = xasprintf("task %s", task->name ? task->name : "?");
	thread->state = THREAD_BLOCKED;
	if (task->is_running)
		thread->state = pytask && pytask->seen.is_blocked
					? THREAD_BLOCKED
					: THREAD_RUNNING;
	thread->exactness = task->exactness;
	if (pytask && (task->is_running || task->exactness == CONSISTENT))
		thread->exactness = pytask->exactness;
	thread->stack = pycode_stack(pystack->codes, pystack->python, &walk,
				     pystack->table, &is_known);
	if (!is_known)
		thread->exactness = TORN;
	if (task->is_broken && !task->is_running)
		thread->error = xasprintf("the chain of what it awaits breaks "
					  "off after %zu coroutines",
					  walk.count);
}

static void fill_tasks(struct pystack *pystack, struct process_sample *sample)
{
	const struct pyasyncio_task *task;
	size_t place = 0;

	if (pystack->has_no_names)
		return;
	pyasyncio_read(pystack->asyncio, &pystack->states);
	while ((task = pyasyncio_next(pystack->asyncio, &place)) != NULL &&
	       sample->thread_count < SAMPLE_THREADS_MAXIMUM)
		fill_task(pystack, task, sample);
}

static void fill_memory(struct pystack *pystack, struct process_sample *sample)
{
	char text[128];
	uint64_t pages;

	if (pystack->statm < 0) {
		snprintf(text, sizeof(text), "/proc/%d/statm",
			 (int)pystack->pid);
		pystack->statm = open(text, O_RDONLY | O_CLOEXEC);
		pystack->other_calls++;
	}
	pystack->other_calls++;
	ssize_t got = pread(pystack->statm, text, sizeof(text) - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	if (sscanf(text, "%*u %" SCNu64, &pages) == 1)
		sample->memory = pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void fill_sample(struct pystack *pystack, struct process_sample *sample)
{
	if (pystack->captures) {
		capture_threads(pystack);
		sample->held_ns += pystack->captures->held_ns;
	}
	prepare_codes(pystack);
	read_names(pystack);
	for (size_t i = 0; i < pystack->task_count; i++)
		if (!pystack->tasks[i]->is_gone)
			fill_thread(pystack, pystack->tasks[i], sample);
	if (pystack->captures)
		name_captures(pystack);
	fill_tasks(pystack, sample);
	fill_memory(pystack, sample);
}

int pystack_sample(struct pystack *pystack, bool exact,
		   struct process_sample *sample, struct error *error)
{
	struct timespec now;
	uint64_t calls = count_calls(pystack);

	process_sample_clear(sample);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->pid = pystack->pid;
	sample->epoch = ++pystack->epoch;
	sample->time = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
	/* What was never read would be read while somebody waits. */
	if (!exact || pystack->task_count == 0) {
		look_at_tasks(pystack);
		if (read_once(pystack, 0, error) < 0)
			return -1;
	}
	if (exact && read_exactly(pystack, sample, error) < 0)
		return -1;
	fill_sample(pystack, sample);
	sample->syscalls = count_calls(pystack) - calls;
	return 0;
}

static int find_task_frame(const struct pystack *pystack, int number, int depth,
			   struct pyobject_frame *frame)
{
	const struct pyasyncio_task *task =
		pyasyncio_find(pystack->asyncio, number);
	struct pywalk walk;

	if (!task)
		return -1;
	walk = walk_of(pystack, task, find_state(pystack, task->thread));
	if (depth < 0 || (size_t)depth >= walk.count)
		return -1;
	*frame = (struct pyobject_frame){
		.address = walk.frames[depth].address,
		.thread = task->is_running ? task->thread : 0,
	};
	if (!task->is_running)
		frame->coroutine =
			frame->address -
			(uint64_t)pystack->python->offsets.gen_frame;
	return 0;
}

int pystack_frame(const struct pystack *pystack, pid_t tid, int interpreter,
		  int depth, struct pyobject_frame *frame)
{
	if (tid < 0)
		return find_task_frame(pystack, -tid, depth, frame);
	for (size_t i = 0; i < pystack->task_count; i++) {
		const struct pytask *pytask = pystack->tasks[i];
		if (pytask->task.tid != tid ||
		    pytask->state.number != interpreter || depth < 0 ||
		    (size_t)depth >= pytask->walk->count)
			continue;
		*frame = (struct pyobject_frame){
			.address = pytask->walk->frames[depth].address,
			.thread = pytask->state.address,
			.is_newest = depth == 0,
		};
		return 0;
	}
	return -1;
}
