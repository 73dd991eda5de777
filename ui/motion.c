#include "ui/motion.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/pending.h"
#include "model/session.h"

struct motion_form {
	const char *command;
	const char *runs; /* of one rank that has not stopped yet */
};

static const struct motion_form forms[] = {
	{ "next", " runs" },   { "step", " runs" },  { "continue", " runs" },
	{ "finish", " runs" }, { "until", " runs" }, { "connect", "" },
};

void motion_clear(struct motion *motion)
{
	free(motion->command);
	free(motion->ranks);
	*motion = (struct motion){ .command = NULL };
}

/* NULL: after this command ranks stand where they stood. */
static const struct motion_form *form_of(const char *command)
{
	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++)
		if (strcmp(forms[i].command, command) == 0)
			return &forms[i];
	return NULL;
}

bool motion_begin(struct motion *motion, const struct engine *engine,
		  int64_t seq)
{
	const struct pending *newest;

	if (engine->pending_count == 0)
		return false;
	newest = engine->pendings[engine->pending_count - 1];
	if (newest->count == 0 || newest->asks[0].seq <= seq ||
	    form_of(newest->command) == NULL)
		return false;
	motion_clear(motion);
	motion->command = xstrdup(newest->command);
	motion->ranks = xcalloc(newest->count + 1, sizeof(struct motion_rank));
	for (size_t i = 0; i < newest->count; i++) {
		int number = newest->asks[i].rank;
		const struct rank *rank =
			session_find_rank(&engine->session, number);

		if (rank != NULL)
			motion->ranks[motion->count++] =
				(struct motion_rank){ number,
						      rank->debugger.stops };
	}
	return true;
}

/* What became of them so far. */
struct tally {
	size_t stopped;
	size_t ended;
	struct rankset running;
};

/* Of a `connect` its answer is to come yet. */
static bool is_told(const struct rank *rank)
{
	return debugger_is_ours(&rank->debugger) ||
	       rank->debugger.state == DEBUGGER_WAITING;
}

static void count(struct tally *tally, const struct motion *motion,
		  const struct session *session)
{
	for (size_t i = 0; i < motion->count; i++) {
		const struct motion_rank *told = &motion->ranks[i];
		const struct rank *rank =
			session_find_rank(session, told->rank);

		if (rank == NULL || rank_is_gone(rank) || !is_told(rank))
			tally->ended++;
		else if (rank->debugger.stops > told->stops)
			tally->stopped++;
		else
			rankset_add(&tally->running, told->rank);
	}
}

static void append_tally(struct buffer *out, const struct tally *tally,
			 const struct motion *motion)
{
	size_t running = rankset_count(&tally->running);

	buffer_printf(out, "%s: ", motion->command);
	if (motion->count == 1) {
		buffer_printf(out, "rank %d%s", motion->ranks[0].rank,
			      form_of(motion->command)->runs);
		return;
	}
	text_count(out, tally->stopped);
	buffer_append_string(out, " of ");
	text_count(out, motion->count);
	buffer_append_string(out, " stopped; ");
	text_count(out, running);
	buffer_append_string(out, running == 1 ? " runs (" : " run (");
	rankset_append(out, &tally->running);
	buffer_append_char(out, ')');
	if (tally->ended == 0)
		return;
	buffer_append_string(out, "; ");
	text_count(out, tally->ended);
	buffer_append_string(out, tally->ended == 1 ? " is gone" : " are gone");
}

void motion_append(struct buffer *out, const struct motion *motion,
		   const struct session *session)
{
	struct tally tally = { .running = RANKSET_INIT };

	if (motion->command == NULL)
		return;
	count(&tally, motion, session);
	if (tally.running.range_count > 0)
		append_tally(out, &tally, motion);
	rankset_clear(&tally.running);
}
