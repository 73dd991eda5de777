/*
 * tracee-disposition: the disposition of SIGTRAP in a process with watches.
 *
 * MARK in the mask of the action tells a SIG_IGN that a node has set from one that the program has
 * set; the kernel does not use the mask of an ignored signal. So the node knows whether the program
 * has set another action since, and whether a node that was killed has left SIG_IGN behind.
 */
#include "backends/tracer/tracee-private.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"

#include "backends/tracer/attachable.h"
#include "backends/tracer/waits.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/loop.h"

/* The mask lacks the bits of SIGKILL and SIGSTOP (8, 18), which the kernel clears. */
#define MARK UINT64_C(0x70726f6265700069)
#define DEFAULT UINT64_C(0)
#define IGNORE UINT64_C(1)
/*
 * Time-outs of a remote call and of a stop: on a busy machine, a running thread may wait long for a
 * processor.
 */
#define CALL_NS 1000000000u
#define SETTLE_NS 500000000u
/*
 * After a thread has not stopped in time, no thread is awaited for this time, so that the loop can
 * do other work.
 */
#define HOPELESS_SECONDS 0.1

/*
 * True if a node has set the action. A forced debug exception turns IGNORE into DEFAULT (the
 * kernel's signal.c).
 */
static bool tracee_disposition_is_ours(const struct arch_action *action)
{
	return (action->handler == IGNORE || action->handler == DEFAULT) && action->mask == MARK;
}

/*
 * One call
 */

/*
 * Searches for the code of a remote call. Searches again while a place is missing, because a
 * program that has just begun may not have loaded its C library.
 */
static int find_places(struct tracee *tracee, pid_t tid, struct error *error)
{
	if (tracee->places.call && tracee->places.come_back)
		return 0;
	return remote_syscall_find(tid, &tracee->places, error);
}

static int wait_for_call(struct thread *thread, struct error *error)
{
	struct tracee *tracee = thread->tracee;
	int status;

	do {
		tracee_pass(tracee, "calling");
		if (tracee->calls.is_late ||
		    !waits_one(tracee->waits, thread->tid, CALL_NS, &status)) {
			thread->state = TRACEE_IN_CALL;
			tracee->hopeless = loop_now() + HOPELESS_SECONDS;
			return error_set(
				error,
				"thread %d has not returned from a system call made by probetui",
				(int)thread->tid);
		}
		thread_note_signal(thread, status);
	} while (!remote_syscall_changed(thread->remote, status));
	if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP)
		thread->is_in_group_stop = WSTOPSIG(status) != SIGTRAP;
	else
		waits_return(tracee->waits, thread->tid, status);
	return 0;
}

/* Calls rt_sigaction(2) in the stopped thread. *old is set to the action before. */
static int call(struct thread *thread, enum call_aim aim, const struct arch_action *action,
		struct arch_action *old, struct error *error)
{
	struct tracee *tracee = thread->tracee;
	int result;

	thread->aim = aim;
	if (find_places(tracee, thread->tid, error) < 0)
		return -1;
	thread->remote = xcalloc(1, sizeof(*thread->remote));
	tracee->counts.remote_calls++;
	result = remote_syscall_begin(thread->remote, thread->tid, &tracee->places, action, error);
	if (result == 0) {
		if (wait_for_call(thread, error) < 0)
			return -1;
		result = remote_syscall_result(thread->remote, old, error);
	}
	free(thread->remote);
	thread->remote = NULL;
	return result;
}

static bool is_handler(const struct arch_action *action)
{
	return action->handler != DEFAULT && action->handler != IGNORE;
}

static void tracee_disposition_give_back(struct thread *thread, const struct arch_action *action)
{
	struct arch_action old;

	call(thread, CALL_GIVES_BACK, action, &old, NULL);
}

/*
 * Handles a call that has succeeded, in time or late. If the program has set another action since,
 * or has a handler, its action is set again.
 */
static void tracee_disposition_take_result(struct thread *thread, const struct arch_action *old)
{
	struct tracee *tracee = thread->tracee;

	switch (thread->aim) {
	case CALL_IGNORES:
		if (is_handler(old) && !tracee_disposition_is_ours(old)) {
			tracee_disposition_give_back(thread, old);
			return;
		}
		tracee->old =
			tracee_disposition_is_ours(old) ? (struct arch_action){ DEFAULT } : *old;
		tracee->disposition = DISPOSITION_IGNORED;
		return;
	case CALL_IGNORES_AGAIN:
		if (!is_handler(old))
			return;
		tracee_disposition_give_back(thread, old);
		break;
	case CALL_PUTS_BACK:
		if (!tracee_disposition_is_ours(old))
			tracee_disposition_give_back(thread, old);
		break;
	case CALL_GIVES_BACK:
		break;
	}
	if (thread->is_child)
		thread->is_sigtrap_ignored = false;
	else
		tracee->disposition = DISPOSITION_ITS_OWN;
}

bool thread_finish_call(struct thread *thread)
{
	struct arch_action old;
	int result = remote_syscall_result(thread->remote, &old, NULL);

	free(thread->remote);
	thread->remote = NULL;
	thread->state = TRACEE_RUNNING;
	if (result == 0)
		tracee_disposition_take_result(thread, &old);
	return thread->state != TRACEE_IN_CALL;
}

/*
 * Ignoring
 */

static bool is_hopeless(const struct tracee *tracee)
{
	return loop_now() < tracee->hopeless;
}

static bool tracee_disposition_settle(struct thread *thread)
{
	if (thread_settle(thread, SETTLE_NS))
		return true;
	thread->tracee->hopeless = loop_now() + HOPELESS_SECONDS;
	return false;
}

/*
 * Finds a thread that has stopped or is stopping, so that no other thread must be stopped; NULL:
 * none.
 */
static struct thread *find_standing(struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->thread_count; i++)
		if (tracee->threads[i]->state == TRACEE_STOPPED)
			return tracee->threads[i];
	for (size_t i = 0; i < tracee->thread_count; i++)
		if (tracee->threads[i]->state == TRACEE_INTERRUPTED && !is_hopeless(tracee) &&
		    tracee_disposition_settle(tracee->threads[i]))
			return tracee->threads[i];
	return NULL;
}

static int tracee_disposition_replace(struct thread *thread, struct error *error)
{
	struct tracee *tracee = thread->tracee;
	const struct arch_action ours = { IGNORE, 0, 0, MARK };
	struct arch_action old;

	if (call(thread, CALL_IGNORES, &ours, &old, error) < 0)
		return -1;
	tracee_disposition_take_result(thread, &old);
	if (tracee->disposition != DISPOSITION_IGNORED)
		return error_set(error, "pid %d handles SIGTRAP, which hardware breakpoints need",
				 (int)tracee->pid);
	tracee_pass(tracee, "ignored");
	return 0;
}

void thread_ignore_again(struct thread *thread)
{
	const struct arch_action ours = { IGNORE, 0, 0, MARK };
	struct arch_action old;

	thread->forced = FORCED_NOT;
	if (thread->tracee->disposition == DISPOSITION_IGNORED &&
	    call(thread, CALL_IGNORES_AGAIN, &ours, &old, NULL) == 0)
		tracee_disposition_take_result(thread, &old);
}

/* Resumes a thread that was stopped only for the remote call. */
static void unsettle(struct thread *thread)
{
	if (thread->state != TRACEE_STOPPED)
		return;
	if (!thread->is_stop_due) {
		thread_release(thread);
		return;
	}
	/* tracee_interrupt() has requested this stop, too: stopped() must still be called. */
	thread->state = TRACEE_RUNNING;
	waits_return(thread->tracee->waits, thread->tid,
		     PTRACE_EVENT_STOP << 16 | SIGTRAP << 8 | 0x7f);
}

static int stop_and_replace(struct thread *thread, struct error *error)
{
	int result;

	if (!tracee_disposition_settle(thread))
		return error_set(error, "thread %d did not stop within 0.5 s", (int)thread->tid);
	result = tracee_disposition_replace(thread, error);
	unsettle(thread);
	return result;
}

static bool tracee_disposition_may_stand(const struct thread *thread)
{
	return (thread->state == TRACEE_RUNNING || thread->state == TRACEE_LISTENING) &&
	       !thread->own_trap && !thread_is_stuck(thread);
}

/*
 * Returns the running thread whose system call is harmed least by a stop; NULL: no thread can be
 * stopped.
 */
static struct thread *find_runner(struct tracee *tracee, struct thread *preferred)
{
	struct thread *found = tracee_disposition_may_stand(preferred) ? preferred : NULL;
	enum syscall_restart_harm least =
		found ? syscall_restart_harm(tracee->pid, found->tid) : SYSCALL_RESTART_NONE;

	for (size_t i = 0; i < tracee->thread_count; i++) {
		struct thread *thread = tracee->threads[i];
		enum syscall_restart_harm harm;
		if (found && least == SYSCALL_RESTART_NONE)
			break;
		if (thread == preferred || !tracee_disposition_may_stand(thread))
			continue;
		harm = syscall_restart_harm(tracee->pid, thread->tid);
		if (found && harm >= least)
			continue;
		found = thread;
		least = harm;
	}
	return found;
}

static int stop_any(struct tracee *tracee, struct thread *preferred, struct error *error)
{
	struct thread *thread;

	if (is_hopeless(tracee))
		return error_set(error,
				 "no thread of pid %d can be stopped at the moment: try again",
				 (int)tracee->pid);
	thread = find_runner(tracee, preferred);
	if (thread)
		return stop_and_replace(thread, error);
	tracee->hopeless = loop_now() + HOPELESS_SECONDS;
	return error_set(error,
			 "no thread of pid %d can be stopped: each is exiting, or sleeps "
			 "uninterruptibly (state D)",
			 (int)tracee->pid);
}

int tracee_ignore(struct tracee *tracee, struct thread *preferred, struct error *error)
{
	struct thread *thread;
	int result;

	/* The code of the process is read before a thread is stopped, to keep the stop short. */
	if (find_places(tracee, tracee->pid, error) < 0)
		return -1;
	thread = find_standing(tracee);
	if (!thread)
		return stop_any(tracee, preferred, error);
	result = tracee_disposition_replace(thread, error);
	/* If the remote call is late, stopped() is called when it has returned. */
	if (thread->state == TRACEE_IN_CALL)
		thread->is_stop_due = true;
	return result;
}

/*
 * Putting back
 */

static bool is_to_put_back(const struct thread *thread)
{
	if (thread->is_child)
		return thread->is_sigtrap_ignored;
	return thread->tracee->disposition == DISPOSITION_IGNORED;
}

void thread_put_back(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	struct arch_action old;

	if (!is_to_put_back(thread) || call(thread, CALL_PUTS_BACK, &tracee->old, &old, NULL) < 0)
		return;
	tracee_disposition_take_result(thread, &old);
	tracee_pass(tracee, "put back");
}

/* After an exec, the new program has inherited that SIGTRAP is ignored, and no other action. */
void thread_put_back_execed(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	const struct arch_action initial = { .handler = DEFAULT };
	struct arch_action old;

	if (tracee->disposition != DISPOSITION_IGNORED)
		return;
	if (tracee->old.handler != IGNORE &&
	    call(thread, CALL_GIVES_BACK, &initial, &old, NULL) < 0)
		return;
	tracee->disposition = DISPOSITION_ITS_OWN;
}

/*
 * The program's own
 */

/* True if a SIGTRAP would end the process if the node did not ignore SIGTRAP in it. */
static bool would_die(const struct tracee *tracee)
{
	int64_t ignored = 0;

	if (tracee->disposition != DISPOSITION_IGNORED || tracee->old.handler != DEFAULT)
		return false;
	attachable_status(tracee->pid, "SigIgn", 16, &ignored);
	return ignored >> (SIGTRAP - 1) & 1;
}

/*
 * Called when the thread is stopped and own_trap has a SIGTRAP of the program: puts the disposition
 * back and sends SIGTRAP again. When it arrives, its siginfo is replaced by own_trap.
 */
void thread_send_own_trap(struct thread *thread)
{
	thread_put_back(thread);
	if (thread->state != TRACEE_STOPPED)
		return;
	syscall(SYS_tgkill, thread->tracee->pid, thread->tid, SIGTRAP);
	thread_release(thread);
}

static bool is_sent_again(const struct thread *thread, const siginfo_t *info)
{
	return thread->own_trap && info->si_code == SI_TKILL && info->si_pid == getpid();
}

void thread_take_own_trap(struct thread *thread, siginfo_t *info)
{
	struct tracee *tracee = thread->tracee;

	if (is_sent_again(thread, info)) {
		ptrace(PTRACE_SETSIGINFO, thread->tid, 0, thread->own_trap);
		free(thread->own_trap);
		thread->own_trap = NULL;
		thread_go(thread, SIGTRAP);
		return;
	}
	if (thread->own_trap || !would_die(tracee)) {
		thread_go(thread, SIGTRAP);
		return;
	}
	for (size_t i = 0; i < tracee->thread_count; i++)
		debug_registers_clear(&tracee->threads[i]->slots);
	thread->own_trap = xmalloc(sizeof(*info));
	*thread->own_trap = *info;
	thread_interrupt(thread);
	thread_go(thread, 0);
}
