#include "backends/collective-deadline.h"

#include <dirent.h>
#include <linux/futex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include "backends/linux/task.h"
#include "banned.h"
#include "base/array.h"
#include "base/loop.h"

/* Names that torch and NCCL give to their threads; Linux keeps 15 characters. */
#define GLOO_WORKER "pt_gloo_runloop"
#define NCCL_PART "nccl"
/* Seconds; if a "deadline" is further away, the bytes read are unrelated memory, not a time-out. */
#define YEARS (10 * 365 * 86400.0)
/* Seconds. Waits that end sooner are ignored: a gloo thread that frees a tensor waits for the GIL
 * with a time-out of some ms. */
#define GIL_SECONDS 0.1

/*
 * If the call is a futex(2) that waits with a deadline, sets *address (in the process) and
 * *is_realtime, and returns true.
 */
static bool find_deadline(const struct task_syscall *call, uint64_t *address, bool *is_realtime)
{
	const uint64_t *arguments = call->arguments;

	if (arguments[3] == 0 || (arguments[1] & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET)
		return false;
	/* restart_syscall(2) keeps the arguments of the interrupted call in the registers. That
	 * call may also be poll(2), whose second argument does not have the bits of a futex
	 * command. */
	if (call->number != SYS_futex &&
	    (call->number != SYS_restart_syscall || !(arguments[1] & FUTEX_PRIVATE_FLAG)))
		return false;
	*address = arguments[3];
	*is_realtime = arguments[1] & FUTEX_CLOCK_REALTIME;
	return true;
}

bool collective_deadline_parse(const char *line, uint64_t *address, bool *is_realtime)
{
	struct task_syscall call;

	task_syscall_parse(&call, line);
	return find_deadline(&call, address, is_realtime);
}

static bool collective_deadline_read_name(pid_t pid, const char *tid, char *out, size_t size)
{
	char path[80];
	FILE *file;
	bool is_read;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", (int)pid, tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fgets(out, (int)size, file) != NULL;
	fclose(file);
	if (is_read)
		out[strcspn(out, "\n")] = '\0';
	return is_read;
}

static double clock_seconds(clockid_t clock)
{
	struct timespec now = { 0, 0 };

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/*
 * Returns the thread's deadline on the clock of loop_now(); 0: the thread waits without a deadline.
 */
static double read_deadline(pid_t pid, pid_t tid)
{
	struct task_syscall call;
	uint64_t address;
	bool is_realtime;
	int64_t times[2];
	struct iovec to = { times, sizeof(times) };
	struct iovec from = { NULL, sizeof(times) };
	double left;

	if (!task_syscall_read(&call, pid, tid) || !find_deadline(&call, &address, &is_realtime))
		return 0;
	from.iov_base = (void *)(uintptr_t)address;
	if (process_vm_readv(pid, &to, 1, &from, 1, 0) != sizeof(times))
		return 0;
	left = (double)times[0] + (double)times[1] / 1e9 -
	       clock_seconds(is_realtime ? CLOCK_REALTIME : CLOCK_MONOTONIC);
	return left > -1 && left < YEARS ? loop_now() + left : 0;
}

static void collective_deadline_look(struct deadlines *deadlines, pid_t pid, const char *tid)
{
	pid_t number = (pid_t)strtol(tid, NULL, 10);
	bool is_main = number == pid;
	char name[32] = "";
	struct collective_deadline *wait;
	double at;

	if (!collective_deadline_read_name(pid, tid, name, sizeof(name)))
		return;
	deadlines->has_nccl |= strcasestr(name, NCCL_PART) != NULL;
	if (strcmp(name, GLOO_WORKER) == 0)
		deadlines->has_gloo = true;
	else if (!is_main)
		return;
	at = read_deadline(pid, number);
	if (at == 0 || deadlines->count == DEADLINES_MAXIMUM || at - loop_now() < GIL_SECONDS)
		return;
	wait = &deadlines->waits[deadlines->count++];
	*wait = (struct collective_deadline){
		.tid = number,
		.at = at,
		.is_main = is_main,
	};
}

void deadlines_read(struct deadlines *deadlines, pid_t pid)
{
	const struct dirent *entry;
	char path[40];
	DIR *tasks;

	memset(deadlines, 0, sizeof(*deadlines));
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			collective_deadline_look(deadlines, pid, entry->d_name);
	closedir(tasks);
}

double deadlines_left(const struct deadlines *deadlines, double now)
{
	double least = -1;

	for (size_t i = 0; i < deadlines->count; i++) {
		const struct collective_deadline *wait = &deadlines->waits[i];
		double left = wait->at > now ? wait->at - now : 0;

		if (!wait->is_main && (least < 0 || left < least))
			least = left;
	}
	return least;
}

/* Seconds by which two reads of one deadline differ at most: each read compares two clocks, which
 * are not read at the same instant. */
#define SAME_SECONDS 0.05

void stop_clock_clear(struct stop_clock *clock)
{
	free(clock->waits);
	*clock = (struct stop_clock){ .waits = NULL };
}

static struct stop_clock_wait *stop_clock_find(struct stop_clock *clock, pid_t pid, pid_t tid)
{
	for (size_t i = 0; i < clock->count; i++)
		if (clock->waits[i].pid == pid && clock->waits[i].tid == tid)
			return &clock->waits[i];
	return NULL;
}

static struct stop_clock_wait *stop_clock_add(struct stop_clock *clock)
{
	ARRAY_GROW(clock->waits, clock->count, clock->capacity);
	return &clock->waits[clock->count++];
}

void stop_clock_begin(struct stop_clock *clock)
{
	for (size_t i = 0; i < clock->count; i++)
		clock->waits[i].is_there = clock->waits[i].tid == 0;
}

void stop_clock_see(struct stop_clock *clock, pid_t pid, pid_t tid, double deadline, double now)
{
	struct stop_clock_wait *wait = stop_clock_find(clock, pid, tid);

	if (wait && fabs(wait->deadline - deadline) < SAME_SECONDS) {
		wait->is_there = true;
		return;
	}
	if (!wait)
		wait = stop_clock_add(clock);
	*wait = (struct stop_clock_wait){
		.pid = pid,
		.tid = tid,
		.deadline = deadline,
		.seen = now,
		.is_there = true,
	};
}

static void stop_clock_keep(struct stop_clock *clock,
			    bool (*is_kept)(const struct stop_clock_wait *wait))
{
	size_t count = 0;

	for (size_t i = 0; i < clock->count; i++)
		if (is_kept(&clock->waits[i]))
			clock->waits[count++] = clock->waits[i];
	clock->count = count;
}

static bool stop_clock_is_there(const struct stop_clock_wait *wait)
{
	return wait->is_there;
}

static bool was_read(const struct stop_clock_wait *wait)
{
	return wait->tid != 0;
}

void stop_clock_end(struct stop_clock *clock)
{
	stop_clock_keep(clock, stop_clock_is_there);
}

void stop_clock_assume(struct stop_clock *clock, pid_t pid, double seconds, double now)
{
	struct stop_clock_wait *wait = stop_clock_find(clock, pid, 0);

	if (wait)
		return;
	wait = stop_clock_add(clock);
	*wait = (struct stop_clock_wait){
		.pid = pid,
		.deadline = now + seconds,
		.seen = now,
		.is_there = true,
	};
}

void stop_clock_drop_assumed(struct stop_clock *clock)
{
	stop_clock_keep(clock, was_read);
}

double hold_wait_due(const struct stop_clock_wait *wait)
{
	double left = wait->deadline - wait->seen;
	double held = fmin(STOP_CLOCK_SHARE * left, left - STOP_CLOCK_REST);

	if (wait->is_spent || left <= 0)
		return wait->seen;
	return wait->seen + fmax(held, STOP_CLOCK_SHARE_MINIMUM * left);
}

const struct stop_clock_wait *stop_clock_first(const struct stop_clock *clock)
{
	const struct stop_clock_wait *first = NULL;

	for (size_t i = 0; i < clock->count; i++)
		if (!first || hold_wait_due(&clock->waits[i]) < hold_wait_due(first))
			first = &clock->waits[i];
	return first;
}

void stop_clock_spend(struct stop_clock *clock, double now)
{
	for (size_t i = 0; i < clock->count; i++)
		if (hold_wait_due(&clock->waits[i]) <= now)
			clock->waits[i].is_spent = true;
}
