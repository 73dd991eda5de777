#include "model/sentence.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/debug-state.h"
#include "model/phrase.h"
#include "model/session.h"
#include "model/wait-graph.h"
#include "model/wait-group.h"

/* Number of wait groups that a sentence lists; further wait groups are only counted. */
#define WAIT_GROUPS_LISTED 4

/* True if the group was sampled, or is stopped: a rank stopped before its first sample is known
 * to be stopped. */
static bool is_seen(const struct wait_group *wait_group)
{
	return wait_group->main_thread || wait_group->is_stopped;
}

static bool is_company(const struct wait_group *wait_group)
{
	return !wait_group->is_outlier && is_seen(wait_group) &&
	       !debug_state_is_held(wait_group->first);
}

/* Appends "5 wait in all_reduce (a.py:1), rank 2 computes in f (b.py:3)". */
static void append_counts(struct buffer *out, const struct wait_group_list *wait_groups)
{
	size_t listed = 0;
	size_t rest = 0;

	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (!is_company(wait_group))
			continue;
		if (listed == WAIT_GROUPS_LISTED) {
			rest += wait_group->count;
			continue;
		}
		if (listed > 0)
			buffer_append_string(out, ", ");
		if (wait_group->count == 1)
			buffer_printf(out, "rank %d", rankset_first(&wait_group->ranks));
		else
			text_count(out, wait_group->count);
		buffer_append_char(out, ' ');
		phrase_append_doing(out, wait_group, wait_group->count != 1);
		listed++;
	}
	if (rest > 0) {
		buffer_append_string(out, " and ");
		text_count(out, rest);
		buffer_append_string(out, " elsewhere");
	}
}

/*
 * Appends the state of ranks that are not outliers: "7 of 8 ranks wait in all_reduce
 * (train.py:17).", or "The other 7 ranks …" if is_behind (behind the outliers' sentence).
 */
static void append_company(struct buffer *out, const struct session *session,
			   const struct wait_group_list *wait_groups, bool is_behind)
{
	size_t count = 0;
	size_t wait_group_count = 0;
	const struct wait_group *only = NULL;

	for (size_t i = 0; i < wait_groups->count; i++) {
		if (!is_company(&wait_groups->items[i]))
			continue;
		only = &wait_groups->items[i];
		count += only->count;
		wait_group_count++;
	}
	if (count == 0)
		return;
	if (is_behind && count == 1) {
		buffer_append_string(out, " The other rank");
	} else if (is_behind) {
		buffer_append_string(out, " The other ");
		text_count(out, count);
		buffer_append_string(out, " ranks");
	} else {
		text_count(out, count);
		buffer_append_string(out, " of ");
		phrase_append_total(out, session);
	}
	if (wait_group_count == 1) {
		buffer_append_char(out, ' ');
		phrase_append_doing(out, only, count != 1);
	} else {
		buffer_append_string(out, ": ");
		append_counts(out, wait_groups);
	}
	buffer_append_char(out, '.');
}

/* Appends one sentence about all outliers whose phrase is that of the wait group at index from. */
static void sentence_append_group(struct buffer *out, const struct wait_group_list *wait_groups,
				  size_t from, bool *is_told)
{
	const struct phrase *phrase = phrase_of(&wait_groups->items[from]);
	struct rankset ranks = RANKSET_INIT;
	size_t listed = 0;
	size_t count = 0;
	double unchanged = -1;

	for (size_t i = from; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (!wait_group->is_outlier || debug_state_is_held(wait_group->first) ||
		    phrase_of(wait_group) != phrase)
			continue;
		for (size_t j = 0; j < wait_group->ranks.range_count; j++)
			rankset_add_range(&ranks, wait_group->ranks.ranges[j].first,
					  wait_group->ranks.ranges[j].last);
		if (unchanged < 0 || wait_group->unchanged < unchanged)
			unchanged = wait_group->unchanged;
		is_told[i] = true;
		count++;
	}
	buffer_append_char(out, ' ');
	phrase_append_ranks(out, &ranks);
	buffer_append_char(out, ' ');
	if (!wait_groups->items[from].main_thread && wait_groups->items[from].is_stopped)
		phrase_append_summary(out, phrase_index(phrase), rankset_count(&ranks) != 1);
	else
		phrase_append_verb(out, phrase, rankset_count(&ranks) != 1);
	for (size_t i = from; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (!wait_group->is_outlier || debug_state_is_held(wait_group->first) ||
		    phrase_of(wait_group) != phrase)
			continue;
		if (listed == WAIT_GROUPS_LISTED)
			break;
		if (count == 1)
			phrase_append_where(out, wait_group);
		else
			phrase_append_member(out, wait_group, listed == 0);
		listed++;
	}
	if (count > listed)
		buffer_printf(out, " and %zu more", count - listed);
	phrase_append_duration(out, ", for ", unchanged);
	buffer_append_char(out, '.');
	rankset_clear(&ranks);
}

static void append_outliers(struct buffer *out, const struct wait_group_list *wait_groups)
{
	bool *is_told = xcalloc(wait_groups->count + 1, sizeof(*is_told));

	/* A rank that waits in a debugger is in the debugger's code: leave out the place. */
	for (size_t i = 0; i < wait_groups->count; i++)
		is_told[i] = debug_state_is_held(wait_groups->items[i].first);
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (wait_groups->items[i].is_outlier && !is_told[i])
			sentence_append_group(out, wait_groups, i, is_told);
	}
	free(is_told);
}

static void say_no_ranks(struct buffer *out, const struct session *session,
			 const struct wait_group_list *wait_groups, bool is_still)
{
	(void)wait_groups;
	(void)is_still;
	if (session->job_count == 0) {
		buffer_append_string(out, "No rank found.");
	} else if (session->job >= 0) {
		buffer_append_string(out, "No rank of this job is among the selected ranks.");
	} else {
		phrase_append_jobs(out, session);
	}
}

static void say_unread(struct buffer *out, const struct session *session,
		       const struct wait_group_list *wait_groups, bool is_still)
{
	(void)is_still;
	(void)wait_groups;
	phrase_append_total(out, session);
	buffer_append_string(out, session->rank_count == 1 ? " found, not yet read."
							   : " found, none yet read.");
}

static void say_unreadable(struct buffer *out, const struct session *session,
			   const struct wait_group_list *wait_groups, bool is_still)
{
	const char *error = wait_groups->items[0].first->error;

	(void)is_still;
	if (session->rank_count == 1) {
		phrase_append_all(out, session);
		buffer_append_string(out, " cannot be read: ");
	} else {
		buffer_append_string(out, "None of the ");
		phrase_append_total(out, session);
		buffer_append_string(out, " can be read: ");
	}
	phrase_append_error(out, error);
}

static void sentence_say_gone(struct buffer *out, const struct session *session,
			      const struct wait_group_list *wait_groups, bool is_still)
{
	(void)is_still;
	append_outliers(out, wait_groups);
	debug_state_append_others(out, session);
	append_company(out, session, wait_groups, true);
}

/* Returns the wait group that ended first of those not yet mentioned; NULL: all are mentioned. */
static const struct wait_group *next_to_end(const struct wait_group_list *wait_groups,
					    const bool *is_told)
{
	const struct wait_group *next = NULL;

	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (!is_told[i] && (!next || wait_group_ended_before(wait_group, next)))
			next = wait_group;
	}
	return next;
}

/*
 * Appends "All ranks have ended: rank 2 was killed by SIGKILL, then ranks 0-1,3 were
 * killed by SIGTERM."
 */
static void say_all_gone(struct buffer *out, const struct session *session,
			 const struct wait_group_list *wait_groups, bool is_still)
{
	bool *is_told = xcalloc(wait_groups->count + 1, sizeof(*is_told));
	const struct wait_group *before = NULL;
	const struct wait_group *wait_group;

	(void)is_still;
	buffer_append_string(out, session->rank_count == 1 ? "The only rank has ended"
							   : "All ranks have ended");
	while ((wait_group = next_to_end(wait_groups, is_told)) != NULL) {
		if (before && wait_group_ended_before(before, wait_group))
			buffer_append_string(out, ", then ");
		else
			buffer_append_string(out, before ? ", " : ": ");
		phrase_append_end(out, wait_group);
		is_told[wait_group - wait_groups->items] = true;
		before = wait_group;
	}
	buffer_append_char(out, '.');
	for (size_t i = 0; i < wait_groups->count; i++)
		if (wait_groups->items[i].is_outlier)
			phrase_append_last_seen(out, &wait_groups->items[i]);
	free(is_told);
}

static void say_held(struct buffer *out, const struct session *session,
		     const struct wait_group_list *wait_groups, bool is_still)
{
	(void)is_still;
	debug_state_append_sentence(out, session, wait_groups);
}

static void say_holding(struct buffer *out, const struct session *session,
			const struct wait_group_list *wait_groups, bool is_still)
{
	(void)is_still;
	rank_barrier_append_sentence(out, session, wait_groups);
}

static void say_stopped(struct buffer *out, const struct session *session,
			const struct wait_group_list *wait_groups, bool is_still)
{
	(void)wait_groups;
	(void)is_still;
	phrase_append_all(out, session);
	buffer_append_string(out, session->rank_count == 1 ? " is" : " are");
	buffer_append_string(out, " stopped (SIGSTOP, or another debugger).");
}

static void say_late(struct buffer *out, const struct session *session,
		     const struct wait_group_list *wait_groups, bool is_still)
{
	(void)is_still;
	append_company(out, session, wait_groups, false);
	append_outliers(out, wait_groups);
}

static void say_graph(struct buffer *out, const struct session *session,
		      const struct wait_group_list *wait_groups, bool is_still)
{
	(void)session;
	wait_sentence_append(out, wait_groups->graph, is_still);
	/* Where absent ranks are instead. */
	append_outliers(out, wait_groups);
}

static const char *sentence_count_word(size_t count)
{
	static const char *const words[] = { "no",   "one", "two",   "three", "four",
					     "five", "six", "seven", "eight" };

	return count < ARRAY_LENGTH(words) ? words[count] : NULL;
}

/* Appends "2 ranks (0-1) wait in recv (a.py:3), 1 rank (2) computes in f (b.py:3)"; returns the
 * number of wait groups. */
static size_t append_wait_groups(struct buffer *out, const struct wait_group_list *wait_groups)
{
	size_t count = 0;

	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (!is_seen(wait_group))
			continue;
		count++;
		if (count > WAIT_GROUPS_LISTED)
			continue;
		if (count > 1)
			buffer_append_string(out, ", ");
		text_count(out, wait_group->count);
		buffer_append_string(out, wait_group->count == 1 ? " rank (" : " ranks (");
		rankset_append(out, &wait_group->ranks);
		buffer_append_string(out, ") ");
		phrase_append_doing(out, wait_group, wait_group->count != 1);
	}
	if (count > WAIT_GROUPS_LISTED)
		buffer_append_string(out, " and others elsewhere");
	return count;
}

static void say_wait_groups(struct buffer *out, const struct session *session,
			    const struct wait_group_list *wait_groups, bool is_still)
{
	size_t count = append_wait_groups(out, wait_groups);

	(void)session;
	if (sentence_count_word(count))
		buffer_printf(out, ": %s groups, no majority", sentence_count_word(count));
	else
		buffer_printf(out, ": %zu groups, no majority", count);
	if (is_still)
		buffer_append_string(out, ", and none of them moves");
	buffer_append_char(out, '.');
}

static void say_unsettled(struct buffer *out, const struct session *session,
			  const struct wait_group_list *wait_groups, bool is_still)
{
	(void)session;
	(void)is_still;
	append_wait_groups(out, wait_groups);
	buffer_append_string(out, ". One sample does not show which ranks wait for the others: "
				  "sample for 1 s (--for 1).");
}

/* True if the cause may be below Python; sleeps, locks and files are the job's own code. */
static bool is_below_python(const struct wait_group *wait_group)
{
	enum activity_kind kind = wait_group->main_thread->activity.kind;

	return wait_group->role == WAIT_GROUP_WAITS || kind == ACTIVITY_COMPUTE ||
	       kind == ACTIVITY_TRAIN || kind == ACTIVITY_UNKNOWN;
}

/* Appends why the cause is below Python, and where to look there. */
static void append_below_python(struct buffer *out, const struct session *session,
				const struct wait_group_list *wait_groups,
				const struct wait_group *wait_group)
{
	const struct wait_node *meeting =
		wait_groups->graph ? wait_graph_meeting(wait_groups->graph) : NULL;
	const struct activity *activity = &wait_group->main_thread->activity;
	bool is_complete = session->verdict.world_size > 0 &&
			   session->rank_count >= (size_t)session->verdict.world_size;
	const char *arguments;

	if (is_complete && activity->is_polling && activity_is_point_to_point(activity)) {
		buffer_append_string(out,
				     activity_is_receive(activity)
					     ? "; each waits to receive, and none of them sends."
					     : "; each waits to send, and none of them receives.");
		return;
	}
	if (meeting) {
		buffer_append_string(out, "; all have called the same operation as ");
		wait_sentence_append_collective(out, meeting);
		arguments = collective_call_unrecorded(meeting->call);
		if (arguments)
			buffer_printf(out,
				      ", so look at what torch does not record (%s), or below "
				      "Python: ",
				      arguments);
		else
			buffer_append_string(out, ", so look below Python: ");
	} else {
		buffer_append_string(out, "; the stacks agree, so look below Python: ");
	}
	buffer_append_string(
		out,
		is_complete
			? "network, or a rank's C++ or GPU work."
			: "network, a rank's C++ or GPU work, or a rank that is not among these.");
}

static void say_still(struct buffer *out, const struct session *session,
		      const struct wait_group_list *wait_groups,
		      const struct wait_group *wait_group)
{
	size_t length;

	buffer_append_string(out, " and did not move");
	length = out->length;
	phrase_append_duration(out, " for ", wait_group->unchanged);
	if (out->length == length)
		buffer_append_string(out, " between two samples");
	if (wait_group->count == 1)
		buffer_append_string(out, phrase_append_helper(out, wait_group->first)
						  ? "."
						  : "; no other rank to compare with.");
	else if (!is_below_python(wait_group))
		buffer_append_string(out, "; none of them is an outlier.");
	else
		append_below_python(out, session, wait_groups, wait_group);
}

static void say_together(struct buffer *out, const struct session *session,
			 const struct wait_group_list *wait_groups, bool is_still)
{
	const struct wait_group *wait_group = &wait_groups->items[0];

	while (!wait_group->main_thread)
		wait_group++;
	if (wait_group->count == session->rank_count) {
		phrase_append_all(out, session);
	} else {
		text_count(out, wait_group->count);
		buffer_append_string(out, " of ");
		phrase_append_total(out, session);
	}
	buffer_append_char(out, ' ');
	phrase_append_doing(out, wait_group, wait_group->count != 1);
	if (is_still)
		say_still(out, session, wait_groups, wait_group);
	else if (wait_group->waking_count > 0)
		buffer_append_string(out, "; too few samples to see progress.");
	else if (wait_groups->is_sampled_twice && wait_group->moving_count == 0)
		buffer_append_string(out, ", no progress seen yet.");
	else
		buffer_append_char(out, '.');
}

/*
 * If no rank's activity has its own wording, returns true, and appends the place that all ranks
 * share, if there is one. Returns false and appends nothing if a rank's activity has its own
 * wording.
 */
static bool append_nameless(struct buffer *out, const struct wait_group_list *wait_groups,
			    bool all_move, bool is_plural)
{
	struct buffer first = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;
	bool are_nameless = true;
	bool is_shared = true;

	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (!wait_group->main_thread)
			continue;
		are_nameless = are_nameless && phrase_is_nameless(wait_group);
		buffer_reset(&text);
		phrase_append_doing(&text, wait_group, is_plural);
		if (first.length == 0)
			buffer_append_string(&first, text.data);
		is_shared = is_shared && strcmp(first.data, text.data) == 0;
	}
	if (are_nameless && is_shared && first.length > 0)
		buffer_printf(out, "%s %s", all_move ? ", and" : "; all", first.data);
	buffer_clear(&first);
	buffer_clear(&text);
	return are_nameless;
}

/* Appends counts by activity, because moving ranks change their places too fast to print places. */
static void sentence_append_kinds(struct buffer *out, const struct wait_group_list *wait_groups,
				  bool all_move)
{
	size_t counts[PHRASES] = { 0 };
	const struct wait_group *waiting = NULL;
	size_t wait_wait_groups = 0;
	bool is_first = true;
	size_t count = 0;

	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (!wait_group->main_thread)
			continue;
		count += wait_group->count;
		if (wait_group->role == WAIT_GROUP_WAITS) {
			waiting = wait_group;
			wait_wait_groups++;
		}
		counts[phrase_index(phrase_of(wait_group))] += wait_group->count;
	}
	for (size_t i = 0; i < PHRASES; i++) {
		if (counts[i] == 0)
			continue;
		/* If some ranks do not move, the counts include those ranks: begin with ";". */
		if (is_first)
			buffer_append_string(out, all_move ? ": " : "; ");
		else
			buffer_append_string(out, ", ");
		is_first = false;
		if (!all_move && counts[i] == count && count > 1)
			buffer_append_string(out, "all");
		else if (all_move && count == 1)
			buffer_append_string(out, "it");
		else
			text_count(out, counts[i]);
		buffer_append_char(out, ' ');
		if (waiting && wait_wait_groups == 1 && phrase_index(phrase_of(waiting)) == i)
			phrase_append_doing(out, waiting, counts[i] != 1);
		else
			phrase_append_summary(out, i, counts[i] != 1);
	}
}

static void say_moving(struct buffer *out, const struct session *session,
		       const struct wait_group_list *wait_groups, bool is_still)
{
	size_t moving = 0;

	(void)is_still;
	for (size_t i = 0; i < wait_groups->count; i++)
		moving += wait_groups->items[i].moving_count;
	if (moving == session->rank_count) {
		phrase_append_all(out, session);
	} else {
		text_count(out, moving);
		buffer_append_string(out, " of ");
		phrase_append_total(out, session);
	}
	buffer_append_string(out, moving == 1 ? " makes progress" : " make progress");
	if (!append_nameless(out, wait_groups, moving == session->rank_count,
			     session->rank_count > 1))
		sentence_append_kinds(out, wait_groups, moving == session->rank_count);
	buffer_append_char(out, '.');
}

static void (*const sentences[FINDINGS])(struct buffer *out, const struct session *session,
					 const struct wait_group_list *wait_groups,
					 bool is_still) = {
	[FINDING_NO_RANKS] = say_no_ranks,
	[FINDING_UNREAD] = say_unread,
	[FINDING_UNREADABLE] = say_unreadable,
	[FINDING_ALL_GONE] = say_all_gone,
	[FINDING_GONE] = sentence_say_gone,
	[FINDING_HELD] = say_held,
	[FINDING_STOPPED] = say_stopped,
	[FINDING_HOLDING] = say_holding,
	[FINDING_LATE] = say_late,
	[FINDING_UNSETTLED] = say_unsettled,
	[FINDING_MAJORITY] = say_late,
	[FINDING_WAIT_GROUPS] = say_wait_groups,
	[FINDING_TOGETHER] = say_together,
	[FINDING_GRAPH] = say_graph,
	[FINDING_MOVING] = say_moving,
};

/* True if the rank's error explains which part was not read, or why the rank was not found. */
static bool is_partly_read(const struct rank *rank)
{
	return rank->unseen ||
	       (rank->missing && !rank->sample_error && rank->process.state != PROCESS_UNREADABLE);
}

/* Appends which parts of samples are missing; the rest of those samples was used. */
static void sentence_append_missing(struct buffer *out, const struct session *session)
{
	struct rankset told = RANKSET_INIT;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *first = session->ranks[i];
		struct rankset ranks = RANKSET_INIT;

		if (!first->missing || first->state == RANK_UNREADABLE ||
		    rankset_contains(&told, first->process.rank) || rank_is_gone(first))
			continue;
		for (size_t j = i; j < session->rank_count; j++) {
			const struct rank *rank = session->ranks[j];

			if (rank->missing && !rank_is_gone(rank) &&
			    rank->state != RANK_UNREADABLE &&
			    strcmp(rank->missing, first->missing) == 0)
				rankset_add(&ranks, rank->process.rank);
		}
		buffer_append_char(out, ' ');
		phrase_append_ranks(out, &ranks);
		buffer_append_string(out, ": ");
		phrase_append_error(out, first->missing);
		rankset_unite(&told, &ranks);
		rankset_clear(&ranks);
	}
	rankset_clear(&told);
}

static void append_unread(struct buffer *out, const struct session *session)
{
	for (size_t i = 0; i < session->node_count; i++) {
		if (!session->nodes[i].unread)
			continue;
		buffer_append_string(out, " Not all processes could be read: ");
		phrase_append_error(out, session->nodes[i].unread);
		return;
	}
}

/*
 * Appends how to see the ranks of the job that are on other machines, if one machine is looked at
 * and Slurm has told the ranks which others the job has.
 */
static void append_elsewhere(struct buffer *out, const struct session *session)
{
	const struct process *first = session->rank_count > 0 ? &session->ranks[0]->process : NULL;
	size_t here = 0;

	for (size_t i = 0; i < session->rank_count; i++)
		here += session->ranks[i]->process.pid != 0;
	if (session->node_count != 1 || !first || !first->slurm_job || !first->slurm_nodes ||
	    !strpbrk(first->slurm_nodes, ",[") || here == 0 ||
	    (size_t)(first->world_size > 0 ? first->world_size : 0) <= here)
		return;
	buffer_printf(out, " %zu of %d ranks are here: --on slurm:", here, first->world_size);
	phrase_append_host(out, first->slurm_job);
	buffer_append_string(out, " looks at all of ");
	phrase_append_host(out, first->slurm_nodes);
	buffer_append_char(out, '.');
}

/* Maximum number of machines that are named. */
#define SILENT_NAMED 3

static bool is_unreached(const struct session_node *node)
{
	return node->is_silent || node->is_gone;
}

/* Appends "n3 (ranks 4-5) has not answered for 6 s." */
static void append_unreached(struct buffer *out, const struct session *session, size_t number)
{
	const struct session_node *node = &session->nodes[number];
	struct rankset ranks = RANKSET_INIT;

	for (size_t i = 0; i < session->rank_count; i++) {
		if (session->ranks[i]->node == number && session->ranks[i]->process.pid != 0)
			rankset_add(&ranks, session->ranks[i]->process.rank);
	}
	phrase_append_host(out, node->name);
	if (rankset_count(&ranks) > 0) {
		buffer_append_string(out, " (");
		rankset_append_named(out, &ranks);
		buffer_append_char(out, ')');
	}
	rankset_clear(&ranks);
	if (node->is_gone) {
		buffer_append_string(out, " cannot be reached: ");
		phrase_append_error(out, node->gone_why);
		return;
	}
	buffer_append_string(out, " has not answered");
	if (node->output_at >= 0)
		phrase_append_duration(out, " for ", session->now - node->output_at);
	buffer_append_char(out, '.');
}

/*
 * Appends which machines of several do not answer. This comes first: a machine that is not reached
 * is often the cause.
 */
static void append_unreached_all(struct buffer *out, const struct session *session)
{
	size_t count = 0;

	/* Of one node the ranks say that it is gone. */
	if (session->node_count == 0 || (session->node_count == 1 && !session->nodes[0].is_silent))
		return;
	for (size_t i = 0; i < session->node_count; i++) {
		if (!is_unreached(&session->nodes[i]) || count++ >= SILENT_NAMED)
			continue;
		append_unreached(out, session, i);
		buffer_append_char(out, ' ');
	}
	if (count > SILENT_NAMED)
		buffer_printf(out, "%zu more do not answer. ", count - SILENT_NAMED);
	if (count > 0 && count < session->node_count)
		buffer_printf(out, "The other %s: ",
			      session->node_count - count == 1 ? "machine" : "machines");
}

/* Appends the ranks with this role, which no rule could judge: these ranks may be outliers. */
static void append_unknown(struct buffer *out, const struct wait_group_list *wait_groups,
			   enum wait_group_role role)
{
	struct rankset ranks = RANKSET_INIT;
	const struct wait_group *first = NULL;

	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (wait_group->role != role)
			continue;
		first = first ? first : wait_group;
		for (size_t j = 0; j < wait_group->ranks.range_count; j++)
			rankset_add_range(&ranks, wait_group->ranks.ranges[j].first,
					  wait_group->ranks.ranges[j].last);
	}
	if (first) {
		buffer_append_char(out, ' ');
		phrase_append_ranks(out, &ranks);
		if (role == WAIT_GROUP_UNREADABLE) {
			buffer_append_string(
				out, is_partly_read(first->first) ? ": " : " cannot be read: ");
			phrase_append_error(out, first->first->error);
		} else {
			buffer_append_string(out, rankset_count(&ranks) == 1 ? " has" : " have");
			buffer_append_string(out, " not been read yet.");
		}
	}
	rankset_clear(&ranks);
}

void sentence_append(struct buffer *out, const struct session *session,
		     const struct wait_group_list *wait_groups, enum finding finding, bool is_still)
{
	size_t begin;

	append_unreached_all(out, session);
	begin = out->length;
	sentences[finding](out, session, wait_groups, is_still);
	if (finding != FINDING_UNREADABLE && finding != FINDING_UNREAD) {
		append_unknown(out, wait_groups, WAIT_GROUP_UNREADABLE);
		append_unknown(out, wait_groups, WAIT_GROUP_UNREAD);
	}
	sentence_append_missing(out, session);
	append_unread(out, session);
	append_elsewhere(out, session);
	/* A part that can follow another part begins with a blank: remove a leading blank. */
	if (out->length > begin && out->data[begin] == ' ') {
		memmove(out->data + begin, out->data + begin + 1, out->length - begin - 1);
		buffer_truncate(out, out->length - 1);
	}
}
