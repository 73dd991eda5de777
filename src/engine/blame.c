#include "engine/blame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"
#include "engine/cause.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "model/wait-graph.h"

/*
 * Maximum seconds between the newest sample in which a rank waits and its end because it waited too
 * long: Python may take as long to shut down.
 */
#define LATE_SECONDS 10.0
/* Seconds for which an explanation by calls is not replaced by one by stacks. */
#define EXPLAINED_SECONDS 10.0
/*
 * A rank that ended at least so many seconds before the others was not ended together with them.
 */
#define FIRST_SECONDS 0.2
/*
 * Ranks that ended within so many seconds got a signal together: torchrun takes longer to see that
 * one has ended and to end the others.
 */
#define TOGETHER_SECONDS 0.05

void blame_clear(struct blame *blame)
{
	rankset_clear(&blame->ranks);
	rankset_clear(&blame->late);
	free(blame->late_why);
	*blame = (struct blame)BLAME_INIT;
}

/*
 * True if the recorded calls have explained the wait a moment ago. Ranks leave a call whose time is
 * over one by one, so that newer stacks name other ranks, too.
 */
static bool is_explained(const struct blame *blame, const struct engine *engine)
{
	return blame->late_why && !blame->is_verdict &&
	       engine_now(engine) - blame->late_at <= EXPLAINED_SECONDS;
}

void blame_remember(struct blame *blame, const struct engine *engine)
{
	const struct session *session = &engine->session;
	struct buffer why = BUFFER_INIT;
	struct rankset outliers;
	struct wait_graph graph;

	wait_graph_make(&graph, session);
	outliers = wait_graph_outliers(&graph);
	if (rankset_count(&outliers) > 0)
		wait_sentence_append(&why, &graph, false);
	else if (!is_explained(blame, engine))
		rankset_copy(&outliers, &session->verdict.outliers);
	if (rankset_count(&outliers) > 0) {
		rankset_copy(&blame->late, &outliers);
		blame->is_verdict = why.length == 0;
		if (blame->is_verdict)
			buffer_append_string(&why, session->verdict.sentence);
		free(blame->late_why);
		blame->late_why = buffer_take(&why);
		blame->late_at = engine_now(engine);
	}
	buffer_clear(&why);
	rankset_clear(&outliers);
	wait_graph_clear(&graph);
}

/* True if all ranks have exited, or their launcher has, so that no rank is started again. */
static bool has_job_ended(const struct engine *engine, const struct rank *first)
{
	for (size_t i = 0; i < engine->session.rank_count; i++) {
		if (!rank_is_gone(engine->session.ranks[i]))
			return cause_has_launcher_ended(engine, first);
	}
	return true;
}

/*
 * True if SIGTERM or SIGINT ended all ranks at once: then one may have lost the connection to
 * another before its own signal came.
 */
static bool were_ended_together(const struct session *session)
{
	double first = INFINITY;
	double last = -INFINITY;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (!rank_is_gone(rank) || !rank_has_end_signal(rank))
			return false;
		first = fmin(first, rank->ended_at);
		last = fmax(last, rank->ended_at);
	}
	return session->rank_count > 1 && last - first < TOGETHER_SECONDS;
}

/* Describes a job that was ended from outside: no rank is the cause. */
static void describe_end(const struct engine *engine, const struct rank *first, struct buffer *out)
{
	const struct session *session = &engine->session;
	const struct process *process = &first->process;
	struct rankset ranks = RANKSET_INIT;
	double next = INFINITY; /* seconds from the first end to the second */

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (!rank_has_end_signal(rank))
			continue;
		rankset_add(&ranks, rank->process.rank);
		if (rank != first)
			next = fmin(next, rank->ended_at - first->ended_at);
	}
	buffer_append_string(out, "The job was ended from outside: ");
	rankset_append_named(out, &ranks);
	buffer_printf(out, " %s ended by SIG%s, and no rank failed before.",
		      rankset_count(&ranks) == 1 ? "was" : "were",
		      sigabbrev_np(process->exit_signal > 0 ? process->exit_signal
							    : process->exit_code - 128));
	if (next >= FIRST_SECONDS && next < INFINITY)
		buffer_printf(out, " Rank %d ended %.1f s before the others.", process->rank, next);
	if (process->launcher && cause_has_launcher_ended(engine, first))
		buffer_printf(out, " Its launcher %s (pid %ld) has ended, too.", process->launcher,
			      (long)process->launcher_pid);
	rankset_clear(&ranks);
}

/* True if the rank ended because it waited too long for ranks that are known. */
static bool has_waited(const struct blame *blame, const struct engine *engine,
		       const struct rank *rank)
{
	return cause_blame(engine, rank) == TRACEBACK_TIMEOUT && rankset_count(&blame->late) > 0 &&
	       rank->ended_at - blame->late_at <= LATE_SECONDS;
}

/* Appends the first sentence up to what the first rank did, and sets the ranks. */
static void begin_failure(struct blame *blame, const struct engine *engine,
			  const struct rank *first, struct buffer *out)
{
	const struct rank *gone = cause_first_gone(engine, first);
	int number = first->process.rank;

	if (gone) {
		rankset_add(&blame->ranks, gone->process.rank);
		buffer_printf(out, "Rank %d ended first: it %s. Rank %d then ", gone->process.rank,
			      cause_end(gone), number);
		return;
	}
	if (has_waited(blame, engine, first))
		rankset_copy(&blame->ranks, &blame->late);
	if (rankset_count(&blame->ranks) > 0 && !rankset_contains(&blame->ranks, number)) {
		buffer_printf(out, "Rank %d waited too long for ", number);
		rankset_append_named(out, &blame->ranks);
		buffer_append_string(out, ", and ");
		return;
	}
	rankset_add(&blame->ranks, number);
	buffer_printf(out, "Rank %d failed first: it ", number);
}

/* Appends a full stop, if the text does not end in a text that was cut. */
static void end_sentence(struct buffer *out)
{
	static const char cut[] = "…";
	size_t length = strlen(cut);

	if (out->length < length || strcmp(out->data + out->length - length, cut) != 0)
		buffer_append_char(out, '.');
}

/* Appends which attempt of torchrun has failed, and whether torchrun starts the ranks again. */
static void append_attempt(const struct engine *engine, const struct rank *first,
			   struct buffer *out)
{
	struct attempt attempt;

	if (!evidence_attempt(&engine->evidence, first, &attempt) || attempt.total <= 1)
		return;
	if (attempt.number == attempt.total)
		buffer_printf(out, " This was the last of %d attempts.", attempt.total);
	else
		buffer_printf(out, " This was attempt %d of %d%s.", attempt.number, attempt.total,
			      cause_has_launcher_ended(engine, first)
				      ? ""
				      : "; torchrun starts the ranks again");
}

void blame_failure(struct blame *blame, const struct engine *engine, struct buffer *out)
{
	const struct rank *first = cause_first_failed(engine);
	struct cause cause;

	rankset_clear(&blame->ranks);
	blame->says_verdict = false;
	if (!first)
		return;
	if ((cause_was_ended(engine, first) && has_job_ended(engine, first)) ||
	    were_ended_together(&engine->session)) {
		describe_end(engine, first, out);
		return;
	}
	begin_failure(blame, engine, first, out);
	cause_find(&cause, engine, first);
	cause_append(out, &cause, first);
	cause_clear(&cause);
	end_sentence(out);
	if (blame->late_why && !cause_first_gone(engine, first) &&
	    has_waited(blame, engine, first)) {
		blame->says_verdict = blame->is_verdict;
		buffer_printf(out, " %s%s", blame->is_verdict ? "Before the failure: " : "",
			      blame->late_why);
	}
	append_attempt(engine, first, out);
}

/* Appends that the launcher of the ranks has ended: nothing ends or restarts them any more. */
static void append_lost_launcher(const struct engine *engine, struct buffer *out)
{
	for (size_t i = 0; i < engine->session.rank_count; i++) {
		const struct rank *rank = engine->session.ranks[i];
		const struct process *process = &rank->process;

		if (!process->launcher || !cause_has_launcher_ended(engine, rank))
			continue;
		buffer_printf(out, " The launcher %s (pid %ld) has ended.", process->launcher,
			      (long)process->launcher_pid);
		return;
	}
}

void blame_hang(struct blame *blame, const struct engine *engine, struct buffer *out)
{
	const struct rank *rank;
	struct cause cause;

	append_lost_launcher(engine, out);
	rankset_copy(&blame->ranks, &engine->session.verdict.outliers);
	rank = session_find_rank(&engine->session, rankset_first(&blame->ranks));
	if (!rank || rankset_count(&blame->ranks) != 1)
		return;
	cause_find(&cause, engine, rank);
	if (cause.source == CAUSE_THREAD) {
		buffer_printf(out, " Rank %d ", rank->process.rank);
		cause_append(out, &cause, rank);
		end_sentence(out);
	}
	cause_clear(&cause);
}

/* Returns integer, or null if it is less than `minimum`. */
static json_t *at_least(int integer, int minimum)
{
	return integer < minimum ? json_null() : json_integer(integer);
}

/* Adds "attempt" and "max_attempts", which are null where torchrun has not started the rank. */
static void attempt_to_json(const struct engine *engine, const struct rank *rank, json_t *json)
{
	struct attempt attempt;

	if (!rank || !evidence_attempt(&engine->evidence, rank, &attempt))
		attempt = (struct attempt){ .number = 0 };
	json_object_set_new(json, "attempt", at_least(attempt.number, 1));
	json_object_set_new(json, "max_attempts", at_least(attempt.total, 1));
}

void blame_to_json(const struct blame *blame, const struct engine *engine, double clock,
		   json_t *json)
{
	const struct rank *failed = cause_first_failed(engine);
	const struct rank *raised = failed;
	struct cause cause = { .last = -1 };

	if (!failed && rankset_count(&blame->ranks) == 1)
		raised = session_find_rank(&engine->session, rankset_first(&blame->ranks));
	if (raised)
		cause_find(&cause, engine, raised);
	json_object_set_new(json, "rank", at_least(rankset_first(&blame->ranks), 0));
	json_object_set_new(json, "ranks", format_json_set(&blame->ranks));
	json_object_set_new(json, "failed", at_least(failed ? failed->process.rank : -1, 0));
	json_object_set_new(json, "code", at_least(failed ? failed->process.exit_code : -1, 0));
	json_object_set_new(json, "signal", at_least(failed ? failed->process.exit_signal : 0, 1));
	json_object_set_new(json, "time",
			    failed && clock >= 0 && failed->ended_at >= 0
				    ? json_real(clock + failed->ended_at)
				    : json_null());
	json_object_set_new(json, "exception", cause_to_json(&cause));
	cause_clear(&cause);
	attempt_to_json(engine, raised, json);
}
