/*
 * stop-clock: until when the ranks of one job may stay stopped, from the
 * deadlines of the collectives that wait for these ranks. Arithmetic only:
 * stop_limit reads the deadlines and resumes the ranks.
 *
 * Each wait has a deadline and the time at which the wait was first read while
 * ranks were stopped. The ranks are due to be resumed when four fifths of the
 * time between are over, and 2 s before the deadline at the latest, or when half
 * of the time is over: a loaded machine needs some time to resume them. A wait for which ranks were
 * resumed is spent: until its collective ends, ranks that stop are due at once.
 */
#ifndef BACKENDS_STOP_CLOCK_H
#define BACKENDS_STOP_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Of what is left, before the ranks are resumed. */
#define STOP_CLOCK_SHARE 0.8
#define STOP_CLOCK_SHARE_MINIMUM 0.5
#define STOP_CLOCK_REST 2.0

struct stop_clock_wait {
	pid_t pid;	 /* of the rank that waits */
	pid_t tid;	 /* 0: it is assumed, not read */
	double deadline; /* all times are on one clock */
	double seen;	 /* first */
	bool is_spent;
	bool is_there; /* in the newest look, or assumed */
};

struct stop_clock {
	struct stop_clock_wait *waits;
	size_t count;
	size_t capacity;
};

void stop_clock_clear(struct stop_clock *clock);
/* Begin and end a look: all waits of the job are passed to stop_clock_see() in
 * between; those that are not passed are dropped, but for assumed ones. */
void stop_clock_begin(struct stop_clock *clock);
void stop_clock_see(struct stop_clock *clock, pid_t pid, pid_t tid, double deadline, double now);
void stop_clock_end(struct stop_clock *clock);
/* The collectives of that rank time out so many seconds after the first call
 * for it since the last stop_clock_drop_assumed(). */
void stop_clock_assume(struct stop_clock *clock, pid_t pid, double seconds, double now);
void stop_clock_drop_assumed(struct stop_clock *clock);
/* Lends the wait for which the ranks are resumed first; NULL: none. */
const struct stop_clock_wait *stop_clock_first(const struct stop_clock *clock);
/* When: not before it was seen. */
double hold_wait_due(const struct stop_clock_wait *wait);
/* The ranks were resumed: each wait that is due is spent. */
void stop_clock_spend(struct stop_clock *clock, double now);

#endif
