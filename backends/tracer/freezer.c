#include "backends/tracer/freezer.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/task.h"
#include "backends/native/registers.h"
#include "backends/tracer/ptrace-ops.h"
#include "backends/tracer/tracee.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define SETTLE_SECONDS 0.002 /* maximum time for which a late thread is stopped */

struct freezer {
	struct loop *loop;
	struct freeze now; /* the current freeze; tid 0: none */
	/* The following members are used instead of `now` for a thread that has a tracee. */
	struct waits *waits; /* knows the tracees; NULL: there are none */
	struct tracee *tracee;
	pid_t tid;
	uint64_t began_ns;
	struct freeze *late;
	size_t late_count;
	size_t late_capacity;
	struct loop_timer *timer; /* releases the late threads; NULL: there are none */
};

struct freezer *freezer_new(struct loop *loop)
{
	struct freezer *holds = xcalloc(1, sizeof(*holds));

	holds->loop = loop;
	return holds;
}

void freezer_set_waits(struct freezer *holds, struct waits *waits)
{
	holds->waits = waits;
}

static void freezer_stop_timer(struct freezer *holds)
{
	if (holds->timer)
		loop_timer_stop(holds->timer);
	holds->timer = NULL;
}

void freezer_free(struct freezer *holds)
{
	if (!holds)
		return;
	freezer_settle(holds);
	freezer_stop_timer(holds);
	free(holds->late);
	free(holds);
}

size_t freezer_settle(struct freezer *holds)
{
	size_t kept = 0;

	for (size_t i = 0; i < holds->late_count; i++)
		if (!freeze_settle(&holds->late[i]))
			holds->late[kept++] = holds->late[i];
	holds->late_count = kept;
	return kept;
}

static void on_settle(void *data)
{
	struct freezer *holds = data;

	if (freezer_settle(holds) == 0)
		freezer_stop_timer(holds);
}

void freezer_keep(struct freezer *holds, struct freeze *hold)
{
	if (!hold->tid)
		return;
	ARRAY_GROW(holds->late, holds->late_count, holds->late_capacity);
	holds->late[holds->late_count++] = *hold;
	hold->tid = 0;
	if (holds->loop && !holds->timer)
		holds->timer =
			loop_timer(holds->loop, SETTLE_SECONDS, SETTLE_SECONDS, on_settle, holds);
}

static bool freezer_has_late(const struct freezer *holds, pid_t pid)
{
	for (size_t i = 0; i < holds->late_count; i++)
		if (holds->late[i].pid == pid)
			return true;
	return false;
}

static int hold_traced(struct freezer *holds, struct tracee *tracee, pid_t tid, struct error *error)
{
	holds->began_ns = loop_now_ns();
	if (tracee_hold(tracee, tid, error) < 0)
		return -1;
	holds->tracee = tracee;
	holds->tid = tid;
	return 0;
}

int freezer_begin(struct freezer *holds, pid_t pid, pid_t tid, struct error *error)
{
	struct tracee *tracee;
	int result;

	assert(!holds->now.tid && !holds->tracee);
	tracee = holds->waits ? tracee_find(holds->waits, tid) : NULL;
	if (tracee)
		return hold_traced(holds, tracee, tid, error);
	freezer_settle(holds);
	if (freezer_has_late(holds, pid))
		return error_set(
			error,
			"pid %d: a thread that is being stopped has not stopped yet (try again)",
			(int)pid);
	result = freeze_begin(&holds->now, pid, tid, error);
	if (result < 0)
		freezer_keep(holds, &holds->now);
	return result;
}

bool freezer_stands(const struct freezer *holds, pid_t tid)
{
	const struct tracee *tracee = holds->waits ? tracee_find(holds->waits, tid) : NULL;

	return tracee && tracee_is_stopped(tracee, tid);
}

bool freezer_traces(const struct freezer *holds, pid_t tid)
{
	return holds->waits && tracee_is_ours(holds->waits, tid);
}

int freezer_registers(const struct freezer *holds, struct registers *registers)
{
	if (holds->tracee)
		return tracee_registers(holds->tracee, holds->tid, registers);
	return freeze_registers(&holds->now, registers);
}

uint64_t freezer_elapsed(const struct freezer *holds)
{
	if (holds->tracee)
		return loop_now_ns() - holds->began_ns;
	return freeze_elapsed(&holds->now);
}

uint64_t freezer_end(struct freezer *holds)
{
	uint64_t held_ns;

	if (holds->tracee) {
		tracee_release(holds->tracee, holds->tid);
		holds->tracee = NULL;
		return loop_now_ns() - holds->began_ns;
	}
	held_ns = freeze_end(&holds->now);
	freezer_keep(holds, &holds->now);
	return held_ns;
}

#define SPIN_NS 20000u /* a thread on another processor stops within this time */
#define STOP_LIMIT_NS 50000000u
#define NICENESS_LEAST (-20)

/*
 * Checks whether the thread has stopped. Returns 1 if it has stopped, 0 if not yet, -1 if it has
 * exited.
 */
static int freeze_look(struct freeze *hold)
{
	int status;
	pid_t found = waitpid(hold->tid, &status, __WALL | WNOHANG);

	if (found == 0)
		return 0;
	if (found != hold->tid || !WIFSTOPPED(status))
		return -1;
	/*
	 * The status of a group-stop or of PTRACE_INTERRUPT has an event, the status of a signal
	 * has none.
	 */
	hold->signal = status >> 16 ? 0 : WSTOPSIG(status);
	syscall_restart_stood(&hold->restart, hold->pid, hold->tid, WSTOPSIG(status));
	return 1;
}

/*
 * Waits for the stop. began_ns is set to the last time at which the thread was not stopped: if the
 * thread waits for a processor, perhaps for the node's, that is not a delay by the freeze.
 */
static int wait_until_it_stands(struct freeze *hold)
{
	uint64_t began = loop_now_ns();
	struct stop_wait stop_wait;
	int result;

	stop_wait_begin(&stop_wait);
	for (;;) {
		uint64_t now = loop_now_ns();
		result = freeze_look(hold);
		if (result || now - began > STOP_LIMIT_NS)
			break;
		hold->began_ns = now;
		if (now - began > SPIN_NS) {
			stop_wait_sleep(&stop_wait);
			hold->began_ns = loop_now_ns();
		}
	}
	stop_wait_end(&stop_wait);
	return result;
}

/*
 * False for a thread in an uninterruptible sleep, which would not stop in time, and for an exited
 * thread. letter 0: the process has no such thread.
 */
static bool can_be_stopped(char letter)
{
	return letter && !strchr("DZXx", letter);
}

static int freeze_seize(struct freeze *hold, struct task *task, struct error *error)
{
	char letter = task_letter(task);

	hold->is_asleep = letter == 'D';
	if (!can_be_stopped(letter))
		return error_set(error,
				 "thread %d of pid %d cannot be stopped: it is exiting, or sleeps "
				 "uninterruptibly (state D)",
				 (int)task->tid, (int)task->pid);
	if (ptrace(PTRACE_SEIZE, task->tid, 0, 0) < 0)
		return error_set_errno(error, errno, "thread %d cannot be stopped", (int)task->tid);
	hold->pid = task->pid;
	hold->tid = task->tid;
	syscall_restart_note(&hold->restart, task->pid, task->tid);
	hold->began_ns = loop_now_ns();
	ptrace(PTRACE_INTERRUPT, task->tid, 0, 0);
	return 0;
}

/*
 * Raises the priority of the node for these microseconds, if permitted: while the node waits for a
 * processor, the frozen thread waits, too.
 */
static void freeze_hurry(struct freeze *hold)
{
	const struct sched_param first = { .sched_priority = 1 };

	hold->policy = sched_getscheduler(0);
	hold->is_first =
		hold->policy == SCHED_OTHER && sched_setscheduler(0, SCHED_RR, &first) == 0;
	if (hold->is_first)
		return;
	hold->niceness = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, 0, NICENESS_LEAST);
}

static void take_time(const struct freeze *hold)
{
	const struct sched_param none = { .sched_priority = 0 };

	if (hold->is_first) {
		sched_setscheduler(0, hold->policy, &none);
		return;
	}
	setpriority(PRIO_PROCESS, 0, hold->niceness);
}

static int hold_now(struct freeze *hold, pid_t pid, pid_t tid, struct error *error)
{
	struct task task;
	int result;

	task_init(&task, pid, tid);
	if (freeze_seize(hold, &task, error) < 0) {
		task_clear(&task);
		return -1;
	}
	result = wait_until_it_stands(hold);
	/*
	 * task still names the thread for which its file was opened, but tid may belong to another
	 * thread by now.
	 */
	if (result > 0 && !task_letter(&task)) {
		freeze_end(hold);
		result = -1;
	} else if (result < 0) {
		hold->tid = 0;
	}
	task_clear(&task);
	if (result > 0)
		return 0;
	if (result < 0)
		return error_set(error, "thread %d has exited", (int)tid);
	return error_set(error, "thread %d did not stop within 50 ms", (int)tid);
}

int freeze_begin(struct freeze *hold, pid_t pid, pid_t tid, struct error *error)
{
	int result;

	*hold = (struct freeze){ .tid = 0 };
	freeze_hurry(hold);
	result = hold_now(hold, pid, tid, error);
	if (result < 0)
		take_time(hold);
	return result;
}

int freeze_registers(const struct freeze *hold, struct registers *registers)
{
	uint64_t dump[REGISTERS_DUMP_BYTES / sizeof(uint64_t)];
	struct iovec out = { dump, sizeof(dump) };

	if (!hold->tid ||
	    ptrace(PTRACE_GETREGSET, hold->tid, (void *)(uintptr_t)NT_PRSTATUS, &out) < 0)
		return -1;
	return registers_from_dump(registers, dump, out.iov_len);
}

uint64_t freeze_elapsed(const struct freeze *hold)
{
	return loop_now_ns() - hold->began_ns;
}

uint64_t freeze_end(struct freeze *hold)
{
	if (!hold->tid)
		return 0;
	syscall_restart_leave(&hold->restart, hold->tid);
	/* PTRACE_DETACH fails if the thread was killed and is no longer stopped. */
	if (ptrace(PTRACE_DETACH, hold->tid, 0, (void *)(uintptr_t)hold->signal) == 0)
		hold->tid = 0;
	uint64_t held_ns = freeze_elapsed(hold);
	take_time(hold);
	return held_ns;
}

bool freeze_settle(struct freeze *hold)
{
	int result;

	if (!hold->tid)
		return true;
	result = freeze_look(hold);
	if (result > 0)
		freeze_end(hold);
	else if (result < 0)
		hold->tid = 0;
	return !hold->tid;
}

int freeze_probe(pid_t pid)
{
	char path[32];

	/*
	 * To open /proc/PID/mem, the kernel makes the same check as for ptrace(2), without
	 * attaching.
	 */
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? EPERM : errno;
	close(fd);
	return 0;
}
