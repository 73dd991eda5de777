/*
 * tracee-events: handles the wait statuses of traced threads. tracee-private.h describes the
 * states, and the meaning of an event-stop in each state.
 */
#include "backends/tracer/tracee-private.h"

#include <errno.h>
#include <sys/wait.h>

#include "banned.h"

#include "backends/tracer/ptrace-ops.h"
#include "backends/tracer/waits.h"
#include "base/loop.h"

/*
 * Seconds; a thread that is trapped twice within this time is likely to be trapped again at once.
 */
#define FREQUENT_SECONDS 0.01

static bool tracee_events_is_there(const struct tracee *tracee, const struct thread *thread)
{
	for (size_t i = 0; i < tracee->thread_count; i++)
		if (tracee->threads[i] == thread)
			return true;
	return false;
}

/*
 * Callbacks. A callback may do anything to the thread. If it waits for other events, the thread may
 * have exited when it returns.
 */

static void tell_ended(struct tracee *tracee, pid_t tid)
{
	if (!tracee_is_detaching(tracee) && tracee->calls.ended)
		tracee->calls.ended(tracee, tid, tracee->calls.data);
}

static void tell_stopped(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;

	thread->is_stop_due = tracee_is_detaching(tracee);
	tracee->counts.interrupts++;
	if (!tracee_is_detaching(tracee) && tracee->calls.stopped)
		tracee->calls.stopped(tracee, thread->tid, tracee->calls.data);
}

static enum tracee_next ask_born(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	enum tracee_next next;

	if (tracee_is_detaching(tracee))
		return TRACEE_STAY;
	if (!tracee->calls.born)
		return TRACEE_RESUME;
	thread->is_born = true;
	next = tracee->calls.born(tracee, thread->tid, tracee->calls.data);
	thread->is_born = false;
	return next;
}

static enum tracee_next ask_execed(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;

	if (tracee_is_detaching(tracee))
		return TRACEE_STAY;
	if (!tracee->calls.execed)
		return TRACEE_RESUME;
	return tracee->calls.execed(tracee, tracee->calls.data);
}

static enum tracee_next ask_trapped(struct thread *thread, int slot)
{
	struct tracee *tracee = thread->tracee;

	if (tracee_is_detaching(tracee) || !tracee->calls.trapped)
		return TRACEE_RESUME;
	return tracee->calls.trapped(tracee, thread->tid, slot, tracee->calls.data);
}

/*
 * Ends
 */

static bool tracee_events_is_gone(const struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->thread_count; i++)
		if (tracee->threads[i]->state != TRACEE_EXITED)
			return false;
	return true;
}

/*
 * Handles the exit of a thread. The kernel reports the exit of the first thread of a process last,
 * so all other threads have exited, too.
 */
static void tracee_events_take_end(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	bool is_child = thread->is_child;
	pid_t tid = thread->tid;

	thread_remove(thread);
	if (is_child)
		return;
	tell_ended(tracee, tid);
	while (tid == tracee->pid && tracee->thread_count > 0) {
		pid_t other = tracee->threads[0]->tid;
		thread_remove(tracee->threads[0]);
		tell_ended(tracee, other);
	}
	if (tracee_events_is_gone(tracee) && !tracee_is_detaching(tracee) && tracee->calls.gone)
		tracee->calls.gone(tracee, tracee->calls.data);
}

/*
 * New threads and children
 */

/*
 * Adds the new thread or child. The event of clone(2) is the same for a new process as for a new
 * thread.
 */
void thread_take_new(struct thread *parent, int event)
{
	struct tracee *tracee = parent->tracee;
	struct thread *thread;
	unsigned long message;
	pid_t tid;
	bool is_child;

	if (event != PTRACE_EVENT_CLONE && event != PTRACE_EVENT_FORK &&
	    event != PTRACE_EVENT_VFORK)
		return;
	if (ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &message) < 0)
		return;
	tid = (pid_t)message;
	if (waits_find(tracee->waits, tid, thread_changed))
		return;
	is_child = event != PTRACE_EVENT_CLONE || !thread_is_of(tracee->pid, tid);
	thread = thread_add(tracee, tid, is_child);
	thread->is_stop_due = tracee_is_detaching(tracee);
	thread->is_sigtrap_ignored = is_child && tracee->disposition == DISPOSITION_IGNORED;
	tracee_pass(tracee, is_child ? "forked" : "cloned");
}

/* Handles an exec, after which no other thread and no watch is left. */
static void take_exec(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	size_t i = 0;

	while (i < tracee->thread_count) {
		struct thread *other = tracee->threads[i];
		pid_t tid = other->tid;
		if (other == thread) {
			i++;
			continue;
		}
		thread_remove(other);
		tell_ended(tracee, tid);
	}
	debug_registers_clear(&thread->slots);
	tracee->places.call = 0;
	thread->is_exec_due = true;
	thread->is_stop_due = true;
	thread->state = TRACEE_RUNNING;
	thread_go(thread, 0);
}

/*
 * Stops
 */

static void decide(struct thread *thread, enum tracee_next next)
{
	struct tracee *tracee = thread->tracee;

	if (next == TRACEE_STAY || thread->state != TRACEE_STOPPED)
		thread->is_stop_due = tracee_is_detaching(tracee);
	else if (thread->is_stop_due)
		tell_stopped(thread);
	else
		thread_release(thread);
}

/*
 * Handles the first stop of a child. Afterwards the child may belong to another tracee, or may have
 * been detached and freed.
 */
static void take_child(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	pid_t tid = thread->tid;

	thread->state = TRACEE_STOPPED;
	thread->since = loop_now();
	/*
	 * For a child whose remote call to put SIGTRAP back was late, this function is called
	 * twice.
	 */
	if (!thread->was_reported && !tracee_is_detaching(tracee) && tracee->calls.forked) {
		thread->was_reported = true;
		tracee->calls.forked(tracee, tid, tracee->calls.data);
	}
	if (waits_find(tracee->waits, tid, thread_changed) != thread)
		return;
	if (!thread->is_child) {
		decide(thread, TRACEE_RESUME);
		return;
	}
	thread_put_back(thread);
	if (thread->state == TRACEE_STOPPED)
		thread_leave(thread);
}

static void take_first_stop(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	enum tracee_next next;

	if (thread->is_exec_due) {
		thread_put_back_execed(thread);
		if (thread->state != TRACEE_STOPPED)
			return;
		thread->is_exec_due = false;
		thread->is_stop_due = false;
		next = ask_execed(thread);
	} else {
		next = ask_born(thread);
	}
	if (tracee_events_is_there(tracee, thread))
		decide(thread, next);
}

static void tracee_events_take_trap(struct thread *thread, int slot);

/*
 * Handles a trap that the kernel forced (DEBUG_REGISTERS_FORCED). The thread has executed no
 * instruction since.
 */
static void take_forced(struct thread *thread)
{
	int slot = thread->forced;

	thread_ignore_again(thread);
	if (thread->state != TRACEE_STOPPED)
		return;
	if (slot >= 0)
		tracee_events_take_trap(thread, slot);
	else if (thread->is_stop_due)
		tell_stopped(thread);
	else
		thread_release(thread);
}

static void tracee_events_take_stop(struct thread *thread, int status)
{
	enum tracee_state before = thread->state;

	thread_note_stop(thread, status);
	thread->is_in_group_stop = WSTOPSIG(status) != SIGTRAP;
	if (thread->is_child) {
		take_child(thread);
		return;
	}
	thread->state = TRACEE_STOPPED;
	if (thread->own_trap) {
		thread_send_own_trap(thread);
		return;
	}
	if (thread->forced != FORCED_NOT && before == TRACEE_RUNNING) {
		take_forced(thread);
		return;
	}
	if (before == TRACEE_INTERRUPTED)
		return;
	thread->since = loop_now();
	if (before == TRACEE_NEW || thread->is_exec_due)
		take_first_stop(thread);
	else if (thread->is_stop_due)
		tell_stopped(thread);
	else
		thread_release(thread);
}

static void tracee_events_take_trap(struct thread *thread, int slot)
{
	struct tracee *tracee = thread->tracee;
	double before = thread->trapped;
	enum tracee_next next;

	tracee->counts.traps++;
	thread->state = TRACEE_TRAPPED;
	thread->since = loop_now();
	thread->trapped = thread->since;
	tracee_pass(tracee, "trapped");
	next = ask_trapped(thread, slot);
	if (!tracee_events_is_there(tracee, thread) || thread->state != TRACEE_TRAPPED)
		return;
	if (next == TRACEE_STAY) {
		thread->is_stop_due = false;
		thread->state = TRACEE_INTERRUPTED;
	}
	thread_go(thread, 0);
	if (thread->state == TRACEE_RUNNING && thread->trapped - before < FREQUENT_SECONDS)
		waits_expect(tracee->waits, thread->tid);
	tracee_pass(tracee, next == TRACEE_STAY ? "parked" : "resumed");
}

static void take_signal(struct thread *thread, int number)
{
	siginfo_t info;
	int slot;

	if (number == SYSCALL_STOP) {
		thread_go_from_call(thread);
		return;
	}
	if (number != SIGTRAP || ptrace(PTRACE_GETSIGINFO, thread->tid, 0, &info) < 0) {
		/*
		 * Noted because a signal that is ignored wakes a thread from a system call only if
		 * it is traced.
		 */
		thread_note_stop(thread, number << 8 | 0x7f);
		thread_go(thread, number);
		return;
	}
	switch (debug_registers_trap(&thread->slots, thread->tid, &info, &slot)) {
	case DEBUG_REGISTERS_NOT_OURS:
		thread_take_own_trap(thread, &info);
		break;
	case DEBUG_REGISTERS_STALE:
		thread_go(thread, 0);
		break;
	case DEBUG_REGISTERS_FIRED:
		tracee_events_take_trap(thread, slot);
		break;
	case DEBUG_REGISTERS_FORCED:
		thread->forced = slot;
		thread_interrupt(thread);
		thread_go(thread, 0);
		break;
	}
}

static void take_status(struct thread *thread, int status)
{
	int event = status >> 16;

	if (!WIFSTOPPED(status)) {
		tracee_events_take_end(thread);
	} else if (event == PTRACE_EVENT_STOP) {
		tracee_events_take_stop(thread, status);
	} else if (event == PTRACE_EVENT_EXEC) {
		take_exec(thread);
	} else if (event) {
		thread_take_new(thread, event);
		thread_go(thread, 0);
	} else {
		take_signal(thread, WSTOPSIG(status));
	}
}

void thread_take(struct thread *thread, int status)
{
	thread_note_signal(thread, status);
	if (thread->remote) {
		if (!remote_syscall_changed(thread->remote, status) || !thread_finish_call(thread))
			return;
	}
	take_status(thread, status);
}

void thread_changed(pid_t tid, int status, void *data)
{
	struct thread *thread = data;
	struct tracee *tracee = thread->tracee;

	(void)tid;
	if (status == WAITS_END) {
		thread_end(thread);
		return;
	}
	tracee->depth++;
	thread_take(thread, status);
	tracee_step_out(tracee);
}
