/*
 * tracee-attach: seizes the threads of a process, or takes them over from a
 * tracee that is still detaching; adopts children.
 */
#include "backends/tracer/tracee-private.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>

#include "banned.h"

#include "backends/linux/access-refusal.h"
#include "backends/linux/task.h"
#include "backends/tracer/attachable.h"
#include "backends/tracer/waits.h"
#include "base/alloc.h"
#include "base/error.h"

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
 * A thread that the last tracee of this process could not detach from in time
 * becomes one of the new tracee. False: a thread of another process, or one
 * whose signal mask is still to be restored.
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
	/* Its event stop, when it comes, is not reported. */
	if (thread->state == TRACEE_INTERRUPTED)
		thread->state = TRACEE_RUNNING;
	if (old->thread_count == 0 && old->child_count == 0)
		tracee_destroy(old);
	return true;
}

/* 1: the thread is newly traced, 0: it has ended or is known, -1 with errno. */
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
	/* A traced thread has made this one: the event of its parent will report it. */
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

/* Seizes the threads that are new; returns their number, or -1 with errno. */
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

/* Repeats until no thread is new: a thread that is not seized yet may make another one. */
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
	*reason = (struct reason){ .fix = "Try again in a moment." };
	snprintf(reason->why, sizeof(reason->why),
		 "Process %d is just being left: a thread of it does not come to stand.", (int)pid);
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
