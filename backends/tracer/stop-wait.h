/*
 * stop-wait: waiting for a thread that we trace to stand, without taking the
 * processor from it: who looks again and again, or sleeps for too short a
 * time, keeps a thread that shares his processor from getting there.
 *
 * SIGCHLD wakes. It may go to another thread of ours, so it is not relied
 * upon: a sleep ends by itself, too. And it may be one for others (waits.h):
 * it is sent anew at the end.
 */
#ifndef BACKENDS_TRACER_STOP_WAIT_H
#define BACKENDS_TRACER_STOP_WAIT_H

#include <signal.h>
#include <stdbool.h>

struct stop_wait {
	sigset_t before;
	long nanoseconds; /* of the next sleep at most */
	bool was_woken;
};

/* Before the first look: from then on no signal is missed. */
void stop_wait_begin(struct stop_wait *stop_wait);
/* After each look that has found nothing. */
void stop_wait_sleep(struct stop_wait *stop_wait);
void stop_wait_end(struct stop_wait *stop_wait);

#endif
