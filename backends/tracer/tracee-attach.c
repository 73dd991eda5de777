/*
 * tracee-attach: seizes the threads of a process, or takes the threads over from a tracee that is
 * still detaching; adopts child processes.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <sys/wait.h>

#include "backends/linux/access-refusal.h"
#include "backends/linux/task.h"
#include "backends/tracer/attachable.h"
#include "backends/tracer/ptrace-ops.h"
#include "backends/tracer/tracee-private.h"
#include "backends/tracer/waits.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/loop.h"

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK |   \
	 PTRACE_O_TRACEVFORK)

static bool tracee_attach_has_ended(pid_t pid, pid_t tid)
{
	struct task task;
	char letter;

	task_init(&task, pid, tid);
	letter = task_letter(&task);
	task_clear(&task);
	return !letter || strchr("ZXx", letter);
}

/*
 * Moves a thread from which the last tracee of this process could not detach in time to the new
 * tracee. Returns false for a thread of another process, and for a thread whose signal mask must
 * still be restored.
 */
static bool take_over(struct tracee *tracee, struct thread *thread)
{
	struct tracee *old = thread->tracee;

	if (thread->is_child || thread->is_masked || old->pid != tracee->pid ||
	    old->detaching != DETACHING_BEGUN || old->depth > 0)
		return false;
	if (old->disposition == DISPOSITION_IGNORED) {
		tracee->disposition = DISPOSITION_IGNORED;
		tracee->old = old->old;
	}
	thread_move(thread, tracee);
	thread->is_stop_due = false;
	/* PTRACE_INTERRUPT of the old tracee may still stop the thread: TRACEE_RUNNING makes that
	 * stop one which is not reported. */
	if (thread->state == TRACEE_INTERRUPTED)
		thread->state = TRACEE_RUNNING;
	if (old->thread_count == 0 && old->child_count == 0)
		tracee_destroy(old);
	return true;
}

/*
 * Seizes a thread. Returns 1 if it is newly traced, 0 if it has exited or was traced already, or -1
 * with errno.
 */
static int tracee_attach_seize(struct tracee *tracee, pid_t tid)
{
	struct thread *thread = thread_find(tracee, tid);
	int number;

	if (thread)
		return 0;
	if (ptrace(PTRACE_SEIZE, tid, 0, (void *)(uintptr_t)OPTIONS) == 0) {
		thread = thread_add(tracee, tid, false);
		thread->state = TRACEE_RUNNING;
		return 1;
	}
	number = errno;
	thread = waits_find(tracee->waits, tid, thread_changed);
	if (thread && take_over(tracee, thread))
		return 1;
	if (tracee_attach_has_ended(tracee->pid, tid)) {
		if (tid == tracee->pid && !thread)
			thread_add(tracee, tid, false)->state = TRACEE_EXITED;
		return 0;
	}
	if (thread) {
		errno = EBUSY;
		return -1;
	}
	/* The thread was created by a traced thread, whose event will report it. */
	if (number == EPERM && attachable_is_ours(tid))
		return 0;
	errno = number;
	return number == ESRCH ? 0 : -1;
}

struct thread *thread_seek(struct tracee *tracee, pid_t tid)
{
	struct thread *thread = thread_find(tracee, tid);

	if (thread || tid <= 0 || !thread_is_of(tracee->pid, tid) ||
	    tracee_attach_seize(tracee, tid) <= 0)
		return thread;
	return thread_find(tracee, tid);
}

/* Seizes the threads that are not traced yet. Returns their number, or -1 with errno. */
static int seize_new(struct tracee *tracee)
{
	char path[32];
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)tracee->pid);
	DIR *folder = opendir(path);
	if (!folder)
		return -1;
	for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		int result = tid > 0 ? tracee_attach_seize(tracee, tid) : 0;
		if (result < 0) {
			int number = errno;
			closedir(folder);
			errno = number;
			return -1;
		}
		count += result;
	}
	closedir(folder);
	return count;
}

/*
 * Repeats until no thread is new, because a thread that is not seized yet may create another
 * thread.
 */
static int seize_all(struct tracee *tracee)
{
	int count;

	do {
		count = seize_new(tracee);
	} while (count > 0);
	if (count == 0 && tracee->thread_count == 0)
		errno = ESRCH;
	return count < 0 || tracee->thread_count == 0 ? -1 : 0;
}

static void tracee_attach_explain(pid_t pid, int number, struct reason *reason)
{
	if (number != EBUSY) {
		access_refusal_find(reason, pid, number);
		return;
	}
	*reason = (struct reason){ .fix = "try again in a moment" };
	snprintf(reason->why, sizeof(reason->why),
		 "process %d is still being detached (one of its threads has not stopped)",
		 (int)pid);
}

struct tracee *tracee_new(struct waits *waits, pid_t pid, const struct tracee_calls *calls,
			  struct reason *reason)
{
	struct tracee *tracee;

	if (!attachable(pid, reason))
		return NULL;
	tracee = xcalloc(1, sizeof(*tracee));
	tracee->waits = waits;
	tracee->pid = pid;
	waits_on_stranger(waits, tracee_take_stranger);
	if (seize_all(tracee) < 0) {
		tracee_attach_explain(pid, errno, reason);
		tracee_free(tracee);
		return NULL;
	}
	tracee->calls = *calls;
	tracee_pass(tracee, "seized");
	return tracee;
}

struct tracee *tracee_adopt(struct tracee *tracee, pid_t child, const struct tracee_calls *calls)
{
	struct tracee *adopted = xcalloc(1, sizeof(*adopted));
	struct thread *thread = waits_find(tracee->waits, child, thread_changed);

	assert(thread && thread->is_child && thread->tracee == tracee);
	adopted->waits = tracee->waits;
	adopted->pid = child;
	adopted->calls = *calls;
	if (thread->is_sigtrap_ignored) {
		adopted->disposition = DISPOSITION_IGNORED;
		adopted->old = tracee->old;
	}
	thread_move(thread, adopted);
	return adopted;
}

/*
 * Detaches from a process: closes the watches, interrupts all threads, takes the traps that are
 * still pending, puts the disposition of SIGTRAP back, and only then calls PTRACE_DETACH. A thread
 * that stops too late is detached in the same way when it has stopped.
 *
 * A thread is spared (not interrupted) while it sleeps in a system call that would be restarted
 * with its full time-out after a stop (syscall-restart.h) and no trap of the thread is pending. It
 * is detached after that call, or by the exit of the node, which stops no thread (ptrace(2): a
 * tracer's exit detaches its tracees).
 */

#define LEAVE_NS 1000000000u
#define DRAIN_NS 200000000u
/* Time without a status after which it is checked whether any thread can stop. */
#define STUCK_NS 20000000u
#define DRAIN_ROUNDS 8
#define PEEKED 16
#define SPARED_SECONDS 0.5 /* time between checks whether the call of a spared thread has ended */

/*
 * Stopping all threads
 */

/* True for a spared thread: once detaching has begun, all other threads have been interrupted, so
 * that their stop is due. */
static bool is_spared(const struct thread *thread)
{
	return thread->tracee->detaching == DETACHING_BEGUN && !thread->is_child &&
	       !thread->is_stop_due;
}

static bool is_awaited(const struct thread *thread)
{
	return thread->state != TRACEE_STOPPED && thread->state != TRACEE_EXITED &&
	       !is_spared(thread);
}

/*
 * Takes the available statuses of the awaited threads. Returns the number of statuses; the array
 * may be reallocated meanwhile.
 */
static size_t tracee_detach_ask_each(struct tracee *tracee, struct thread ***threads,
				     const size_t *count)
{
	size_t taken = 0;
	size_t i = 0;
	int status;

	while (i < *count) {
		struct thread *thread = (*threads)[i];
		if (!is_awaited(thread) || !waits_one(tracee->waits, thread->tid, 0, &status)) {
			i++;
			continue;
		}
		thread_take(thread, status);
		taken++;
	}
	return taken;
}

static bool is_any_awaited(const struct tracee *tracee, bool is_hopeful)
{
	for (size_t i = 0; i < tracee->thread_count; i++)
		if (is_awaited(tracee->threads[i]) &&
		    (!is_hopeful || !thread_is_stuck(tracee->threads[i])))
			return true;
	for (size_t i = 0; i < tracee->child_count; i++)
		if (is_awaited(tracee->children[i]) &&
		    (!is_hopeful || !thread_is_stuck(tracee->children[i])))
			return true;
	return false;
}

static void tracee_detach_collect(struct tracee *tracee, uint64_t nanoseconds)
{
	if (tracee->calls.is_hasty)
		return;

	uint64_t began = loop_now_ns();
	uint64_t last = began;
	struct stop_wait stop_wait;

	stop_wait_begin(&stop_wait);
	while (is_any_awaited(tracee, false)) {
		uint64_t now = loop_now_ns();
		if (now - began > nanoseconds)
			break;
		if (tracee_detach_ask_each(tracee, &tracee->threads, &tracee->thread_count) +
		    tracee_detach_ask_each(tracee, &tracee->children, &tracee->child_count)) {
			last = now;
			continue;
		}
		if (now - last > STUCK_NS) {
			if (!is_any_awaited(tracee, true))
				break;
			last = now;
		}
		stop_wait_sleep(&stop_wait);
	}
	stop_wait_end(&stop_wait);
}

static bool is_trap_pending(const struct thread *thread)
{
	int64_t pending = 0;

	attachable_status(thread->tid, "SigPnd", 16, &pending);
	return pending >> (SIGTRAP - 1) & 1;
}

/*
 * True if the thread may be spared. Call it when the thread's watches are closed, so that no
 * further trap can occur.
 */
static bool may_be_spared(const struct thread *thread)
{
	return thread->state == TRACEE_RUNNING && !thread->own_trap &&
	       syscall_restart_harm(thread->tracee->pid, thread->tid) == SYSCALL_RESTART_ANEW &&
	       !is_trap_pending(thread);
}

static void stop(struct thread *thread)
{
	thread->is_stop_due = true;
	if (thread->state == TRACEE_RUNNING || thread->state == TRACEE_LISTENING)
		thread_interrupt(thread);
}

/* Stops a spared thread if no other thread can put the disposition of SIGTRAP back. */
static void stop_one(struct tracee *tracee)
{
	struct thread *found = NULL;

	if (tracee->disposition != DISPOSITION_IGNORED)
		return;
	for (size_t i = 0; i < tracee->thread_count; i++) {
		struct thread *thread = tracee->threads[i];
		if (is_spared(thread))
			found = thread;
		else if (thread->state != TRACEE_EXITED)
			return;
	}
	if (found)
		stop(found);
}

static void stop_all(struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->thread_count; i++)
		debug_registers_clear(&tracee->threads[i]->slots);
	tracee_pass(tracee, "closed");
	for (size_t i = 0; i < tracee->thread_count; i++) {
		struct thread *thread = tracee->threads[i];
		if (thread->is_stop_due || !may_be_spared(thread))
			stop(thread);
	}
	stop_one(tracee);
	tracee_detach_collect(tracee, LEAVE_NS);
	tracee_pass(tracee, "collected");
}

/*
 * Pending traps
 */

static bool has_trap(const struct thread *thread)
{
	struct __ptrace_peeksiginfo_args wanted = { .nr = PEEKED };
	siginfo_t infos[PEEKED];
	int slot;
	long count = ptrace(PTRACE_PEEKSIGINFO, thread->tid, &wanted, infos);

	for (long i = 0; i < count; i++)
		if (debug_registers_trap(&thread->slots, thread->tid, &infos[i], &slot) !=
		    DEBUG_REGISTERS_NOT_OURS)
			return true;
	return false;
}

/*
 * Resumes the thread, which takes the pending trap before it runs, and stops again (take_signal()).
 */
static void tracee_detach_drain(struct thread *thread)
{
	uint64_t mask = 0;
	uint64_t open;

	/* SIGTRAP is unblocked: otherwise the trap would stay pending for ever. */
	ptrace(PTRACE_GETSIGMASK, thread->tid, (void *)sizeof(mask), &mask);
	open = mask & ~(UINT64_C(1) << (SIGTRAP - 1));
	if (open != mask) {
		ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(open), &open);
		thread->mask = mask;
		thread->is_masked = true;
	}
	thread->state = TRACEE_RUNNING;
	ptrace(PTRACE_CONT, thread->tid, 0, 0);
}

/* Makes each stopped thread take a pending trap. Returns false if no thread had one. */
static bool drain_each(struct tracee *tracee)
{
	bool is_any = false;

	for (size_t i = 0; i < tracee->thread_count; i++)
		if (tracee->threads[i]->state == TRACEE_STOPPED && has_trap(tracee->threads[i])) {
			tracee_detach_drain(tracee->threads[i]);
			is_any = true;
		}
	if (is_any)
		tracee_detach_collect(tracee, DRAIN_NS);
	return is_any;
}

static void close_masks(struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->thread_count; i++) {
		struct thread *thread = tracee->threads[i];
		if (!thread->is_masked || thread->state != TRACEE_STOPPED)
			continue;
		ptrace(PTRACE_SETSIGMASK, thread->tid, (void *)sizeof(thread->mask), &thread->mask);
		thread->is_masked = false;
	}
}

/*
 * Several rounds are needed, because a thread that was interrupted twice stops again before it
 * takes the trap.
 */
static void drain_all(struct tracee *tracee)
{
	for (int i = 0; i < DRAIN_ROUNDS && drain_each(tracee); i++)
		;
	close_masks(tracee);
}

/*
 * Detaching
 */

void thread_leave(struct thread *thread)
{
	syscall_restart_leave(&thread->restart, thread->tid);
	ptrace(PTRACE_DETACH, thread->tid, 0, 0);
	thread_remove(thread);
}

/*
 * True if a trap of the thread may still occur. If the tracer exited then, SIGTRAP's default action
 * would end the process.
 */
static bool may_trap(const struct thread *thread)
{
	return is_awaited(thread) && (!thread_is_stuck(thread) || is_trap_pending(thread));
}

/*
 * Puts the disposition of SIGTRAP back, unless a thread may still trap: then that thread does so
 * when it has stopped.
 */
static void tracee_detach_put_back(struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->thread_count; i++)
		if (may_trap(tracee->threads[i]))
			return;
	for (size_t i = 0; i < tracee->thread_count; i++)
		if (tracee->threads[i]->state == TRACEE_STOPPED &&
		    tracee->disposition == DISPOSITION_IGNORED)
			thread_put_back(tracee->threads[i]);
}

static void leave_each(struct tracee *tracee)
{
	size_t i = 0;

	while (i < tracee->thread_count) {
		struct thread *thread = tracee->threads[i];
		if (thread->state == TRACEE_STOPPED) {
			thread_leave(thread);
			tracee_pass(tracee, "detached");
		} else if (thread->state == TRACEE_EXITED) {
			thread_remove(thread);
		} else {
			i++;
		}
	}
}

static void on_spared(void *data)
{
	struct tracee *tracee = data;
	bool is_any = false;

	for (size_t i = 0; i < tracee->thread_count; i++) {
		struct thread *thread = tracee->threads[i];
		if (is_spared(thread) && !may_be_spared(thread))
			stop(thread);
		is_any = is_any || is_spared(thread);
	}
	if (is_any)
		return;
	loop_timer_stop(tracee->sparing);
	tracee->sparing = NULL;
}

static void look_after_spared(struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->thread_count && !tracee->sparing; i++)
		if (is_spared(tracee->threads[i]))
			tracee->sparing = loop_timer(waits_loop(tracee->waits), SPARED_SECONDS,
						     SPARED_SECONDS, on_spared, tracee);
}

void tracee_detach(struct tracee *tracee)
{
	tracee->depth++;
	if (tracee->detaching != DETACHING_BEGUN) {
		tracee->detaching = DETACHING_BEGUN;
		stop_all(tracee);
	}
	drain_all(tracee);
	tracee_detach_put_back(tracee);
	leave_each(tracee);
	tracee->depth--;
	if (tracee->thread_count == 0 && tracee->child_count == 0)
		tracee_destroy(tracee);
	else
		look_after_spared(tracee);
}

void tracee_step_out(struct tracee *tracee)
{
	if (--tracee->depth == 0 && tracee_is_detaching(tracee))
		tracee_detach(tracee);
}

void tracee_destroy(struct tracee *tracee)
{
	if (tracee->sparing)
		loop_timer_stop(tracee->sparing);
	free(tracee->threads);
	free(tracee->children);
	free(tracee);
}

static void count_late(void *entry, void *data)
{
	const struct thread *thread = entry;
	bool is_to_put_back = thread->is_child ? thread->is_sigtrap_ignored
					       : thread->tracee->disposition == DISPOSITION_IGNORED;

	if (tracee_is_detaching(thread->tracee) && is_to_put_back &&
	    thread->state != TRACEE_EXITED && !is_spared(thread))
		++*(size_t *)data;
}

void tracee_finish(struct waits *waits)
{
	uint64_t began = loop_now_ns();
	struct stop_wait stop_wait;

	stop_wait_begin(&stop_wait);
	for (;;) {
		size_t count = 0;
		waits_each(waits, thread_changed, count_late, &count);
		if (count == 0 || loop_now_ns() - began > LEAVE_NS)
			break;
		if (waits_take(waits) == 0)
			stop_wait_sleep(&stop_wait);
	}
	stop_wait_end(&stop_wait);
}

/* Frees the thread when the node exits: the kernel then detaches from it. */
void thread_end(struct thread *thread)
{
	struct tracee *tracee = thread->tracee;
	size_t *count = thread->is_child ? &tracee->child_count : &tracee->thread_count;

	debug_registers_clear(&thread->slots);
	free(thread->remote);
	free(thread->own_trap);
	free(thread);
	--*count;
	if (tracee->thread_count == 0 && tracee->child_count == 0)
		tracee_destroy(tracee);
}

/*
 * Detaches from a child whose parent was killed before its event reported the child. The action
 * that SIGTRAP had before the node changed it is unknown: the default action is assumed, which is
 * nearly always right.
 */
void tracee_take_stranger(struct waits *waits, pid_t tid, int status)
{
	struct tracee *tracee;
	struct thread *thread;
	int64_t ignored = 0;

	if (!WIFSTOPPED(status))
		return;
	tracee = xcalloc(1, sizeof(*tracee));
	tracee->waits = waits;
	tracee->pid = tid;
	tracee->detaching = DETACHING_BEGUN;
	attachable_status(tid, "SigIgn", 16, &ignored);
	thread = thread_add(tracee, tid, true);
	thread->is_stop_due = true;
	thread->is_sigtrap_ignored = ignored >> (SIGTRAP - 1) & 1;
	thread_changed(tid, status, thread);
}
