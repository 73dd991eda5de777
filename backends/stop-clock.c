#include "backends/stop-clock.h"

#include <math.h>
#include <stdlib.h>

#include "banned.h"
#include "base/array.h"

/* One deadline read twice differs by this: the two clocks are not read at the
 * same instant. */
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
