/*
 * rankmoves: whether and when a rank moved last (rank.h).
 */
#include <math.h>

#include "banned.h"
#include "model/rank.h"

/*
 * A rank counts as moving for this many seconds (or intervals between samples, if that is
 * longer) after its last movement, even if the two newest samples agree.
 */
#define MOVING_SECONDS 1.0
#define MOVING_SAMPLES 2.5
/*
 * The main thread's next change is overdue after PAUSES times the longest time between
 * two changes, since steps differ in length; at most PAUSE_MAXIMUM seconds. If the rank
 * was sampled for no longer than LOOK_SECONDS, no usual pause is known, and any change
 * counts.
 */
#define PAUSES 3.0
#define PAUSE_MAXIMUM 60.0
#define LOOK_SECONDS 5.0
/* A sleeping main thread that last woke more than this many seconds ago is in one long sleep. */
#define WAKE_SECONDS 60.0

bool rank_waits_for_itself(const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	switch (thread ? thread->activity.kind : ACTIVITY_UNKNOWN) {
	case ACTIVITY_DATA:
	case ACTIVITY_LOCK:
	case ACTIVITY_READ:
		return true;
	case ACTIVITY_COMPUTE:
	case ACTIVITY_PEERS:
	case ACTIVITY_SAVE:
	case ACTIVITY_TRAIN:
	case ACTIVITY_SLEEP:
	case ACTIVITY_TEARDOWN:
	case ACTIVITY_UNKNOWN:
		break;
	}
	return false;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

double rank_helped_at(const struct rank *rank)
{
	double at = -INFINITY;

	if (!rank_waits_for_itself(rank))
		return at;
	if (rank->last_helped_at >= 0)
		at = rank->last_helped_at;
	for (size_t i = 0; i < rank->child_count; i++) {
		const struct rank *child = rank->children[i];

		/* A child's first sample is no movement. */
		if (child->last_moved_at > child->first_sampled_at && child->last_moved_at > at)
			at = child->last_moved_at;
	}
	return at;
}

double rank_moved_at(const struct rank *rank)
{
	return larger(rank->last_moved_at, rank_helped_at(rank));
}

double rank_worked_at(const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	switch (thread ? thread->activity.kind : ACTIVITY_UNKNOWN) {
	case ACTIVITY_SAVE:
	case ACTIVITY_DATA:
	case ACTIVITY_TRAIN:
		return rank_moved_at(rank);
	case ACTIVITY_COMPUTE:
	case ACTIVITY_PEERS:
	case ACTIVITY_SLEEP:
	case ACTIVITY_LOCK:
	case ACTIVITY_READ:
	case ACTIVITY_TEARDOWN:
	case ACTIVITY_UNKNOWN:
		break;
	}
	return rank_helped_at(rank);
}

/* True if time is at most `seconds` before the newest sample; MOVING_SECONDS and MOVING_SAMPLES
 * are the least limit. */
static bool was_within(const struct rank *rank, double time, double seconds)
{
	double moment = larger(rank->interval * MOVING_SAMPLES, MOVING_SECONDS);

	return time > rank->first_sampled_at && rank->sampled_at - time <= larger(moment, seconds);
}

/* Seconds after a change until the next change is overdue. */
static double quiet_seconds(const struct rank *rank)
{
	double looked_for = rank->sampled_at - rank->first_sampled_at;
	double seconds = rank->longest_pause * PAUSES;

	if (seconds > PAUSE_MAXIMUM)
		seconds = PAUSE_MAXIMUM;
	return looked_for <= LOOK_SECONDS ? LOOK_SECONDS : seconds;
}

bool rank_is_moving(const struct rank *rank)
{
	return rank->state != RANK_STOPPED &&
	       (was_within(rank, rank_moved_at(rank), 0) || rank_is_changing(rank));
}

bool rank_is_working(const struct rank *rank)
{
	return was_within(rank, rank_worked_at(rank), 0);
}

bool rank_is_helped(const struct rank *rank)
{
	return was_within(rank, rank_helped_at(rank), 0);
}

bool rank_is_waking(const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	return thread && thread->activity.kind == ACTIVITY_SLEEP &&
	       was_within(rank, rank->last_woken_at, WAKE_SECONDS);
}

bool rank_is_changing(const struct rank *rank)
{
	return rank->state != RANK_STOPPED &&
	       was_within(rank, rank->last_changed_at, quiet_seconds(rank));
}

bool rank_is_leaving(const struct rank *rank)
{
	return was_within(rank, rank->last_left_at, quiet_seconds(rank));
}
