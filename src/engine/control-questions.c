/* control-questions: questions asked before an action that disturbs the job. */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-answers.h"
#include "model/activity.h"
#include "model/debug-state.h"
#include "model/wait-group.h"

/* Appends "; 7 other ranks wait in all_reduce". */
static void append_peers(struct buffer *out, const struct session *session,
			 const struct rankset *ranks)
{
	const char *where = NULL; /* peers' activity; NULL: no peer yet; "": several */
	size_t count = 0;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		const char *name;

		if (rankset_contains(ranks, rank->process.rank) ||
		    wait_group_role_of(rank) != WAIT_GROUP_WAITS)
			continue;
		name = rank_main_thread(rank)->activity.name;
		where = !where || strcmp(where, name) == 0 ? name : "";
		count++;
	}
	if (count == 0)
		return;
	buffer_append_string(out, "; ");
	text_count(out, count);
	buffer_append_string(out, count == 1 ? " other rank waits" : " other ranks wait");
	if (where[0] != '\0') {
		buffer_append_string(out, " in ");
		format_text(out, where);
	}
}

/* Name of the exception that the rank raises when its debugger quits; free() it. */
static char *find_raised(const struct session *session, int number)
{
	const struct rank *rank = session_find_rank(session, number);
	const char *exception = rank ? rank->debugger.exception : NULL;
	struct buffer out = BUFFER_INIT;

	if (!rank || !rank->debugger.is_post_mortem)
		return xstrdup("BdbQuit");
	if (!exception)
		return xstrdup("an exception");
	text_escape(&out, exception, strcspn(exception, "\n"));
	return buffer_take(&out);
}

/*
 * Appends "ranks 0,2 will raise BdbQuit" for those ranks of *left that raise the same exception as
 * the first rank of *left; removes these ranks from *left.
 */
static void control_questions_append_alike(struct buffer *out, const struct session *session,
					   struct rankset *left)
{
	struct rankset alike = RANKSET_INIT;
	int rank = rankset_first(left);
	char *raised = find_raised(session, rank);

	for (; rank >= 0; rank = rankset_next(left, rank)) {
		char *own = find_raised(session, rank);

		if (strcmp(own, raised) == 0)
			rankset_add(&alike, rank);
		free(own);
	}
	rankset_append_named(out, &alike);
	buffer_printf(out, " will raise %s", raised);
	rankset_subtract(left, &alike);
	rankset_clear(&alike);
	free(raised);
}

static char *make_quit_question(const struct session *session, const struct rankset *ranks)
{
	struct rankset left = RANKSET_INIT;
	struct buffer out = BUFFER_INIT;

	rankset_copy(&left, ranks);
	while (left.range_count > 0) {
		if (out.length > 0)
			buffer_append_string(&out, "; ");
		control_questions_append_alike(&out, session, &left);
	}
	out.data[0] = 'R';
	append_peers(&out, session, ranks);
	buffer_append_string(&out, rankset_count(ranks) == 1 ? ". Quit the debugger?"
							     : ". Quit the debuggers?");
	rankset_clear(&left);
	return buffer_take(&out);
}

int control_confirm_quit(const struct control *control, struct command_context *context,
			 struct error *error)
{
	char *question = make_quit_question(&context->engine->session, &control->chosen);

	return control_confirm(control, context, question, error);
}

/*
 * Adds to standing the ranks that are stopped in any debugger and that this command does not
 * resume.
 */
static void add_standing(struct rankset *standing, const struct control *control,
			 const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (debug_state_is_held(rank) &&
		    !rankset_contains(&control->chosen, rank->process.rank))
			rankset_add(standing, rank->process.rank);
	}
}

static char *make_collective_question(const struct rankset *going, const struct rankset *standing,
				      const struct collective *collective)
{
	bool is_one = rankset_count(going) == 1;
	struct buffer out = BUFFER_INIT;

	rankset_append_named(&out, going);
	out.data[0] = 'R';
	buffer_append_string(&out, is_one ? " reaches " : " reach ");
	format_text(&out, collective->name);
	buffer_printf(&out, " (line %d) and will wait there for ", collective->line);
	rankset_append_named(&out, standing);
	buffer_printf(&out, ", which %s stopped. Continue anyway?",
		      rankset_count(standing) == 1 ? "is" : "are");
	return buffer_take(&out);
}

char *control_collective_question(const struct control *control, const struct session *session,
				  bool is_far)
{
	struct collective collective = { .name = NULL };
	struct rankset standing = RANKSET_INIT;
	struct rankset going = RANKSET_INIT;
	char *question = NULL;
	int rank = -1;

	add_standing(&standing, control, session);
	while (standing.range_count > 0 && (rank = rankset_next(&control->chosen, rank)) >= 0) {
		const struct rank *found = session_find_rank(session, rank);
		struct collective own;

		/* Skip a running rank: the command only withdraws the rank's pause request. */
		if (!debug_state_is_stopped(found) ||
		    !collective_is_ahead(&own, session, found, control_depth(session, found),
					 is_far))
			continue;
		rankset_add(&going, rank);
		if (!collective.name)
			collective = own;
	}
	if (going.range_count > 0)
		question = make_collective_question(&going, &standing, &collective);
	rankset_clear(&going);
	rankset_clear(&standing);
	return question;
}

/*
 * Returns one sentence for each kind of cost of closing the connections to ranks (NULL: to all
 * ranks), followed by question. Returns NULL if closing costs nothing.
 */
static char *leaving_question(const struct session *session, const struct rankset *ranks,
			      bool is_connected, const char *question)
{
	struct failures costs = FAILURES_INIT;
	struct buffer out = BUFFER_INIT;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (ranks && !rankset_contains(ranks, rank->process.rank))
			continue;
		if (!rank_is_gone(rank) && rank->debugger.leaving &&
		    debugger_is_ours(&rank->debugger) == is_connected)
			failures_add(&costs, rank->process.rank, rank->debugger.leaving);
	}
	if (costs.count > 0) {
		failures_append(&out, &costs);
		out.data[0] = 'R';
		if (out.data[out.length - 1] != '.')
			buffer_append_char(&out, '.');
		buffer_append_string(&out, question);
	}
	failures_clear(&costs);
	if (out.length == 0) {
		buffer_clear(&out);
		return NULL;
	}
	return buffer_take(&out);
}

char *control_leave_question(const struct session *session, const struct rankset *ranks)
{
	return leaving_question(session, ranks, true, " Detach anyway?");
}

char *control_connect_question(const struct session *session, const struct rankset *ranks)
{
	return leaving_question(session, ranks, false, " Connect?");
}

/* What a stopped rank does when probetui exits. */
enum fate {
	FATE_GOES_ON,
	FATE_WAITS, /* the debug server of package probetui waits for its next client */
	FATE_HELD,
	FATE_COUNT
};

static enum fate fate_of(const struct rank *rank)
{
	const char *dialect = rank->debugger.dialect;

	if (debug_state_is_leased(rank))
		return FATE_HELD;
	return dialect && strcmp(dialect, "probetui") == 0 ? FATE_WAITS : FATE_GOES_ON;
}

static const char *const fate_words[FATE_COUNT][2] = {
	[FATE_GOES_ON] = { "will resume", "will resume" },
	[FATE_WAITS] = { "stays stopped until a client connects",
			 "stay stopped until a client connects" },
	[FATE_HELD] = { "stays stopped by its agent until the time limit (lease)",
			"stay stopped by their agents until the time limits (leases)" },
};

/* Appends "2 ranks are stopped, and will resume", or a count for each fate. */
static void append_fates(struct buffer *out, const size_t counts[FATE_COUNT], size_t count)
{
	bool is_one_fate = false;
	const char *between = ": ";

	for (int i = 0; i < FATE_COUNT; i++)
		is_one_fate |= counts[i] == count;
	buffer_printf(out, "%zu %s", count, count > 1 ? "ranks are stopped" : "rank is stopped");
	for (int i = 0; i < FATE_COUNT; i++) {
		const char *words = fate_words[i][counts[i] > 1];

		if (counts[i] > 0 && is_one_fate)
			buffer_printf(out, ", and %s", words);
		else if (counts[i] > 0)
			buffer_printf(out, "%s%zu %s", between, counts[i], words);
		if (counts[i] > 0)
			between = ", ";
	}
}

char *control_end_question(const struct session *session)
{
	struct buffer out = BUFFER_INIT;
	size_t counts[FATE_COUNT] = { 0 };
	size_t count = 0;
	char *question;

	/* A recording's ranks do not resume when the screen is left. */
	if (session->is_replay)
		return NULL;
	question = control_leave_question(session, NULL);
	if (question)
		return question;
	for (size_t i = 0; i < session->rank_count; i++) {
		if (!debug_state_is_stopped(session->ranks[i]))
			continue;
		counts[fate_of(session->ranks[i])]++;
		count++;
	}
	if (count == 0)
		return NULL;
	append_fates(&out, counts, count);
	buffer_append_string(&out, ". Quit?");
	return buffer_take(&out);
}
