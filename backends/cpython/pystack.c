#include "backends/cpython/pystack-private.h"

#include <time.h>
#include <unistd.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyasyncio.h"
#include "backends/cpython/pycode.h"
#include "backends/cpython/pygil.h"
#include "backends/cpython/pytask.h"
#include "backends/cpython/pytstate.h"
#include "backends/linux/memory.h"
#include "backends/tracer/freezer.h"
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

/* Updates the kept threads to those of the list; true if some are new. */
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

/* A stop signal stops all threads: the others are asked only if the main thread is stopped. */
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
 * thread, whose kernel state was not read before, both are repeated.
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
