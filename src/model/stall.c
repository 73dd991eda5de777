#include "model/stall.h"

#include <math.h>
#include <stddef.h>

#include "banned.h"
#include "model/rank.h"
#include "model/session.h"
#include "model/wait-graph.h"
#include "model/wait-group.h"

/* Number of ranks by state. */
struct census {
	size_t waiting;	 /* waiting for their peers */
	size_t living;	 /* with a stack, including teardown */
	size_t teardown; /* in teardown */
	size_t unread;
	size_t outliers; /* outliers that are alive and not in teardown */
};

static bool stall_is_live(enum wait_group_role role)
{
	return role == WAIT_GROUP_WAITS || role == WAIT_GROUP_ELSEWHERE;
}

static struct census take_census(const struct session *session)
{
	struct census census = { .waiting = 0 };

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		enum wait_group_role role = wait_group_role_of(rank);

		census.waiting += role == WAIT_GROUP_WAITS;
		census.living += stall_is_live(role) || role == WAIT_GROUP_TEARDOWN;
		census.teardown += role == WAIT_GROUP_TEARDOWN;
		census.unread += role == WAIT_GROUP_UNREAD;
		census.outliers += stall_is_live(role) && rank->is_outlier;
	}
	return census;
}

static double later(double a, double b)
{
	return a > b ? a : b;
}

/* Session time since which the rank waits for its peers. */
static double waits_since(const struct rank *rank, double clock)
{
	double called_at = wait_graph_called_at(rank);

	if (clock < 0 || called_at < 0 || rank->last_changed_at > rank->first_sampled_at)
		return rank->last_changed_at;
	return fmin(called_at - clock, rank->last_changed_at);
}

/* Session time of the rank's last movement that counts for the rank's role; -INFINITY: none. */
static double moved_at(const struct rank *rank, const struct census *census, double clock)
{
	enum wait_group_role role = wait_group_role_of(rank);
	double helped_at = rank_helped_at(rank);
	bool is_helped = helped_at > rank->last_changed_at;
	double woken_at = rank_is_waking(rank) ? rank->last_woken_at : -INFINITY;

	if (!stall_is_live(role) && role != WAIT_GROUP_TEARDOWN)
		return -INFINITY;
	if (role == WAIT_GROUP_WAITS)
		return waits_since(rank, clock);
	if (census->waiting > 0)
		return rank_worked_at(rank);
	/* While there is an outlier, other ranks may spin at one line: CPU time does not count. */
	if (census->outliers > 0 && !rank->is_outlier)
		return later(is_helped ? helped_at : rank->last_changed_at, woken_at);
	return later(rank_moved_at(rank), woken_at);
}

static bool stall_may_stand(enum verdict_state state, const struct census *census)
{
	switch (state) {
	case VERDICT_HUNG:
	case VERDICT_CRASHED:
		return true;
	case VERDICT_UNKNOWN:
		return census->teardown == census->living;
	case VERDICT_PROGRESSING:
		/* The progress may be an endless loop, for which the others wait. */
		return census->waiting > 0 && census->outliers > 0;
	case VERDICT_STOPPED:
		break;
	}
	return false;
}

double stall_seconds(const struct session *session, double clock)
{
	struct census census = take_census(session);
	double least = INFINITY;

	if (census.living == 0 || census.unread > 0 ||
	    !stall_may_stand(session->verdict.state, &census))
		return 0;
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		double at = moved_at(rank, &census, clock);

		if (at > -INFINITY && rank->sampled_at - at < least)
			least = rank->sampled_at - at;
	}
	return least < INFINITY ? least : 0;
}

/* From here on: whether and when a rank moved last, declared in rank.h. */

/*
 * A rank counts as moving for this many seconds (or intervals between samples, if that is
 * longer) after its last movement, even if the two newest samples agree.
 */
#define MOVING_SECONDS 1.0
#define MOVING_SAMPLES 2.5
/*
 * The main thread's next change is overdue after PAUSES times the longest time between two changes,
 * since steps differ in length, but at most after PAUSE_MAXIMUM seconds. If the rank was sampled
 * for no longer than LOOK_SECONDS, its usual pause is unknown: then the next change is overdue
 * after LOOK_SECONDS.
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

		/* A child's first sample does not show a movement. */
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

/*
 * True if time is at most `seconds` before the newest sample; shorter limits than MOVING_SECONDS,
 * or than MOVING_SAMPLES intervals between samples, are raised to the longer of both.
 */
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

	if (looked_for <= LOOK_SECONDS)
		seconds = LOOK_SECONDS;
	if (seconds > PAUSE_MAXIMUM)
		seconds = PAUSE_MAXIMUM;
	if (rank->longest_wait > 0 && seconds > rank->longest_wait)
		seconds = rank->longest_wait;
	return seconds;
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
