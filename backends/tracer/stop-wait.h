/*
 * stop-wait: waits for a traced thread to stop, without taking the processor from
 * that thread: a tracer that polls without sleeps, or with too short ones, delays
 * a thread on the same processor.
 *
 * SIGCHLD ends a sleep. The kernel may send it to another thread of this
 * process, so each sleep has a limit as well. SIGCHLD may also be meant for
 * waits.h: it is raised again at the end.
 */
#ifndef BACKENDS_TRACER_STOP_WAIT_H
#define BACKENDS_TRACER_STOP_WAIT_H

#include <signal.h>
#include <stdbool.h>

struct stop_wait {
	sigset_t before;
	long nanoseconds; /* limit of the next sleep */
	bool was_woken;
};

/* Before the first look: blocks SIGCHLD, so that none is missed from then on. */
void stop_wait_begin(struct stop_wait *stop_wait);
/* After each look that has found nothing: sleeps. */
void stop_wait_sleep(struct stop_wait *stop_wait);
void stop_wait_end(struct stop_wait *stop_wait);

#endif
