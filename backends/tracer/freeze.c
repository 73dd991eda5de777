#include "backends/tracer/freeze.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"

#include "backends/linux/task.h"
#include "backends/native/registers.h"
#include "backends/tracer/stop-wait.h"
#include "base/error.h"
#include "base/loop.h"

#define SPIN_NS 20000u /* a thread on another processor stops within this time */
#define STOP_LIMIT_NS 50000000u
#define NICENESS_LEAST (-20)

/* 1: the thread has stopped, 0: not yet, -1: it is gone. */
static int freeze_look(struct freeze *hold)
{
	int status;
	pid_t found = waitpid(hold->tid, &status, __WALL | WNOHANG);

	if (found == 0)
		return 0;
	if (found != hold->tid || !WIFSTOPPED(status))
		return -1;
	/* The status of a group-stop or of PTRACE_INTERRUPT has an event, that of a signal none. */
	hold->signal = status >> 16 ? 0 : WSTOPSIG(status);
	syscall_restart_stood(&hold->restart, hold->pid, hold->tid, WSTOPSIG(status));
	return 1;
}

/*
 * began_ns becomes the last time at which the thread was not stopped: a thread that
 * waits for a processor, perhaps for this one, is not delayed by the freeze.
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
 * A thread in an uninterruptible sleep would not stop in time. letter 0: pid has
 * no such thread.
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
				 "thread %d of pid %d cannot be held: it ends, or sleeps "
				 "uninterruptibly (state D)",
				 (int)task->tid, (int)task->pid);
	if (ptrace(PTRACE_SEIZE, task->tid, 0, 0) < 0)
		return error_set_errno(error, errno, "thread %d cannot be held", (int)task->tid);
	hold->pid = task->pid;
	hold->tid = task->tid;
	syscall_restart_note(&hold->restart, task->pid, task->tid);
	hold->began_ns = loop_now_ns();
	ptrace(PTRACE_INTERRUPT, task->tid, 0, 0);
	return 0;
}

/*
 * While the node waits for a processor, the frozen thread waits as well: raises
 * the node's priority, where permitted, for these microseconds.
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
	/* task still names the thread for which its file was opened; tid may have been reused. */
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
		return error_set(error, "thread %d has ended", (int)tid);
	return error_set(error, "thread %d did not come to stand within 50 ms", (int)tid);
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
	/* PTRACE_DETACH fails for a thread that was killed and is not stopped any more. */
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

	/* Opening /proc/PID/mem makes the kernel's check for ptrace(2), without its effect. */
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES ? EPERM : errno;
	close(fd);
	return 0;
}
