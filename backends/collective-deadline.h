/*
 * collective-deadline: when the collectives that a process has in flight time out, read
 * from outside.
 *
 * A C++ condition variable with a time-out waits in futex(2) (FUTEX_WAIT_BITSET),
 * whose fourth argument points to an absolute time on CLOCK_MONOTONIC or
 * CLOCK_REALTIME. The threads that carry out gloo's collectives
 * (pt_gloo_runloop) wait in this call, and so does the main thread in gloo's
 * send and recv. A thread that a tracer has stopped and resumed meanwhile waits
 * in restart_syscall(2). NCCL's watchdog thread keeps NCCL's time-outs in its
 * memory: no system call shows them.
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
	bool is_main; /* the main thread, which may wait for something else */
};

struct deadlines {
	struct collective_deadline waits[DEADLINES_MAXIMUM];
	size_t count;
	bool has_gloo; /* a thread has the name of gloo's workers */
	bool has_nccl;
};

/* Parses a line of /proc/PID/task/TID/syscall. True: the thread is in a futex(2),
 * begun or restarted, with a deadline at *address of the process (a timespec). */
bool collective_deadline_parse(const char *line, uint64_t *address, bool *is_realtime);
/* Reads the deadlines of a process's threads. Left out: threads that cannot be
 * read, and waits that end within 0.1 s, which may be for the GIL. Takes some
 * microseconds per thread. */
void deadlines_read(struct deadlines *deadlines, pid_t pid);
/* Returns the seconds until the first of gloo's threads times out; -1: none waits. */
double deadlines_left(const struct deadlines *deadlines, double now);

/*
 * Until when the ranks of one job may stay stopped, from the
 * deadlines of the collectives that wait for these ranks. Arithmetic only:
 * stop_limit reads the deadlines and resumes the ranks.
 *
 * Each wait has a deadline and the time at which the wait was first read while
 * ranks were stopped. The ranks are due to be resumed after four fifths of the
 * time between, or 2 s before the deadline if that is earlier, but not before half
 * of that time: a loaded machine needs some time to resume them. A wait for which
 * ranks were resumed is spent: until its collective ends, ranks that stop are due
 * at once.
 */

/* Shares of the time until the deadline; REST in seconds. */
#define STOP_CLOCK_SHARE 0.8
#define STOP_CLOCK_SHARE_MINIMUM 0.5
#define STOP_CLOCK_REST 2.0

struct stop_clock_wait {
	pid_t pid;	 /* of the rank that waits */
	pid_t tid;	 /* the waiting thread; 0: the deadline is assumed, not read */
	double deadline; /* all times in seconds on the clock of the caller's `now` */
	double seen;	 /* time when the wait was first read */
	bool is_spent;	 /* ranks were resumed for this wait */
	bool is_there;	 /* read in the newest pass, or assumed */
};

struct stop_clock {
	struct stop_clock_wait *waits;
	size_t count;
	size_t capacity;
};

void stop_clock_clear(struct stop_clock *clock);
/* Begin and end a pass, which gives all waits of the job to stop_clock_see(); waits
 * that were not given are dropped, except assumed ones. */
void stop_clock_begin(struct stop_clock *clock);
void stop_clock_see(struct stop_clock *clock, pid_t pid, pid_t tid, double deadline, double now);
void stop_clock_end(struct stop_clock *clock);
/* Assumes that the collectives of a rank time out `seconds` after now; ignored if a
 * deadline is assumed for the rank already. */
void stop_clock_assume(struct stop_clock *clock, pid_t pid, double seconds, double now);
/* Forgets all assumed deadlines. */
void stop_clock_drop_assumed(struct stop_clock *clock);
/* Returns the wait for which the ranks are due first; NULL: no wait. */
const struct stop_clock_wait *stop_clock_first(const struct stop_clock *clock);
/* Returns the time when the ranks are due for this wait, wait->seen or later. */
double hold_wait_due(const struct stop_clock_wait *wait);
/* Marks each wait that is due as spent: the ranks were resumed. */
void stop_clock_spend(struct stop_clock *clock, double now);

#endif
