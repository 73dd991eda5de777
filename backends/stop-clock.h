/*
 * stop-clock: until when the ranks of one job may stay stopped, from the
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
#ifndef BACKENDS_STOP_CLOCK_H
#define BACKENDS_STOP_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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
