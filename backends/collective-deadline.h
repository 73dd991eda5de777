/*
 * collective-deadline: when the collectives that a process has in flight time out, read
 * from outside.
 *
 * A C++ condition variable with a time-out waits in futex(2) (FUTEX_WAIT_BITSET), whose fourth
 * argument points to the deadline, an absolute time on CLOCK_MONOTONIC or CLOCK_REALTIME. The
 * threads that carry out gloo's collectives (pt_gloo_runloop) wait in this call, and so does the
 * main thread in gloo's send and recv. After a tracer has stopped and resumed such a thread, the
 * thread waits in restart_syscall(2). NCCL's watchdog thread keeps NCCL's time-outs in its memory:
 * no system call shows them.
 */
#ifndef BACKENDS_COLLECTIVE_DEADLINE_H
#define BACKENDS_COLLECTIVE_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEADLINES_MAXIMUM 64

struct collective_deadline {
	pid_t tid;
	double at;    /* the deadline, seconds on the clock of loop_now() */
	bool is_main; /* tid is the main thread, which may wait for something else than a
		       * collective */
};

struct deadlines {
	struct collective_deadline waits[DEADLINES_MAXIMUM];
	size_t count;
	bool has_gloo; /* a thread has the name of gloo's workers */
	bool has_nccl;
};

/* Parses a line of /proc/PID/task/TID/syscall. Returns true if the thread is in a futex(2), begun
 * or restarted, with a deadline: a timespec at *address in the process's memory. */
bool collective_deadline_parse(const char *line, uint64_t *address, bool *is_realtime);
/* Reads the deadlines of a process's threads. Threads that cannot be read are left out, and so
 * are waits that end within 0.1 s, which may be waits for the GIL. Takes some microseconds per
 * thread. */
void deadlines_read(struct deadlines *deadlines, pid_t pid);
/* Returns the seconds until the first wait of gloo's worker threads times out; -1: no worker
 * waits. */
double deadlines_left(const struct deadlines *deadlines, double now);

/*
 * Stop clock: computes until when the ranks of one job may stay stopped, from the deadlines of the
 * collectives that wait for these ranks. It only computes: stop-limit.c reads the deadlines and
 * resumes the ranks.
 *
 * Each wait has a deadline and the time at which the wait was first read while ranks were stopped.
 * The ranks are due (to be resumed) when four fifths of the time from that first reading to the
 * deadline have passed, or 2 s before the deadline if that is earlier (a loaded machine needs some
 * time to resume them), but never before half of the time has passed. After the resume the wait is
 * spent: if ranks stop again before its collective ends, they are due at once.
 */

/* Share of the time until the deadline after which the ranks are due. */
#define STOP_CLOCK_SHARE 0.8
/* Share of the time before which the ranks are never due. */
#define STOP_CLOCK_SHARE_MINIMUM 0.5
/* Seconds before the deadline at which the ranks are due at the latest. */
#define STOP_CLOCK_REST 2.0

struct stop_clock_wait {
	pid_t pid;	 /* pid of the rank that waits */
	pid_t tid;	 /* the waiting thread; 0: the deadline is assumed, not read */
	double deadline; /* like `seen`: seconds on the clock of the caller's `now` */
	double seen;	 /* time when the wait was first read */
	bool is_spent;	 /* ranks were resumed for this wait */
	bool is_there;	 /* the newest pass has read the wait, or its deadline is assumed */
};

struct stop_clock {
	struct stop_clock_wait *waits;
	size_t count;
	size_t capacity;
};

void stop_clock_clear(struct stop_clock *clock);
/* A pass over all waits of the job: the caller calls stop_clock_begin(), stop_clock_see() for each
 * wait, and stop_clock_end(), which drops the waits that were not passed to stop_clock_see(),
 * except assumed waits. */
void stop_clock_begin(struct stop_clock *clock);
void stop_clock_see(struct stop_clock *clock, pid_t pid, pid_t tid, double deadline, double now);
void stop_clock_end(struct stop_clock *clock);
/* Adds an assumed wait: the collectives of the rank time out `seconds` after now. Ignored if the
 * rank has an assumed wait already. */
void stop_clock_assume(struct stop_clock *clock, pid_t pid, double seconds, double now);
/* Drops all assumed waits. */
void stop_clock_drop_assumed(struct stop_clock *clock);
/* Returns the wait for which the ranks are due the earliest; NULL: no wait. */
const struct stop_clock_wait *stop_clock_first(const struct stop_clock *clock);
/* Returns the time when the ranks are due for this wait, wait->seen or later. */
double hold_wait_due(const struct stop_clock_wait *wait);
/* Marks each wait that is due as spent: the ranks were resumed. */
void stop_clock_spend(struct stop_clock *clock, double now);

#endif
