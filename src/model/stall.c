#include "model/stall.h"

#include <math.h>
#include <stddef.h>

#include "banned.h"
#include "model/session.h"
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

/* Session time of the rank's last movement that counts; -INFINITY: none. */
static double moved_at(const struct rank *rank, const struct census *census)
{
	enum wait_group_role role = wait_group_role_of(rank);
	double helped_at = rank_helped_at(rank);
	bool is_helped = helped_at > rank->last_changed_at;
	double woken_at = rank_is_waking(rank) ? rank->last_woken_at : -INFINITY;

	if (!stall_is_live(role) && role != WAIT_GROUP_TEARDOWN)
		return -INFINITY;
	if (role == WAIT_GROUP_WAITS)
		return rank->last_changed_at;
	if (census->waiting > 0)
		return rank_worked_at(rank);
	/* While there is an outlier, the majority may spin at one line: CPU time does not count. */
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
	case VERDICT_STOPPED:
		break;
	}
	return false;
}

double stall_seconds(const struct session *session)
{
	struct census census = take_census(session);
	double least = INFINITY;

	if (census.living == 0 || census.unread > 0 ||
	    !stall_may_stand(session->verdict.state, &census))
		return 0;
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		double at = moved_at(rank, &census);

		if (at > -INFINITY && rank->sampled_at - at < least)
			least = rank->sampled_at - at;
	}
	return least < INFINITY ? least : 0;
}
