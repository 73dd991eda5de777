#include "backends/tracer/syscall-restart.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"

#include "backends/linux/task.h"
#include "backends/tracer/arch.h"
#include "backends/tracer/ptrace-ops.h"
#include "base/array.h"
#include "base/loop.h"

#define SECOND_NS UINT64_C(1000000000)
#define MILLISECOND_NS UINT64_C(1000000)
#define FILE_BYTES 4096
#define SECONDS_MOST (INT64_MAX / (int64_t)SECOND_NS / 4)
#define RING_HAS_ARGUMENT UINT64_C(8) /* IORING_ENTER_EXT_ARG */

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_io_uring_enter
#define SYS_io_uring_enter 426
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/* The form in which a system call gets its time-out. */
enum limit {
	LIMIT_NONE,
	LIMIT_MILLISECONDS, /* an int in a register; negative: no time-out */
	LIMIT_TIMESPEC,	    /* a pointer to a struct timespec; NULL: no time-out */
	LIMIT_OF_INPUT,	    /* SO_RCVTIMEO of the socket */
	LIMIT_OF_OUTPUT,    /* SO_SNDTIMEO of the socket */
	LIMIT_OF_RING,	    /* a member of the structure to which an argument points */
};

struct call {
	long number;
	enum limit limit;
	int argument; /* index of the argument that has the limit or, for a ring, the flags */
	const char *name;
};

/*
 * The calls that end with EINTR at a stop and that have had no effect until then (Linux 6.18;
 * fs/eventpoll.c, ipc/sem.c, kernel/signal.c, fs/aio.c, io_uring/, sock_intr_errno()). Left out are
 * close(2), which has closed the descriptor, and ioctl(2), which differs from driver to driver.
 */
static const struct call calls[] = {
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, LIMIT_MILLISECONDS, 3, "epoll_wait" },
#endif
	{ SYS_epoll_pwait, LIMIT_MILLISECONDS, 3, "epoll_pwait" },
	{ SYS_epoll_pwait2, LIMIT_TIMESPEC, 3, "epoll_pwait2" },
	{ SYS_rt_sigtimedwait, LIMIT_TIMESPEC, 2, "rt_sigtimedwait" },
	{ SYS_semop, LIMIT_NONE, 0, "semop" },
	{ SYS_semtimedop, LIMIT_TIMESPEC, 3, "semtimedop" },
	{ SYS_io_getevents, LIMIT_TIMESPEC, 4, "io_getevents" },
	{ SYS_io_uring_enter, LIMIT_OF_RING, 3, "io_uring_enter" },
	{ SYS_read, LIMIT_OF_INPUT, 0, "read" },
	{ SYS_readv, LIMIT_OF_INPUT, 0, "readv" },
	{ SYS_recvfrom, LIMIT_OF_INPUT, 0, "recvfrom" },
	{ SYS_recvmsg, LIMIT_OF_INPUT, 0, "recvmsg" },
	{ SYS_recvmmsg, LIMIT_OF_INPUT, 0, "recvmmsg" },
	{ SYS_accept, LIMIT_OF_INPUT, 0, "accept" },
	{ SYS_accept4, LIMIT_OF_INPUT, 0, "accept4" },
	{ SYS_connect, LIMIT_OF_OUTPUT, 0, "connect" },
	{ SYS_write, LIMIT_OF_OUTPUT, 0, "write" },
	{ SYS_writev, LIMIT_OF_OUTPUT, 0, "writev" },
	{ SYS_sendto, LIMIT_OF_OUTPUT, 0, "sendto" },
	{ SYS_sendmsg, LIMIT_OF_OUTPUT, 0, "sendmsg" },
	{ SYS_sendmmsg, LIMIT_OF_OUTPUT, 0, "sendmmsg" },
};

static const struct call *find_call(long number)
{
	for (size_t i = 0; i < ARRAY_LENGTH(calls); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* Reads a file of /proc/PID/task/TID. Returns false if it cannot be read. */
static bool syscall_restart_read_text(pid_t pid, pid_t tid, const char *name, char text[FILE_BYTES])
{
	char path[64];
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fread(text, 1, FILE_BYTES - 1, file);
	fclose(file);
	text[got] = '\0';
	return got > 0;
}

/*
 * Limits
 */

/* True if fd is a socket that has this time-out. */
static bool has_socket_limit(pid_t pid, int fd, int option)
{
	struct timeval limit = { .tv_sec = 0 };
	socklen_t length = sizeof(limit);
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	int copy = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, fd, 0);

	if (copy >= 0 && getsockopt(copy, SOL_SOCKET, option, &limit, &length) < 0)
		limit = (struct timeval){ .tv_sec = 0 };
	if (copy >= 0)
		close(copy);
	if (process >= 0)
		close(process);
	return limit.tv_sec > 0 || limit.tv_usec > 0;
}

static enum syscall_restart_harm harm_of(pid_t pid, const struct call *call,
					 const uint64_t *arguments)
{
	bool is_limited = false;

	switch (call->limit) {
	case LIMIT_NONE:
	case LIMIT_MILLISECONDS:
		return SYSCALL_RESTART_REST;
	case LIMIT_TIMESPEC:
		return arguments[call->argument] ? SYSCALL_RESTART_ANEW : SYSCALL_RESTART_REST;
	case LIMIT_OF_INPUT:
		is_limited = has_socket_limit(pid, (int)arguments[0], SO_RCVTIMEO);
		break;
	case LIMIT_OF_OUTPUT:
		is_limited = has_socket_limit(pid, (int)arguments[0], SO_SNDTIMEO);
		break;
	case LIMIT_OF_RING:
		return arguments[call->argument] & RING_HAS_ARGUMENT ? SYSCALL_RESTART_ANEW
								     : SYSCALL_RESTART_REST;
	}
	/* A call without a time-out is restarted by the kernel itself. */
	return is_limited ? SYSCALL_RESTART_ANEW : SYSCALL_RESTART_NONE;
}

enum syscall_restart_harm syscall_restart_harm(pid_t pid, pid_t tid)
{
	struct task_syscall now;
	const struct call *call;

	task_syscall_read(&now, pid, tid);
	call = find_call(now.number);
	return call ? harm_of(pid, call, now.arguments) : SYSCALL_RESTART_NONE;
}

const char *syscall_restart_anew(pid_t pid, pid_t tid)
{
	struct task_syscall now;
	const struct call *call;

	task_syscall_read(&now, pid, tid);
	call = find_call(now.number);
	return call && harm_of(pid, call, now.arguments) == SYSCALL_RESTART_ANEW ? call->name
										 : NULL;
}

/*
 * Reads the time-out of a stopped thread's call. Returns false if there is none, or if it is of a
 * kind that is not counted.
 */
static bool read_limit(pid_t tid, const struct call *call, const uint64_t *arguments,
		       uint64_t *nanoseconds)
{
	int milliseconds = (int)arguments[call->argument];
	int64_t time[2];

	if (call->limit == LIMIT_MILLISECONDS && milliseconds >= 0) {
		*nanoseconds = (uint64_t)milliseconds * MILLISECOND_NS;
		return true;
	}
	if (call->limit != LIMIT_TIMESPEC || !arguments[call->argument] ||
	    ptrace_read_memory(tid, arguments[call->argument], time, sizeof(time)) !=
		    sizeof(time) ||
	    time[0] < 0 || time[0] > SECONDS_MOST || time[1] < 0 || time[1] >= (int64_t)SECOND_NS)
		return false;
	*nanoseconds = (uint64_t)time[0] * SECOND_NS + (uint64_t)time[1];
	return true;
}

/*
 * Begin of the call
 */

/*
 * Reads se.exec_start, in nanoseconds on the clock of the processor's run queue (rq_clock_task()).
 */
static bool read_clock(pid_t pid, pid_t tid, uint64_t *clock_ns)
{
	static const char key[] = "\nse.exec_start";
	char text[FILE_BYTES];
	char *found, *end;
	uint64_t milliseconds;

	if (!syscall_restart_read_text(pid, tid, "sched", text))
		return false;
	found = strstr(text, key);
	found = found ? strchr(found, ':') : NULL;
	if (!found)
		return false;
	milliseconds = strtoull(found + 1, &end, 10);
	if (*end != '.')
		return false;
	*clock_ns = milliseconds * MILLISECOND_NS + strtoull(end + 1, NULL, 10);
	return true;
}

/* Returns the processor on which the thread has run last (proc_pid_stat(5)); -1: unknown. */
static int read_processor(pid_t pid, pid_t tid)
{
	char text[FILE_BYTES];
	char *place;

	if (!syscall_restart_read_text(pid, tid, "stat", text))
		return -1;
	place = strrchr(text, ')');
	for (int field = 2; place && field < 39; field++)
		place = strchr(place + 1, ' ');
	return place ? (int)strtol(place, NULL, 10) : -1;
}

/*
 * Sets *offset to loop_now_ns() minus the scheduler's clock of the processor. Each processor has
 * its own clock, without the time that a hypervisor stole; to read it, the node moves to the
 * processor.
 */
static bool read_offset(int processor, int64_t *offset)
{
	cpu_set_t before, there;
	uint64_t clock_ns;
	bool is_known;

	if (processor < 0 || processor >= CPU_SETSIZE ||
	    sched_getaffinity(0, sizeof(before), &before) < 0)
		return false;
	CPU_ZERO(&there);
	CPU_SET(processor, &there);
	if (sched_setaffinity(0, sizeof(there), &there) < 0)
		return false;
	sched_yield();
	is_known = read_clock(getpid(), getpid(), &clock_ns);
	*offset = (int64_t)loop_now_ns() - (int64_t)clock_ns;
	sched_setaffinity(0, sizeof(before), &before);
	return is_known;
}

void syscall_restart_note(struct syscall_restart *restart, pid_t pid, pid_t tid)
{
	struct task_syscall now;
	const struct call *call;

	task_syscall_read(&now, pid, tid);
	restart->number = now.number;
	restart->slept_ns = 0;
	call = find_call(restart->number);
	if (!call || (call->limit != LIMIT_MILLISECONDS && call->limit != LIMIT_TIMESPEC))
		return;
	restart->processor = read_processor(pid, tid);
	if (!read_clock(pid, tid, &restart->slept_ns))
		restart->slept_ns = 0;
}

/*
 * Sets *slept_ns to the time that the thread had slept in the call when it was stopped. Returns
 * false if that is unknown.
 */
static bool read_slept(const struct syscall_restart *restart, pid_t pid, pid_t tid,
		       uint64_t *slept_ns)
{
	int processor = read_processor(pid, tid);
	int64_t offset, before_offset;
	uint64_t now;

	if (!restart->slept_ns || processor < 0 || restart->processor < 0 ||
	    !read_clock(pid, tid, &now))
		return false;
	if (processor != restart->processor) {
		if (!read_offset(processor, &offset) ||
		    !read_offset(restart->processor, &before_offset))
			return false;
		now += (uint64_t)(offset - before_offset);
	}
	*slept_ns = now > restart->slept_ns && now - restart->slept_ns < INT64_MAX
			    ? now - restart->slept_ns
			    : 0;
	return true;
}

/*
 * Stops
 */

/*
 * Returns the stopped thread's system call if it was interrupted or is to be restarted; else NULL.
 */
static const struct call *syscall_restart_look(pid_t tid, struct arch_dump *dump,
					       uint64_t arguments[ARCH_ARGUMENTS])
{
	if (ptrace_get_registers(tid, dump) < 0 || !arch_is_known(dump) ||
	    !arch_was_interrupted(dump))
		return NULL;
	return find_call(arch_current_call(dump, arguments));
}

static void syscall_restart_count(struct syscall_restart *restart, pid_t pid, pid_t tid,
				  const struct call *call, const uint64_t *arguments)
{
	uint64_t now = loop_now_ns();
	uint64_t limit_ns, slept_ns;

	restart->is_counted = call->number == restart->number &&
			      read_limit(tid, call, arguments, &limit_ns) &&
			      read_slept(restart, pid, tid, &slept_ns);
	if (restart->is_counted)
		restart->until_ns = now + limit_ns - (slept_ns < now ? slept_ns : now);
}

/* True if the thread has stopped right before the call that is to be restarted. */
static bool is_on_its_way(const struct syscall_restart *restart, pid_t tid)
{
	struct arch_dump dump;

	return restart->is_due && ptrace_get_registers(tid, &dump) == 0 && arch_is_known(&dump) &&
	       arch_is_before_call(&dump, restart->instruction) &&
	       arch_below_stack(&dump) == restart->stack;
}

static bool syscall_restart_is_same(const struct syscall_restart *restart,
				    const struct arch_dump *dump)
{
	return restart->instruction == arch_instruction(dump) &&
	       restart->stack == arch_below_stack(dump);
}

static bool is_job_control(int signal_number)
{
	return signal_number == SIGSTOP || signal_number == SIGTSTP || signal_number == SIGTTIN ||
	       signal_number == SIGTTOU || signal_number == SIGCONT;
}

void syscall_restart_stood(struct syscall_restart *restart, pid_t pid, pid_t tid, int signal_number)
{
	uint64_t arguments[ARCH_ARGUMENTS];
	struct arch_dump dump;
	const struct call *call;

	if (is_job_control(signal_number) || is_on_its_way(restart, tid))
		return;
	call = syscall_restart_look(tid, &dump, arguments);
	if (!call) {
		restart->is_counted = false;
		return;
	}
	if (!restart->is_counted || !restart->is_same || !syscall_restart_is_same(restart, &dump))
		syscall_restart_count(restart, pid, tid, call, arguments);
	restart->is_same = true;
	restart->instruction = arch_instruction(&dump);
	restart->stack = arch_below_stack(&dump);
	arch_begin_again(&dump);
	ptrace_set_registers(tid, &dump);
}

static uint64_t left_of(const struct syscall_restart *restart)
{
	uint64_t now = loop_now_ns();

	return restart->until_ns > now ? restart->until_ns - now : 0;
}

/* Returns the remaining time, rounded up, so that the call never times out early. */
static uint64_t left_milliseconds(const struct syscall_restart *restart)
{
	return (left_of(restart) + MILLISECOND_NS - 1) / MILLISECOND_NS;
}

bool syscall_restart_go(struct syscall_restart *restart, pid_t tid)
{
	uint64_t arguments[ARCH_ARGUMENTS];
	struct arch_dump dump;

	restart->number = -1;
	restart->slept_ns = 0;
	if (restart->is_changed || is_on_its_way(restart, tid))
		return true;
	restart->is_due = restart->is_counted && syscall_restart_look(tid, &dump, arguments);
	if (!restart->is_due)
		restart->is_counted = false;
	return restart->is_due;
}

void syscall_restart_leave(struct syscall_restart *restart, pid_t tid)
{
	uint64_t arguments[ARCH_ARGUMENTS];
	struct arch_dump dump;
	const struct call *call;

	if (!restart->is_counted)
		return;
	call = syscall_restart_look(tid, &dump, arguments);
	if (!call || call->limit != LIMIT_MILLISECONDS)
		return;
	arch_set_argument(&dump, call->argument, left_milliseconds(restart));
	ptrace_set_registers(tid, &dump);
}

/* Stops at system calls */

/* At the entry of the restarted call: sets its time-out to the remaining time. */
static void syscall_restart_change(struct syscall_restart *restart, pid_t tid,
				   struct arch_dump *dump, const struct call *call,
				   const uint64_t *arguments)
{
	uint64_t left = left_of(restart);
	int64_t time[2] = { (int64_t)(left / SECOND_NS), (int64_t)(left % SECOND_NS) };
	uint64_t value = left_milliseconds(restart);

	if (call->limit == LIMIT_TIMESPEC) {
		value = arch_below_stack(dump) - sizeof(time);
		if (ptrace_write_memory(tid, value, time, sizeof(time)) < 0)
			return;
	}
	restart->argument = arguments[call->argument];
	arch_set_argument(dump, call->argument, value);
	restart->is_changed = ptrace_set_registers(tid, dump) == 0;
}

static bool on_entry(struct syscall_restart *restart, pid_t tid)
{
	uint64_t arguments[ARCH_ARGUMENTS];
	struct arch_dump dump;
	const struct call *call;

	restart->is_due = false;
	if (ptrace_get_registers(tid, &dump) < 0)
		return false;
	call = find_call(arch_current_call(&dump, arguments));
	/* Another call is left unchanged: a handler of the program has run first. */
	if (call && syscall_restart_is_same(restart, &dump))
		syscall_restart_change(restart, tid, &dump, call, arguments);
	return restart->is_changed;
}

bool syscall_restart_at_call(struct syscall_restart *restart, pid_t tid)
{
	uint64_t arguments[ARCH_ARGUMENTS];
	struct arch_dump dump;
	const struct call *call;

	if (restart->is_due)
		return on_entry(restart, tid);
	if (!restart->is_changed || ptrace_get_registers(tid, &dump) < 0)
		return false;
	call = find_call(arch_current_call(&dump, arguments));
	restart->is_changed = false;
	restart->is_same = arch_was_interrupted(&dump);
	/* This stop has consumed the interrupt: without a new one, the program would get EINTR. */
	if (restart->is_same)
		ptrace_interrupt(tid);
	else
		restart->is_counted = false;
	if (call) {
		arch_set_argument(&dump, call->argument, restart->argument);
		ptrace_set_registers(tid, &dump);
	}
	return false;
}
