#include "model/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "model/debug-state.h"
#include "model/rank-barrier.h"
#include "model/sentence.h"
#include "model/session.h"
#include "model/wait-group.h"

/*
 * A majority that uses processor time at one unchanged line computes, says
 * rule 4. After so long on that line it rather spins, waiting (NCCL and CUDA
 * do), if some rank is not with it.
 */
#define SPIN_SECONDS 10.0

/* Sleep is what a program does on purpose, so it takes longer to be odd. */
#define SLEEP_SECONDS 10.0

/*
 * Peers that wait for a rank that computes are well for as long as it takes;
 * so long they are not called hung, if nothing else was seen of them.
 */
#define LATE_SECONDS 2.0

static const char *const state_names[] = {
	[VERDICT_UNKNOWN] = "unknown",	       [VERDICT_HUNG] = "hung",
	[VERDICT_PROGRESSING] = "progressing", [VERDICT_CRASHED] = "crashed",
	[VERDICT_STOPPED] = "stopped",
};

const char *verdict_state_name(enum verdict_state state)
{
	return state_names[state];
}

void verdict_clear(struct verdict *verdict)
{
	for (size_t i = 0; i < verdict->class_count; i++)
		rankset_clear(&verdict->classes[i].ranks);
	free(verdict->classes);
	free(verdict->sentence);
	free(verdict->job);
	rankset_clear(&verdict->outliers);
	*verdict = (struct verdict){ .majority = -1 };
}

bool verdict_is_finding(const struct verdict *verdict)
{
	return verdict->outliers.range_count > 0 || verdict->state == VERDICT_HUNG ||
	       verdict->state == VERDICT_CRASHED;
}

static bool is_live(const struct wait_group *camp)
{
	return camp->role == WAIT_GROUP_WAITS || camp->role == WAIT_GROUP_ELSEWHERE;
}

/* Ranks of all camps of a role that changed lately. */
static size_t count_changing(const struct wait_group_list *camps, enum wait_group_role role)
{
	size_t count = 0;

	for (size_t i = 0; i < camps->count; i++) {
		if (camps->items[i].role == role)
			count += camps->items[i].changing_count;
	}
	return count;
}

/* Whether a rank is known not to wait for its peers. */
static bool has_late(const struct wait_group_list *camps)
{
	for (size_t i = 0; i < camps->count; i++) {
		if (camps->items[i].role == WAIT_GROUP_ELSEWHERE && !camps->items[i].is_unsettled)
			return true;
	}
	return false;
}

/* Whether a rank that is not with the waiting ones was, a moment ago. */
static bool has_leaver(const struct wait_group_list *camps)
{
	for (size_t i = 0; i < camps->count; i++) {
		if (camps->items[i].role == WAIT_GROUP_ELSEWHERE &&
		    camps->items[i].leaving_count > 0)
			return true;
	}
	return false;
}

static size_t count_moving(const struct wait_group_list *camps)
{
	size_t count = 0;

	for (size_t i = 0; i < camps->count; i++) {
		if (is_live(&camps->items[i]))
			count += camps->items[i].moving_count;
	}
	return count;
}

static size_t count_live(const struct wait_group_list *camps)
{
	return camps->role_counts[WAIT_GROUP_WAITS] + camps->role_counts[WAIT_GROUP_ELSEWHERE];
}

static bool is_any_held(const struct wait_group_list *camps)
{
	for (size_t i = 0; i < camps->count; i++) {
		if (debug_state_is_held(camps->items[i].first))
			return true;
	}
	return false;
}

static bool are_all_stopped(const struct wait_group_list *camps)
{
	for (size_t i = 0; i < camps->count; i++) {
		if (is_live(&camps->items[i]) && !camps->items[i].is_stopped)
			return false;
	}
	return true;
}

/* The camp of more than half of the ranks that could be read, or NULL. */
static const struct wait_group *find_majority(const struct wait_group_list *camps)
{
	for (size_t i = 0; i < camps->count; i++) {
		if (is_live(&camps->items[i]) && camps->items[i].count * 2 > count_live(camps))
			return &camps->items[i];
	}
	return NULL;
}

/*
 * Rule 3, where all wait or none does. What the majority does while it
 * changes from sample to sample is chance, and so is who is not with it.
 */
static enum finding find_in_majority(const struct wait_group_list *camps)
{
	const struct wait_group *majority = find_majority(camps);
	size_t changing = count_changing(camps, WAIT_GROUP_WAITS) +
			  count_changing(camps, WAIT_GROUP_ELSEWHERE);

	if (majority && majority->changing_count > 0)
		return FINDING_MOVING;
	if (majority)
		return majority->count == count_live(camps) ? FINDING_TOGETHER : FINDING_MAJORITY;
	return changing * 2 >= count_live(camps) ? FINDING_MOVING : FINDING_CAMPS;
}

static enum finding find(const struct wait_group_list *camps, size_t total)
{
	const size_t *counts = camps->role_counts;
	size_t live = count_live(camps);

	if (total == 0)
		return FINDING_NO_RANKS;
	if (counts[WAIT_GROUP_GONE] == total)
		return FINDING_ALL_GONE;
	if (counts[WAIT_GROUP_GONE] > 0 ||
	    (counts[WAIT_GROUP_TEARDOWN] > 0 && counts[WAIT_GROUP_TEARDOWN] < total))
		return FINDING_GONE;
	if (counts[WAIT_GROUP_TEARDOWN] == total)
		return FINDING_TOGETHER;
	if (is_any_held(camps))
		return FINDING_HELD;
	if (live == 0)
		return counts[WAIT_GROUP_UNREADABLE] > 0 ? FINDING_UNREADABLE : FINDING_UNREAD;
	if (are_all_stopped(camps))
		return FINDING_STOPPED;
	if (rank_barrier_is_any(camps))
		return FINDING_HOLDING;
	if (counts[WAIT_GROUP_WAITS] > 0 && counts[WAIT_GROUP_ELSEWHERE] > 0) {
		if (count_changing(camps, WAIT_GROUP_WAITS) > 0 || has_leaver(camps))
			return FINDING_MOVING;
		return has_late(camps) ? FINDING_LATE : FINDING_UNSETTLED;
	}
	return find_in_majority(camps);
}

/* Teardown is odd while others live; a gone rank always is. */
static bool is_leaver(const struct wait_group_list *camps, const struct wait_group *camp)
{
	if (camp->role == WAIT_GROUP_GONE || debug_state_is_outlier(camp->first))
		return true;
	return camp->role == WAIT_GROUP_TEARDOWN &&
	       (count_live(camps) > 0 || camps->role_counts[WAIT_GROUP_UNREADABLE] > 0);
}

/*
 * Where none lives: those that failed and ended first. The rest were ended for
 * it, by their launcher or by the lost connection. A code that is not known
 * (-1) is no failure.
 */
static bool is_culprit(const struct wait_group_list *camps, const struct wait_group *camp)
{
	const struct process *process = &camp->first->process;

	if (process->exit_signal <= 0 && process->exit_code <= 0)
		return false;
	for (size_t i = 0; i < camps->count; i++) {
		double ended_at = camps->items[i].ended_at;

		if (ended_at >= 0 && ended_at < camp->ended_at)
			return false;
	}
	return true;
}

static void mark_outliers(struct wait_group_list *camps, enum finding finding)
{
	const struct wait_group *majority = find_majority(camps);

	for (size_t i = 0; i < camps->count; i++) {
		struct wait_group *camp = &camps->items[i];

		if (finding == FINDING_GONE)
			camp->is_outlier = is_leaver(camps, camp);
		else if (finding == FINDING_ALL_GONE)
			camp->is_outlier = is_culprit(camps, camp);
		else if (finding == FINDING_HELD)
			camp->is_outlier = debug_state_is_outlier(camp->first);
		else if (finding == FINDING_LATE)
			camp->is_outlier =
				camp->role == WAIT_GROUP_ELSEWHERE && !camp->is_unsettled;
		else if (finding == FINDING_MAJORITY)
			camp->is_outlier = is_live(camp) && camp != majority;
	}
}

/* Whether a rank has gone that must have been here. */
static bool has_lost_one(const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rank->state == RANK_EXITED ||
		    (rank->state == RANK_NOT_FOUND && rank->is_missing && !rank->unseen))
			return true;
	}
	return false;
}

/* The state of ranks that live: rule 4. */
static enum verdict_state state_of_living(const struct wait_group_list *camps)
{
	if (!camps->is_sampled_twice || count_live(camps) == 0)
		return VERDICT_UNKNOWN;
	if (camps->role_counts[WAIT_GROUP_WAITS] > 0)
		return count_changing(camps, WAIT_GROUP_WAITS) > 0 ? VERDICT_PROGRESSING
								   : VERDICT_HUNG;
	if (count_moving(camps) > 0)
		return VERDICT_PROGRESSING;
	/* Short steps between long sleeps are never seen. */
	for (size_t i = 0; i < camps->count; i++) {
		if (camps->items[i].waking_count > 0)
			return VERDICT_UNKNOWN;
	}
	return VERDICT_HUNG;
}

static bool is_message_under_way(const struct wait_group_list *camps)
{
	for (size_t i = 0; i < camps->count; i++) {
		if (camps->items[i].role == WAIT_GROUP_WAITS &&
		    activity_is_point_to_point(&camps->items[i].main_thread->activity))
			return true;
	}
	return false;
}

/*
 * Camps that all wait, each for the others, have nothing to wait for, unless
 * a message may be on its way from one to the other.
 */
static double patience_with(const struct wait_group_list *camps, const struct wait_group *camp)
{
	if (camp->main_thread->activity.kind == ACTIVITY_SLEEP)
		return SLEEP_SECONDS;
	if (camps->role_counts[WAIT_GROUP_WAITS] == count_live(camps) &&
	    camp->count < count_live(camps) && !is_message_under_way(camps))
		return 0;
	return VERDICT_STILL_SECONDS;
}

/* Whether the camps have stood long enough to be called hung, or move. */
static bool is_patience_over(const struct wait_group_list *camps)
{
	if (count_moving(camps) > 0)
		return true;
	for (size_t i = 0; i < camps->count; i++) {
		const struct wait_group *camp = &camps->items[i];

		if (camp->main_thread && camp->unchanged < patience_with(camps, camp))
			return false;
	}
	return true;
}

/*
 * Peers wait, and nothing was seen of them. A late rank that works for itself
 * moves, until it spins; one that computes may be in a loop without an end.
 */
static enum verdict_state state_of_late(const struct wait_group_list *camps)
{
	double unchanged = INFINITY;
	bool is_computing = false;

	for (size_t i = 0; i < camps->count; i++) {
		const struct wait_group *camp = &camps->items[i];

		if (camp->role == WAIT_GROUP_WAITS && camp->unchanged < unchanged)
			unchanged = camp->unchanged;
		if (camp->role != WAIT_GROUP_ELSEWHERE)
			continue;
		is_computing = is_computing || camp->moving_count > 0;
		if (camps->is_sampled_twice &&
		    (camp->helped_count > 0 ||
		     (camp->working_count > 0 && camp->unchanged < SPIN_SECONDS)))
			return VERDICT_PROGRESSING;
	}
	if (is_computing && unchanged < LATE_SECONDS)
		return VERDICT_UNKNOWN;
	return state_of_living(camps);
}

static enum verdict_state state_of_majority(const struct wait_group_list *camps)
{
	const struct wait_group *majority = find_majority(camps);

	if (!camps->is_sampled_twice)
		return VERDICT_UNKNOWN;
	if (majority->helped_count > 0 ||
	    (majority->moving_count > 0 && majority->unchanged < SPIN_SECONDS))
		return VERDICT_PROGRESSING;
	if (majority->role == WAIT_GROUP_WAITS && !is_patience_over(camps))
		return VERDICT_UNKNOWN;
	if (majority->waking_count > 0)
		return VERDICT_UNKNOWN;
	return VERDICT_HUNG;
}

/* A rank that could not be read may be at what the others wait for. */
static enum verdict_state without_unread(const struct wait_group_list *camps,
					 enum verdict_state state)
{
	return state == VERDICT_HUNG && camps->role_counts[WAIT_GROUP_UNREADABLE] > 0
		       ? VERDICT_UNKNOWN
		       : state;
}

static enum verdict_state state_of(const struct session *session,
				   const struct wait_group_list *camps, enum finding finding)
{
	switch (finding) {
	case FINDING_NO_RANKS:
	case FINDING_UNREAD:
	case FINDING_UNREADABLE:
	case FINDING_UNSETTLED:
	case FINDINGS:
		return VERDICT_UNKNOWN;
	case FINDING_ALL_GONE:
		for (size_t i = 0; i < camps->count; i++) {
			if (camps->items[i].is_outlier)
				return VERDICT_CRASHED;
		}
		return VERDICT_UNKNOWN;
	case FINDING_GONE:
		return has_lost_one(session) ? VERDICT_CRASHED : state_of_living(camps);
	case FINDING_HELD:
	case FINDING_STOPPED:
		return VERDICT_STOPPED;
	case FINDING_HOLDING:
		return rank_barrier_state(camps);
	case FINDING_MAJORITY:
		return without_unread(camps, state_of_majority(camps));
	case FINDING_MOVING:
		return camps->is_sampled_twice ? VERDICT_PROGRESSING : VERDICT_UNKNOWN;
	case FINDING_CAMPS:
	case FINDING_TOGETHER:
		return is_patience_over(camps) ? without_unread(camps, state_of_living(camps))
					       : VERDICT_UNKNOWN;
	case FINDING_LATE:
		break;
	}
	return state_of_late(camps);
}

/*
 * The majority's glyph is the first, an outlier's the second (without one the
 * smallest class's), and the further classes have the further ones.
 */
static void mark_classes(struct verdict *verdict)
{
	int next = 2;
	bool has_first = false;
	bool has_second = false;
	bool has_outlier = verdict->outliers.range_count > 0;

	for (size_t i = 0; i < verdict->class_count; i++) {
		struct rank_class *class = &verdict->classes[i];
		bool is_odd = has_outlier ? class->is_outlier : i == verdict->class_count - 1;

		if (!has_first && !class->is_outlier) {
			class->mark = 0;
			has_first = true;
		} else if (!has_second && is_odd) {
			class->mark = 1;
			has_second = true;
		} else {
			class->mark = next++;
		}
	}
}

static void note_ranks(struct verdict *verdict, struct session *session,
		       const struct wait_group_list *camps, const size_t *class_camps)
{
	for (size_t i = 0; i < verdict->class_count; i++) {
		struct rank_class *class = &verdict->classes[i];

		class->is_outlier = camps->items[class_camps[i]].is_outlier;
		if (rankset_count(&class->ranks) * 2 > session->rank_count)
			verdict->majority = (int)i;
	}
	for (size_t i = 0; i < session->rank_count; i++) {
		struct rank *rank = session->ranks[i];

		rank->is_outlier = verdict->classes[rank->class_index].is_outlier;
		if (rank->is_outlier)
			rankset_add(&verdict->outliers, rank->process.rank);
		if (!rank_is_gone(rank))
			verdict->ranks_found++;
		if (rank->process.world_size > verdict->world_size)
			verdict->world_size = rank->process.world_size;
	}
	mark_classes(verdict);
}

void verdict_make(struct verdict *verdict, struct session *session)
{
	struct buffer sentence = BUFFER_INIT;
	struct wait_group_list camps;
	size_t *class_camps;
	enum finding finding;

	verdict_clear(verdict);
	class_camps = wait_groups_make(&camps, verdict, session);
	finding = find(&camps, session->rank_count);
	mark_outliers(&camps, finding);
	verdict->state = state_of(session, &camps, finding);
	note_ranks(verdict, session, &camps, class_camps);
	sentence_append(&sentence, session, &camps, finding, verdict->state == VERDICT_HUNG);
	verdict->sentence = buffer_take(&sentence);
	verdict->job = xstrdup(session->job >= 0 ? session->jobs[session->job].name : "");
	free(class_camps);
	wait_groups_clear(&camps);
}
