#include "ui/step-group.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/rank-answers.h"
#include "model/debug-state.h"
#include "model/session.h"

#define WAIT_SECONDS 1.0

struct step_group_form {
	const char *command;
	const char *runs; /* text for a single rank that has not stopped yet */
	bool is_step;	  /* ranks stop soon, or wait for other ranks */
	bool is_summed;	  /* the number of stopped ranks is shown at the end */
	bool is_endless;  /* ranks need not stop at all */
};

static const struct step_group_form forms[] = {
	{ "next", " is running", .is_step = true },
	{ "step", " is running", .is_step = true },
	{ "continue", " is running", .is_endless = true },
	{ "finish", " is running", .is_step = true, .is_endless = true },
	{ "until", " is running", .is_step = true, .is_endless = true },
	{ "pause", " is running", .is_summed = true },
	{ "connect", "", .is_endless = true },
};

void step_group_clear(struct step_group *motion)
{
	free(motion->command);
	free(motion->name);
	free(motion->ranks);
	*motion = (struct step_group){ .command = NULL };
}

/* Returns NULL for a command that does not make a step group. */
static const struct step_group_form *step_group_form_of(const char *command)
{
	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++)
		if (strcmp(forms[i].command, command) == 0)
			return &forms[i];
	return NULL;
}

bool step_group_begin(struct step_group *motion, const struct engine *engine, uint64_t number)
{
	const struct rank_answers *newest;

	if (engine->pendings.count == 0)
		return false;
	newest = engine->pendings.items[engine->pendings.count - 1];
	if (newest->count == 0 || newest->number <= number ||
	    step_group_form_of(newest->command) == NULL)
		return false;
	step_group_clear(motion);
	motion->command = xstrdup(newest->command);
	motion->began_at = engine_now(engine);
	motion->offer_after = engine->settings.step_timeout;
	motion->number = newest->number;
	motion->ranks = xcalloc(newest->count + 1, sizeof(struct step_group_rank));
	for (size_t i = 0; i < newest->count; i++) {
		int rank_number = request_group_rank(newest->group, i);
		const struct rank *rank = session_find_rank(&engine->session, rank_number);

		if (rank != NULL)
			motion->ranks[motion->count++] =
				(struct step_group_rank){ rank_number, rank->debugger.stops };
	}
	return true;
}

void step_group_name(struct step_group *motion, const char *name)
{
	free(motion->name);
	motion->name = xstrdup(name);
}

static void step_group_append_name(struct buffer *out, const struct step_group *motion)
{
	buffer_printf(out, "%s: ", motion->name != NULL ? motion->name : motion->command);
}

/* The group's ranks by their present state: sets, or counts. */
struct tally {
	struct rankset stopped;
	struct rankset running;
	size_t refused;
	size_t left; /* running ranks that nothing will stop */
	size_t ended;
};

static void tally_clear(struct tally *tally)
{
	rankset_clear(&tally->stopped);
	rankset_clear(&tally->running);
}

/* True if the rank can still stop: its debugger is connected, or the answer to `connect` or to the
 * first `pause` is still to come. */
static bool is_told(const struct rank *rank, const struct step_group *motion)
{
	return debugger_is_ours(&rank->debugger) || rank->debugger.state == DEBUGGER_WAITING ||
	       (ptrace_state_is_free(rank) && step_group_form_of(motion->command)->is_summed);
}

/* True if the node resumed the rank, or if the rank's pause is no longer pending, since its
 * debugger has detached. */
static bool is_resumed(const struct rank *rank, const struct step_group *motion)
{
	if (step_group_form_of(motion->command)->is_summed && !rank->is_pausing)
		return true;
	return rank->debugger.state == DEBUGGER_RUNNING &&
	       rank->debugger.resumed_for != RESUME_REQUEST;
}

static void step_group_count(struct tally *tally, const struct step_group *motion,
			     const struct session *session)
{
	for (size_t i = 0; i < motion->count; i++) {
		const struct step_group_rank *told = &motion->ranks[i];
		const struct rank *rank = session_find_rank(session, told->rank);

		if (rank == NULL || rank_is_gone(rank))
			tally->ended++;
		else if (debugger_is_ours(&rank->debugger) && rank->debugger.stops > told->stops)
			rankset_add(&tally->stopped, told->rank);
		else if (motion->is_answered && rank->debugger.state == DEBUGGER_STOPPED)
			tally->refused++;
		else if (is_resumed(rank, motion))
			tally->left++;
		else if (is_told(rank, motion))
			rankset_add(&tally->running, told->rank);
		else if (rank->debugger.state == DEBUGGER_NONE)
			tally->left++;
		else
			tally->ended++;
	}
}

void step_group_key(struct step_group *motion, const struct session *session)
{
	struct tally tally = { .running = RANKSET_INIT };
	bool is_over;

	if (motion->command == NULL)
		return;
	step_group_count(&tally, motion, session);
	is_over = tally.running.range_count == 0;
	tally_clear(&tally);
	motion->is_silent = step_group_form_of(motion->command)->is_endless;
	if (is_over || (motion->is_silent && !step_group_form_of(motion->command)->is_step))
		step_group_clear(motion);
}

void step_group_settle(struct step_group *motion, const struct engine *engine)
{
	motion->is_answered = motion->command != NULL;
	for (size_t i = 0; i < engine->pendings.count; i++)
		if (engine->pendings.items[i]->number == motion->number)
			motion->is_answered = false;
}

/* True if the rank may wait for a stopped rank in a collective, and so cannot stop before that rank
 * resumes. */
static bool waits_long(const struct step_group *motion, const struct session *session, int number)
{
	const struct rank *rank = session_find_rank(session, number);
	const struct thread *thread = rank != NULL ? rank_main_thread(rank) : NULL;

	return thread != NULL && thread->activity.kind == ACTIVITY_PEERS &&
	       session->now - thread->since >= WAIT_SECONDS &&
	       session->now - motion->began_at >= WAIT_SECONDS;
}

void step_group_add_running(struct rankset *ranks, const struct step_group *motion,
			    const struct session *session)
{
	struct tally tally = { .running = RANKSET_INIT };
	int number = -1;

	if (motion->command == NULL || !step_group_form_of(motion->command)->is_step)
		return;
	step_group_count(&tally, motion, session);
	while ((number = rankset_next(&tally.running, number)) >= 0)
		if (tally.stopped.range_count == 0 || !waits_long(motion, session, number))
			rankset_add(ranks, number);
	tally_clear(&tally);
}

bool step_group_is_refused(const struct step_group *motion, const struct session *session)
{
	struct tally tally = { .running = RANKSET_INIT };

	if (motion->command == NULL)
		return false;
	step_group_count(&tally, motion, session);
	tally_clear(&tally);
	return tally.refused > 0;
}

/*
 * Returns the collective in which all ranks wait, "all_reduce"; NULL if not all ranks wait in the
 * same collective.
 */
static const char *wait_of(const struct rankset *ranks, const struct session *session)
{
	const char *name = NULL;
	int number = -1;

	while ((number = rankset_next(ranks, number)) >= 0) {
		const struct rank *rank = session_find_rank(session, number);
		const struct thread *thread = rank != NULL ? rank_main_thread(rank) : NULL;

		if (thread == NULL || thread->activity.kind != ACTIVITY_PEERS ||
		    (name != NULL && strcmp(name, thread->activity.name) != 0))
			return NULL;
		name = thread->activity.name;
	}
	return name;
}

static void append_running(struct buffer *out, const struct tally *tally,
			   const struct session *session)
{
	size_t running = rankset_count(&tally->running);
	const char *wait = wait_of(&tally->running, session);

	text_count(out, running);
	if (wait != NULL) {
		buffer_append_string(out, " in ");
		text_escape(out, wait, strlen(wait));
	} else {
		buffer_append_string(out, " running");
	}
	buffer_append_string(out, " (");
	rankset_append(out, &tally->running);
	buffer_append_char(out, ')');
}

static void step_group_append_count(struct buffer *out, size_t count, const char *one,
				    const char *several)
{
	if (count == 0)
		return;
	buffer_append_string(out, "; ");
	text_count(out, count);
	buffer_append_string(out, count == 1 ? one : several);
}

/* True if agents debug all of the ranks. An agent stops a thread only at its next Python line. */
static bool are_of_agents(const struct rankset *ranks, const struct session *session)
{
	int number = -1;

	while ((number = rankset_next(ranks, number)) >= 0) {
		const struct rank *rank = session_find_rank(session, number);

		if (rank == NULL || !debugger_is_of(&rank->debugger, "http"))
			return false;
	}
	return true;
}

/* Appends where pending pauses of agents will stop, after joint (" and", or ""). */
static void step_group_append_where(struct buffer *out, const struct step_group *motion,
				    const struct tally *tally, const struct session *session,
				    const char *joint)
{
	if (!step_group_form_of(motion->command)->is_summed ||
	    !are_of_agents(&tally->running, session))
		return;
	buffer_append_string(out, joint);
	buffer_append_string(out, rankset_count(&tally->running) == 1
					  ? " will stop at its next Python line"
					  : " will stop at their next Python line");
}

static void append_one(struct buffer *out, const struct step_group *motion,
		       const struct tally *tally, const struct session *session)
{
	const char *wait = wait_of(&tally->running, session);

	buffer_printf(out, "rank %d", motion->ranks[0].rank);
	if (wait == NULL) {
		buffer_append_string(out, step_group_form_of(motion->command)->runs);
		return;
	}
	buffer_append_string(out, " waits in ");
	text_escape(out, wait, strlen(wait));
	step_group_append_where(out, motion, tally, session, " and");
}

static void append_tally(struct buffer *out, const struct tally *tally,
			 const struct step_group *motion, const struct session *session)
{
	double seconds = session->now - motion->began_at;

	step_group_append_name(out, motion);
	if (motion->count == 1) {
		append_one(out, motion, tally, session);
	} else {
		text_count(out, rankset_count(&tally->stopped));
		buffer_append_string(out, " of ");
		text_count(out, motion->count);
		buffer_append_string(out, " stopped; ");
		append_running(out, tally, session);
		step_group_append_where(out, motion, tally, session, "");
		step_group_append_count(out, tally->left, " will not stop", " will not stop");
		step_group_append_count(out, tally->ended, " exited", " exited");
	}
	/* Steps of less than a second show no time. */
	if (step_group_form_of(motion->command)->is_step && seconds >= 1)
		buffer_printf(out, ", %.1f s", seconds);
}

/* Returns the seconds between the first and the last stop of the ranks; -1 if unknown. */
static double skew_of(const struct rankset *ranks, const struct session *session)
{
	const struct rank *first = NULL;
	const struct rank *last = NULL;
	int number = -1;

	while ((number = rankset_next(ranks, number)) >= 0) {
		const struct rank *rank = session_find_rank(session, number);

		/* Times from different hosts cannot be compared. */
		if (rank == NULL || rank->debugger.stopped_at < 0 ||
		    (first != NULL && first->node != rank->node))
			return -1;
		if (first == NULL || rank->debugger.stopped_at < first->debugger.stopped_at)
			first = rank;
		if (last == NULL || rank->debugger.stopped_at > last->debugger.stopped_at)
			last = rank;
	}
	return first != NULL ? last->debugger.stopped_at - first->debugger.stopped_at : -1;
}

static void append_skew(struct buffer *out, double seconds)
{
	if (seconds < 0)
		return;
	if (seconds < 1e-3)
		buffer_printf(out, " within %.0f \u00b5s", seconds * 1e6);
	else if (seconds < 1)
		buffer_printf(out, " within %.1f ms", seconds * 1e3);
	else
		buffer_printf(out, " within %.1f s", seconds);
}

/* Appends "pause: 8 ranks stopped within 1.2 ms". */
static void append_sum(struct buffer *out, const struct tally *tally,
		       const struct step_group *motion, const struct session *session)
{
	size_t stopped = rankset_count(&tally->stopped);

	if (stopped == 0)
		return;
	step_group_append_name(out, motion);
	if (stopped == 1) {
		buffer_printf(out, "rank %d stopped", rankset_first(&tally->stopped));
	} else {
		text_count(out, stopped);
		buffer_append_string(out, " ranks stopped");
		append_skew(out, skew_of(&tally->stopped, session));
	}
	step_group_append_count(out, tally->ended, " exited", " exited");
}

void step_group_append(struct buffer *out, const struct step_group *motion,
		       const struct session *session)
{
	struct tally tally = { .running = RANKSET_INIT };

	if (motion->command == NULL)
		return;
	step_group_count(&tally, motion, session);
	if (tally.running.range_count > 0)
		append_tally(out, &tally, motion, session);
	else if (step_group_form_of(motion->command)->is_summed)
		append_sum(out, &tally, motion, session);
	tally_clear(&tally);
}

bool step_group_is_stuck(const struct step_group *motion, const struct session *session)
{
	struct tally tally = { .running = RANKSET_INIT };
	bool is_stuck = false;

	if (motion->command == NULL || !step_group_form_of(motion->command)->is_step ||
	    session->now - motion->began_at < motion->offer_after)
		return false;
	step_group_count(&tally, motion, session);
	for (size_t i = 0; i < session->rank_count && !is_stuck; i++)
		is_stuck =
			tally.running.range_count > 0 && debug_state_is_stopped(session->ranks[i]);
	tally_clear(&tally);
	return is_stuck;
}

#define LINES_MAXIMUM 100

void stepqueue_clear(struct stepqueue *queue)
{
	for (size_t i = 0; i < queue->count; i++)
		free(queue->lines[i]);
	free(queue->lines);
	*queue = (struct stepqueue){ .lines = NULL };
}

void stepqueue_add(struct stepqueue *queue, const char *line)
{
	if (queue->count == LINES_MAXIMUM)
		return;
	ARRAY_GROW(queue->lines, queue->count, queue->capacity);
	queue->lines[queue->count++] = xstrdup(line);
}

char *stepqueue_take(struct stepqueue *queue)
{
	char *first;

	if (queue->count == 0)
		return NULL;
	first = queue->lines[0];
	queue->count--;
	memmove(queue->lines, queue->lines + 1, queue->count * sizeof(*queue->lines));
	return first;
}

void stepqueue_append(struct buffer *out, const struct stepqueue *queue)
{
	for (size_t i = 0; i < queue->count;) {
		const char *line = queue->lines[i];
		size_t times = 0;

		if (i > 0)
			buffer_append_string(out, ", ");
		while (i + times < queue->count && strcmp(queue->lines[i + times], line) == 0)
			times++;
		text_escape(out, line, strlen(line));
		if (times > 1)
			buffer_printf(out, " \u00d7%zu", times);
		i += times;
	}
}
