#include "backends/cpython/pystack-private.h"

#include <sys/syscall.h>

#include "banned.h"

#include "backends/cpython/pytask.h"
#include "backends/linux/memory.h"
#include "backends/native/capture.h"
#include "backends/native/registers.h"
#include "backends/tracer/freezer.h"
#include "base/error.h"

void pystack_use_captures(struct pystack *pystack, struct capture_set *captures)
{
	pystack->captures = captures;
}

/*
 * A ptrace-stop may end a system call with EINTR, which the program may not expect: a thread
 * blocked in one is not stopped. A futex wait restarts by itself.
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
		 * The thread's name was read after its capture, and shows that it is the agent's.
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
		/* A stack that registers may improve is not kept. */
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
