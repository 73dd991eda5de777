#include "model/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/sentence.h"
#include "model/session.h"
#include "model/wait-graph.h"
#include "model/wait-group.h"
#include "protocol/stack.h"

/*
 * A majority that uses CPU time at one unchanged line counts as computing. After this many seconds
 * at that line it probably spins in a wait (NCCL and CUDA do), if some rank is elsewhere.
 */
#define SPIN_SECONDS 10.0

/* Seconds before a sleeping rank is called hung, because programs sleep on purpose. */
#define SLEEP_SECONDS 10.0

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

/* True if all members of a nonempty set are in the other. */
static bool is_subset(const struct rankset *ranks, const struct rankset *all)
{
	struct rankset rest = RANKSET_INIT;
	bool is_within;

	rankset_copy(&rest, ranks);
	rankset_subtract(&rest, all);
	is_within = ranks->range_count > 0 && rest.range_count == 0;
	rankset_clear(&rest);
	return is_within;
}

static bool are_disjoint(const struct rankset *a, const struct rankset *b)
{
	struct rankset rest = RANKSET_INIT;
	bool are_apart;

	rankset_copy(&rest, a);
	rankset_subtract(&rest, b);
	are_apart = rankset_is_equal(&rest, a);
	rankset_clear(&rest);
	return are_apart;
}

static bool verdict_is_live(const struct wait_group *wait_group)
{
	return wait_group->role == WAIT_GROUP_WAITS || wait_group->role == WAIT_GROUP_ELSEWHERE;
}

/* Number of ranks that changed recently, in all wait groups of a role. */
static size_t count_changing(const struct wait_group_list *wait_groups, enum wait_group_role role)
{
	size_t count = 0;

	for (size_t i = 0; i < wait_groups->count; i++) {
		if (wait_groups->items[i].role == role)
			count += wait_groups->items[i].changing_count;
	}
	return count;
}

/* True if a rank is known not to wait for its peers. */
static bool verdict_has_late(const struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (wait_groups->items[i].role == WAIT_GROUP_ELSEWHERE &&
		    !wait_groups->items[i].is_unsettled)
			return true;
	}
	return false;
}

/* True if a rank that does not wait now did wait with the others a moment ago. */
static bool has_leaver(const struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (wait_groups->items[i].role == WAIT_GROUP_ELSEWHERE &&
		    wait_groups->items[i].leaving_count > 0)
			return true;
	}
	return false;
}

static size_t count_moving(const struct wait_group_list *wait_groups)
{
	size_t count = 0;

	for (size_t i = 0; i < wait_groups->count; i++) {
		if (verdict_is_live(&wait_groups->items[i]))
			count += wait_groups->items[i].moving_count;
	}
	return count;
}

static size_t verdict_count_live(const struct wait_group_list *wait_groups)
{
	return wait_groups->role_counts[WAIT_GROUP_WAITS] +
	       wait_groups->role_counts[WAIT_GROUP_ELSEWHERE];
}

static bool is_any_held(const struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (debug_state_is_held(wait_groups->items[i].first))
			return true;
	}
	return false;
}

static bool are_all_stopped(const struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (verdict_is_live(&wait_groups->items[i]) && !wait_groups->items[i].is_stopped)
			return false;
	}
	return true;
}

/* True if a signal or another debugger has stopped a rank. */
static bool is_any_stopped(const struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (verdict_is_live(&wait_groups->items[i]) && wait_groups->items[i].is_stopped)
			return true;
	}
	return false;
}

/* The wait group of more than half of the ranks that could be read; NULL: none. */
static const struct wait_group *find_majority(const struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (verdict_is_live(&wait_groups->items[i]) &&
		    wait_groups->items[i].count * 2 > verdict_count_live(wait_groups))
			return &wait_groups->items[i];
	}
	return NULL;
}

/* True if the ranks poll in a collective that a loop may call again and again. */
static bool is_polled(const struct wait_group *wait_group)
{
	const struct activity *activity = &wait_group->main_thread->activity;

	return wait_group->role == WAIT_GROUP_WAITS && activity->is_polling &&
	       !activity_is_point_to_point(activity) && !activity_is_setup(activity);
}

/*
 * True if all ranks are at one line, and those that wait poll in a collective that was called from
 * this line: the samples of a loop of nothing but this call look like that, too, with a rank
 * between two calls.
 */
static bool are_at_polled_line(const struct wait_group_list *wait_groups)
{
	const struct frame *line = NULL;
	bool is_any_polled = false;

	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];
		const struct frame *frame;

		if (!verdict_is_live(wait_group) || !wait_group->main_thread ||
		    (wait_group->role == WAIT_GROUP_WAITS && !is_polled(wait_group)))
			return false;
		frame = place_find(&wait_group->first->process,
				   wait_group->main_thread->sample.stack);
		if (!frame ||
		    (line && (frame->code != line->code || frame->lineno != line->lineno)))
			return false;
		line = frame;
		is_any_polled = is_any_polled || wait_group->role == WAIT_GROUP_WAITS;
	}
	return is_any_polled;
}

/*
 * Judges by rule 3 (sentence.h), if all ranks wait for peers, or no rank does. If the majority
 * changes from sample to sample, its place is chance: ranks elsewhere are not outliers.
 */
static enum finding find_in_majority(const struct wait_group_list *wait_groups)
{
	const struct wait_group *majority = find_majority(wait_groups);
	size_t changing = count_changing(wait_groups, WAIT_GROUP_WAITS) +
			  count_changing(wait_groups, WAIT_GROUP_ELSEWHERE);

	if (majority && majority->changing_count > 0)
		return FINDING_MOVING;
	if (majority)
		return majority->count == verdict_count_live(wait_groups) ? FINDING_TOGETHER
									  : FINDING_MAJORITY;
	return changing * 2 >= verdict_count_live(wait_groups) ? FINDING_MOVING
							       : FINDING_WAIT_GROUPS;
}

static enum finding verdict_find(const struct wait_group_list *wait_groups, size_t total)
{
	const size_t *counts = wait_groups->role_counts;
	size_t live = verdict_count_live(wait_groups);

	if (total == 0)
		return FINDING_NO_RANKS;
	if (counts[WAIT_GROUP_GONE] == total)
		return FINDING_ALL_GONE;
	if (counts[WAIT_GROUP_GONE] > 0 ||
	    (counts[WAIT_GROUP_TEARDOWN] > 0 && counts[WAIT_GROUP_TEARDOWN] < total))
		return FINDING_GONE;
	if (counts[WAIT_GROUP_TEARDOWN] == total)
		return FINDING_TOGETHER;
	if (is_any_held(wait_groups))
		return FINDING_HELD;
	if (live == 0)
		return counts[WAIT_GROUP_UNREADABLE] > 0 ? FINDING_UNREADABLE : FINDING_UNREAD;
	if (are_all_stopped(wait_groups))
		return FINDING_STOPPED;
	if (rank_barrier_is_any(wait_groups))
		return FINDING_HOLDING;
	if (counts[WAIT_GROUP_WAITS] > 0 && counts[WAIT_GROUP_ELSEWHERE] > 0) {
		/* Waiting ranks cannot get past a stopped rank: their changes are not progress. */
		if (!is_any_stopped(wait_groups) &&
		    (count_changing(wait_groups, WAIT_GROUP_WAITS) > 0 || has_leaver(wait_groups)))
			return FINDING_MOVING;
		if (are_at_polled_line(wait_groups))
			return FINDING_TOGETHER;
		return verdict_has_late(wait_groups) ? FINDING_LATE : FINDING_UNSETTLED;
	}
	return find_in_majority(wait_groups);
}

/*
 * True for a rank that has exited, or has stopped at its own exception, or is in teardown while
 * other ranks are alive.
 */
static bool is_leaver(const struct wait_group_list *wait_groups,
		      const struct wait_group *wait_group)
{
	if (wait_group->role == WAIT_GROUP_GONE || debug_state_is_outlier(wait_group->first))
		return true;
	return wait_group->role == WAIT_GROUP_TEARDOWN &&
	       (verdict_count_live(wait_groups) > 0 ||
		wait_groups->role_counts[WAIT_GROUP_UNREADABLE] > 0);
}

/* An unknown exit code (-1) does not count as a failure. */
static bool is_failed(const struct wait_group *wait_group)
{
	const struct process *process = &wait_group->first->process;

	return process->exit_signal > 0 || process->exit_code > 0;
}

static bool has_failed(const struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (is_failed(&wait_groups->items[i]))
			return true;
	}
	return false;
}

/*
 * If no rank is alive: true for ranks that failed and ended first; the launcher or the lost
 * connection ended all other ranks.
 */
static bool is_culprit(const struct wait_group_list *wait_groups,
		       const struct wait_group *wait_group)
{
	if (!is_failed(wait_group))
		return false;
	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *other = &wait_groups->items[i];

		if (other->ended_at >= 0 && wait_group_ended_before(other, wait_group))
			return false;
	}
	return true;
}

static void mark_outliers(struct wait_group_list *wait_groups, enum finding finding)
{
	const struct wait_group *majority = find_majority(wait_groups);

	for (size_t i = 0; i < wait_groups->count; i++) {
		struct wait_group *wait_group = &wait_groups->items[i];

		if (finding == FINDING_GONE)
			wait_group->is_outlier = is_leaver(wait_groups, wait_group);
		else if (finding == FINDING_ALL_GONE)
			wait_group->is_outlier = is_culprit(wait_groups, wait_group);
		else if (finding == FINDING_HELD)
			wait_group->is_outlier = debug_state_is_outlier(wait_group->first);
		else if (finding == FINDING_LATE)
			wait_group->is_outlier = wait_group->role == WAIT_GROUP_ELSEWHERE &&
						 !wait_group->is_unsettled;
		else if (finding == FINDING_MAJORITY)
			wait_group->is_outlier =
				verdict_is_live(wait_group) && wait_group != majority;
	}
}

/* True if a rank has exited, or an expected rank is missing. */
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

/* The state of live ranks, which depends on their changes and movements between samples. */
static enum verdict_state state_of_living(const struct wait_group_list *wait_groups)
{
	if (!wait_groups->is_sampled_twice || verdict_count_live(wait_groups) == 0)
		return VERDICT_UNKNOWN;
	if (wait_groups->role_counts[WAIT_GROUP_WAITS] > 0)
		return count_changing(wait_groups, WAIT_GROUP_WAITS) > 0 ? VERDICT_PROGRESSING
									 : VERDICT_HUNG;
	if (count_moving(wait_groups) > 0)
		return VERDICT_PROGRESSING;
	/* Samples may miss short steps between long sleeps: hung is not certain. */
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (wait_groups->items[i].waking_count > 0)
			return VERDICT_UNKNOWN;
	}
	return VERDICT_HUNG;
}

static bool is_message_under_way(const struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (wait_groups->items[i].role == WAIT_GROUP_WAITS &&
		    activity_is_point_to_point(&wait_groups->items[i].main_thread->activity))
			return true;
	}
	return false;
}

/*
 * Seconds without change before a wait group may be called hung; 0 if all ranks wait for peers in
 * several groups, which wait for each other and can never proceed (unless a message may be in
 * flight).
 */
static double quiet_seconds_of(const struct wait_group_list *wait_groups,
			       const struct wait_group *wait_group)
{
	if (wait_group->main_thread->activity.kind == ACTIVITY_SLEEP)
		return SLEEP_SECONDS;
	if (wait_groups->role_counts[WAIT_GROUP_WAITS] == verdict_count_live(wait_groups) &&
	    wait_group->count < verdict_count_live(wait_groups) &&
	    !is_message_under_way(wait_groups))
		return 0;
	return VERDICT_STILL_SECONDS;
}

/* True if some rank moves, or if every wait group is unchanged long enough to be called hung. */
static bool are_quiet_long(const struct wait_group_list *wait_groups)
{
	if (count_moving(wait_groups) > 0)
		return true;
	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (wait_group->main_thread &&
		    wait_group->unchanged < quiet_seconds_of(wait_groups, wait_group))
			return false;
	}
	return true;
}

/* True for a wait group of late ranks that are moving, or work at one line for not too long. */
static bool is_late_moving(const struct wait_group *wait_group)
{
	return wait_group->role == WAIT_GROUP_ELSEWHERE &&
	       (wait_group->moving_count + wait_group->helped_count > 0 ||
		(wait_group->working_count > 0 && wait_group->unchanged < SPIN_SECONDS));
}

/*
 * The state if peers wait for late ranks. A late rank that moves, in its own work or in an endless
 * loop, makes the job progress; work of its own (backward, checkpoint, …) at one line for
 * SPIN_SECONDS probably spins. cause: the ranks that the graph names, if it does: others do not
 * end the wait, however they move. NULL: the stacks name the late ranks.
 */
static enum verdict_state state_of_late(const struct wait_group_list *wait_groups,
					const struct rankset *cause)
{
	for (size_t i = 0; wait_groups->is_sampled_twice && i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (is_late_moving(wait_group) &&
		    (!cause || !are_disjoint(&wait_group->ranks, cause)))
			return VERDICT_PROGRESSING;
	}
	/* Changes before the stop say nothing about the time after the stop. */
	if (is_any_stopped(wait_groups) && count_changing(wait_groups, WAIT_GROUP_WAITS) > 0)
		return VERDICT_UNKNOWN;
	return state_of_living(wait_groups);
}

static enum verdict_state state_of_majority(const struct wait_group_list *wait_groups)
{
	const struct wait_group *majority = find_majority(wait_groups);

	if (!wait_groups->is_sampled_twice)
		return VERDICT_UNKNOWN;
	if (majority->helped_count > 0 ||
	    (majority->moving_count > 0 && majority->unchanged < SPIN_SECONDS))
		return VERDICT_PROGRESSING;
	if (majority->role == WAIT_GROUP_WAITS && !are_quiet_long(wait_groups))
		return VERDICT_UNKNOWN;
	if (majority->waking_count > 0)
		return VERDICT_UNKNOWN;
	return VERDICT_HUNG;
}

/* The job is not called hung if a rank could not be read: other ranks may wait for that rank. */
static enum verdict_state without_unread(const struct wait_group_list *wait_groups,
					 enum verdict_state state)
{
	return state == VERDICT_HUNG && wait_groups->role_counts[WAIT_GROUP_UNREADABLE] > 0
		       ? VERDICT_UNKNOWN
		       : state;
}

/*
 * True if all ranks poll in one collective. Where a thread polls, only its frames show that it has
 * entered the call anew: they show nothing of a loop that calls nothing else.
 */
static bool is_one_polled_collective(const struct wait_group_list *wait_groups)
{
	return wait_groups->role_counts[WAIT_GROUP_WAITS] == verdict_count_live(wait_groups) &&
	       wait_groups->items[0].main_thread && is_polled(&wait_groups->items[0]) &&
	       count_moving(wait_groups) == 0;
}

static enum verdict_state verdict_state_of(const struct session *session,
					   const struct wait_group_list *wait_groups,
					   enum finding finding)
{
	switch (finding) {
	case FINDING_NO_RANKS:
	case FINDING_UNREAD:
	case FINDING_UNREADABLE:
	case FINDING_UNSETTLED:
	case FINDINGS:
		return VERDICT_UNKNOWN;
	case FINDING_ALL_GONE:
		return has_failed(wait_groups) ? VERDICT_CRASHED : VERDICT_UNKNOWN;
	case FINDING_GONE:
		return has_lost_one(session) ? VERDICT_CRASHED : state_of_living(wait_groups);
	case FINDING_HELD:
	case FINDING_STOPPED:
		return VERDICT_STOPPED;
	case FINDING_HOLDING:
		return rank_barrier_state(wait_groups);
	case FINDING_MAJORITY:
		return without_unread(wait_groups, state_of_majority(wait_groups));
	case FINDING_MOVING:
		return wait_groups->is_sampled_twice ? VERDICT_PROGRESSING : VERDICT_UNKNOWN;
	case FINDING_TOGETHER:
		if (is_one_polled_collective(wait_groups) ||
		    (wait_groups->role_counts[WAIT_GROUP_ELSEWHERE] > 0 &&
		     are_at_polled_line(wait_groups)))
			return VERDICT_UNKNOWN;
		return are_quiet_long(wait_groups)
			       ? without_unread(wait_groups, state_of_living(wait_groups))
			       : VERDICT_UNKNOWN;
	case FINDING_WAIT_GROUPS:
		return are_quiet_long(wait_groups)
			       ? without_unread(wait_groups, state_of_living(wait_groups))
			       : VERDICT_UNKNOWN;
	case FINDING_GRAPH:
		if (wait_groups->role_counts[WAIT_GROUP_ELSEWHERE] > 0)
			return state_of_late(wait_groups, &wait_groups->graph->ranks);
		return are_quiet_long(wait_groups)
			       ? without_unread(wait_groups, state_of_living(wait_groups))
			       : VERDICT_UNKNOWN;
	case FINDING_LATE:
		break;
	}
	return state_of_late(wait_groups, NULL);
}

/* The ranks of the wait groups that are outliers; clear the result. */
static struct rankset find_outliers(const struct wait_group_list *wait_groups)
{
	struct rankset outliers = RANKSET_INIT;

	for (size_t i = 0; i < wait_groups->count; i++) {
		if (wait_groups->items[i].is_outlier)
			rankset_unite(&outliers, &wait_groups->items[i].ranks);
	}
	return outliers;
}

/* True if each of the ranks waits for its peers. */
static bool are_all_waiting(const struct wait_group_list *wait_groups, const struct rankset *ranks)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (wait_groups->items[i].role != WAIT_GROUP_WAITS &&
		    !are_disjoint(&wait_groups->items[i].ranks, ranks))
			return false;
	}
	return true;
}

/*
 * True if the stacks show late ranks, and the graph has the same ranks as absent, or others that
 * wait themselves, for peers that are not known.
 */
static bool have_stacks_named(const struct wait_group_list *wait_groups, enum finding finding)
{
	struct rankset outliers = find_outliers(wait_groups);
	bool are_named = rankset_is_equal(&outliers, &wait_groups->graph->ranks) ||
			 are_all_waiting(wait_groups, &wait_groups->graph->ranks);

	rankset_clear(&outliers);
	return finding == FINDING_LATE && are_named &&
	       wait_groups->graph->cause == WAIT_CAUSE_ABSENT;
}

/* Findings about live ranks of which not all move: the graph may name the cause. */
static const bool is_for_graph[FINDINGS] = {
	[FINDING_LATE] = true,	      [FINDING_UNSETTLED] = true, [FINDING_MAJORITY] = true,
	[FINDING_WAIT_GROUPS] = true, [FINDING_TOGETHER] = true,
};

/* The finding of the graph, if the graph names a cause that the stacks alone do not name. */
static enum finding verdict_find_in_graph(const struct wait_group_list *wait_groups,
					  enum finding finding)
{
	enum wait_cause cause = wait_groups->graph->cause;

	if (!is_for_graph[finding] || cause == WAIT_CAUSE_NONE ||
	    (cause == WAIT_CAUSE_MET && finding == FINDING_LATE) ||
	    have_stacks_named(wait_groups, finding))
		return finding;
	return FINDING_GRAPH;
}

/*
 * Marks the wait groups of which the sentence says where they are, besides what the graph says:
 * absent ranks, if all ranks of the group are; and late ranks that have no part in what else is
 * the cause.
 */
static void mark_causes(struct wait_group_list *wait_groups, enum finding of_stacks)
{
	const struct wait_graph *graph = wait_groups->graph;

	for (size_t i = 0; i < wait_groups->count; i++) {
		struct wait_group *wait_group = &wait_groups->items[i];

		if (graph->cause == WAIT_CAUSE_ABSENT)
			wait_group->is_outlier = is_subset(&wait_group->ranks, &graph->ranks);
		else
			wait_group->is_outlier = wait_group->is_outlier &&
						 of_stacks == FINDING_LATE &&
						 are_disjoint(&wait_group->ranks, &graph->ranks);
	}
}

/*
 * The majority gets mark 0; an outlier, or without outliers the smallest class, gets mark 1; all
 * other classes get the marks from 2 on.
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

/* Sets the outliers: the ranks of wait groups that are, and those that the graph names. */
static void note_outliers(struct verdict *verdict, const struct wait_group_list *wait_groups,
			  enum finding finding)
{
	struct rankset of_graph;

	verdict->outliers = find_outliers(wait_groups);
	if (finding != FINDING_GRAPH)
		return;
	of_graph = wait_graph_outliers(wait_groups->graph);
	rankset_unite(&verdict->outliers, &of_graph);
	rankset_clear(&of_graph);
}

static void note_ranks(struct verdict *verdict, struct session *session)
{
	for (size_t i = 0; i < verdict->class_count; i++) {
		struct rank_class *class = &verdict->classes[i];

		class->is_outlier = is_subset(&class->ranks, &verdict->outliers);
		if (rankset_count(&class->ranks) * 2 > session->rank_count)
			verdict->majority = (int)i;
	}
	for (size_t i = 0; i < session->rank_count; i++) {
		struct rank *rank = session->ranks[i];

		rank->is_outlier = rankset_contains(&verdict->outliers, rank->process.rank);
		if (!rank_is_gone(rank))
			verdict->ranks_found++;
		if (rank->process.world_size > verdict->world_size)
			verdict->world_size = rank->process.world_size;
	}
	mark_classes(verdict);
}

/* Fills *graph if anything is known of the calls of a rank; wait_groups then borrow it. */
static void ask_graph(struct wait_graph *graph, struct wait_group_list *wait_groups,
		      const struct session *session)
{
	*graph = (struct wait_graph){ .nodes = NULL };
	for (size_t i = 0; i < session->rank_count && !wait_groups->graph; i++) {
		const struct thread *thread = rank_main_thread(session->ranks[i]);

		if (session->ranks[i]->collectives || session->ranks[i]->peer >= 0 ||
		    (thread && thread->holder_rank >= 0))
			wait_groups->graph = graph;
	}
	if (wait_groups->graph)
		wait_graph_make(graph, session);
}

void verdict_make(struct verdict *verdict, struct session *session)
{
	struct buffer sentence = BUFFER_INIT;
	struct wait_group_list wait_groups;
	struct wait_graph graph;
	enum finding of_stacks;
	enum finding finding;

	verdict_clear(verdict);
	wait_groups_make(&wait_groups, verdict, session);
	of_stacks = verdict_find(&wait_groups, session->rank_count);
	mark_outliers(&wait_groups, of_stacks);
	ask_graph(&graph, &wait_groups, session);
	finding = wait_groups.graph ? verdict_find_in_graph(&wait_groups, of_stacks) : of_stacks;
	if (finding == FINDING_GRAPH)
		mark_causes(&wait_groups, of_stacks);
	verdict->state = verdict_state_of(session, &wait_groups, finding);
	note_outliers(verdict, &wait_groups, finding);
	note_ranks(verdict, session);
	sentence_append(&sentence, session, &wait_groups, finding, verdict->state == VERDICT_HUNG);
	verdict->sentence = buffer_take(&sentence);
	verdict->job = xstrdup(session->job >= 0 ? session->jobs[session->job].name : "");
	wait_graph_clear(&graph);
	wait_groups_clear(&wait_groups);
}

struct form {
	int32_t codepoint;
	const char *text;
	char ascii; /* for terminals without Unicode */
};

static const struct form forms[] = {
	{ 0x25cf, "\u25cf", 'o' }, { 0x25c6, "\u25c6", '*' }, { 0x25b2, "\u25b2", '^' },
	{ 0x25bc, "\u25bc", 'v' }, { 0x2605, "\u2605", '+' }, { 0x271a, "\u271a", 'x' },
};

/* Marks of further classes; without o, v and x, which are ASCII marks of other classes. */
static const char letters[] = "abcdefghijklmnpqrstuwyz";

int32_t classmark(int mark)
{
	size_t count = ARRAY_LENGTH(forms);

	if (mark < 0)
		return '?';
	if ((size_t)mark < count)
		return forms[mark].codepoint;
	return letters[((size_t)mark - count) % strlen(letters)];
}

int classmark_find(const char *text, size_t length)
{
	const char *letter;

	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++) {
		if ((length == 1 && *text == forms[i].ascii) ||
		    (length == strlen(forms[i].text) && memcmp(text, forms[i].text, length) == 0))
			return (int)i;
	}
	letter = length == 1 ? memchr(letters, *text, strlen(letters)) : NULL;
	return letter ? (int)(ARRAY_LENGTH(forms) + (size_t)(letter - letters)) : -1;
}
