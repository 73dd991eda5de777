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
#define HOLD_CLOCK_SHARE 0.8
#define HOLD_CLOCK_SHARE_MINIMUM 0.5
#define HOLD_CLOCK_REST 2.0

struct hold_wait {
	pid_t pid;	 /* of the rank that waits */
	pid_t tid;	 /* 0: it is assumed, not read */
	double deadline; /* all times are on one clock */
	double seen;	 /* first */
	bool is_spent;
	bool is_there; /* in the newest look, or assumed */
};

struct hold_clock {
	struct hold_wait *waits;
	size_t count;
	size_t capacity;
};

void hold_clock_clear(struct hold_clock *clock);
/* Begin and end a look: all waits of the job are passed to hold_clock_see() in
 * between; those that are not passed are dropped, but for assumed ones. */
void hold_clock_begin(struct hold_clock *clock);
void hold_clock_see(struct hold_clock *clock, pid_t pid, pid_t tid, double deadline, double now);
void hold_clock_end(struct hold_clock *clock);
/* The collectives of that rank time out so many seconds after the first call
 * for it since the last hold_clock_drop_assumed(). */
void hold_clock_assume(struct hold_clock *clock, pid_t pid, double seconds, double now);
void hold_clock_drop_assumed(struct hold_clock *clock);
/* Lends the wait for which the ranks are resumed first; NULL: none. */
const struct hold_wait *hold_clock_first(const struct hold_clock *clock);
/* When: not before it was seen. */
double hold_wait_due(const struct hold_wait *wait);
/* The ranks were resumed: each wait that is due is spent. */
void hold_clock_spend(struct hold_clock *clock, double now);

#endif
