#include "backends/stop-clock.h"

#include <math.h>
#include <stdlib.h>

#include "banned.h"
#include "base/array.h"

/* One deadline read twice differs by this: the two clocks are not read at the
 * same instant. */
#define SAME_SECONDS 0.05

void hold_clock_clear(struct hold_clock *clock)
{
	free(clock->waits);
	*clock = (struct hold_clock){ .waits = NULL };
}

static struct hold_wait *stop_clock_find(struct hold_clock *clock, pid_t pid, pid_t tid)
{
	for (size_t i = 0; i < clock->count; i++)
		if (clock->waits[i].pid == pid && clock->waits[i].tid == tid)
			return &clock->waits[i];
	return NULL;
}

static struct hold_wait *stop_clock_add(struct hold_clock *clock)
{
	ARRAY_GROW(clock->waits, clock->count, clock->capacity);
	return &clock->waits[clock->count++];
}

void hold_clock_begin(struct hold_clock *clock)
{
	for (size_t i = 0; i < clock->count; i++)
		clock->waits[i].is_there = clock->waits[i].tid == 0;
}

void hold_clock_see(struct hold_clock *clock, pid_t pid, pid_t tid, double deadline, double now)
{
	struct hold_wait *wait = stop_clock_find(clock, pid, tid);

	if (wait && fabs(wait->deadline - deadline) < SAME_SECONDS) {
		wait->is_there = true;
		return;
	}
	if (!wait)
		wait = stop_clock_add(clock);
	*wait = (struct hold_wait){
		.pid = pid,
		.tid = tid,
		.deadline = deadline,
		.seen = now,
		.is_there = true,
	};
}

static void stop_clock_keep(struct hold_clock *clock, bool (*is_kept)(const struct hold_wait *wait))
{
	size_t count = 0;

	for (size_t i = 0; i < clock->count; i++)
		if (is_kept(&clock->waits[i]))
			clock->waits[count++] = clock->waits[i];
	clock->count = count;
}

static bool stop_clock_is_there(const struct hold_wait *wait)
{
	return wait->is_there;
}

static bool was_read(const struct hold_wait *wait)
{
	return wait->tid != 0;
}

void hold_clock_end(struct hold_clock *clock)
{
	stop_clock_keep(clock, stop_clock_is_there);
}

void hold_clock_assume(struct hold_clock *clock, pid_t pid, double seconds, double now)
{
	struct hold_wait *wait = stop_clock_find(clock, pid, 0);

	if (wait)
		return;
	wait = stop_clock_add(clock);
	*wait = (struct hold_wait){
		.pid = pid,
		.deadline = now + seconds,
		.seen = now,
		.is_there = true,
	};
}

void hold_clock_drop_assumed(struct hold_clock *clock)
{
	stop_clock_keep(clock, was_read);
}

double hold_wait_due(const struct hold_wait *wait)
{
	double left = wait->deadline - wait->seen;
	double held = fmin(HOLD_CLOCK_SHARE * left, left - HOLD_CLOCK_REST);

	if (wait->is_spent || left <= 0)
		return wait->seen;
	return wait->seen + fmax(held, HOLD_CLOCK_SHARE_MINIMUM * left);
}

const struct hold_wait *hold_clock_first(const struct hold_clock *clock)
{
	const struct hold_wait *first = NULL;

	for (size_t i = 0; i < clock->count; i++)
		if (!first || hold_wait_due(&clock->waits[i]) < hold_wait_due(first))
			first = &clock->waits[i];
	return first;
}

void hold_clock_spend(struct hold_clock *clock, double now)
{
	for (size_t i = 0; i < clock->count; i++)
		if (hold_wait_due(&clock->waits[i]) <= now)
			clock->waits[i].is_spent = true;
}
