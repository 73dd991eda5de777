#include "backends/pdb/pdb-session-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/pdb/pdb-bindings.h"
#include "backends/pdb/pdb-requests.h"
#include "backends/pdb/pdb-stop.h"
#include "base/alloc.h"
#include "base/json.h"
#include "base/json.h"
#include "base/loop.h"

/* True if the stop is unchanged: questions and lines typed at the prompt do not resume. */
static bool is_same_stop(const struct pdb_session *session, const struct pdb_stop *before)
{
	return (session->resumed_by == RESUMED_BY_NOBODY || session_was_typed(session)) &&
	       pdb_stop_is_same(before, session->stop);
}

/* Decides if the held output was the debugger's (dropped) or the program's (passed on). */
static void settle_held(struct pdb_session *session, bool is_same)
{
	if (is_same || session->typing)
		session_drop_held(session);
	else
		session_release_program(session);
}

static const char *const at_descriptions[] = {
	[STOP_AT_UNKNOWN] = NULL,	   [STOP_AT_LINE] = NULL,
	[STOP_AT_CALL] = "call",	   [STOP_AT_RETURN] = "return",
	[STOP_AT_EXCEPTION] = "exception",
};

static void pdb_stop_requests_find_reason(struct pdb_session *session, const json_t *answer)
{
	struct debugger *debugger = &session->debugger;
	const char *description = at_descriptions[debugger->at];
	const char *failure = json_get_string(answer, "condition_error", NULL);
	size_t numbers = json_array_size(json_object_get(answer, "hit"));
	char text[64];

	debugger->reason = session->resumed_by == RESUMED_BY_STEP || session_was_typed(session)
				   ? STOP_STEP
				   : STOP_ENTRY;
	if (debugger->is_post_mortem || debugger->at == STOP_AT_EXCEPTION)
		debugger->reason = STOP_EXCEPTION;
	if (numbers > 0) {
		debugger->reason = STOP_BREAKPOINT;
		description = "breakpoint";
	}
	if (debugger->hit_count > 0) {
		snprintf(text, sizeof(text), "breakpoint %d", debugger->hits[0]);
		description = text;
	}
	free(debugger->description);
	debugger->description =
		description && failure
			? xasprintf("%s: its condition failed: %.200s", description, failure)
			: xstrdup_or_null(description);
}

/* Learns the prompt without its colours. */
static void learn_prompt(struct pdb_session *session, const char *text)
{
	struct buffer lines = BUFFER_INIT;
	struct pdbprompt plain;

	pdbprompt_init(&plain);
	pdbprompt_feed(&plain, text, strlen(text), &lines);
	if (plain.line.length > 0)
		pdbprompt_learn(&session->prompt, plain.line.data);
	pdbprompt_clear(&plain);
	buffer_clear(&lines);
}

static void finish_typing(struct pdb_session *session, const char *said)
{
	struct order *order = session->typing;

	session->typing = NULL;
	if (order)
		order_typed(session, order, said);
	order_free(order);
}

/* `debug` runs a debugger inside the debugger; the reported stop is the outer debugger's. */
static void enter_debug(struct pdb_session *session, struct pdb_stop *owned_stop)
{
	if (session->stop)
		pdb_stop_free(owned_stop);
	else
		session->stop = owned_stop;
	session_drop_held(session);
	session->resumed_by = RESUMED_BY_NOBODY;
	pdb_session_tell_state(
		session, DEBUGGER_NESTED,
		"It is in a debugger within the debugger (\"debug\"); q leaves that.");
}

static void enter_stop(struct pdb_session *session, const json_t *answer,
		       struct pdb_stop *owned_stop)
{
	struct debugger *debugger = &session->debugger;
	struct pdb_stop *before = session->stop;
	bool was_stopped = debugger->state == DEBUGGER_STOPPED;
	bool is_same;

	session->stop = owned_stop;
	is_same = is_same_stop(session, before);
	settle_held(session, is_same);
	pdb_stop_free(before);
	pdb_stop_describe(owned_stop, debugger);
	pdb_bindings_refresh(debugger, answer);
	if (!is_same) {
		debugger->stops++;
		pdb_bindings_count_stop(debugger);
		session->stopped_at = loop_now();
		pdb_stop_requests_find_reason(session, answer);
	}
	snprintf(session->base.version, sizeof(session->base.version), "%s",
		 pdb_stop_python(owned_stop));
	debugger->state = DEBUGGER_STOPPED;
	pdb_session_set_why(session, NULL);
	session->resumed_by = RESUMED_BY_NOBODY;
	if (session->breakpoints) {
		session_put_first(session, order_new_breakpoints(session->breakpoints));
		session->breakpoints = NULL;
	} else if (is_same && was_stopped) {
		pdb_session_tell_again(session);
	} else {
		pdb_session_tell(session);
	}
}

void session_take_stop(struct pdb_session *session, const json_t *answer,
		       struct pdb_stop *owned_stop)
{
	char *said = xstrdup(session->held.data);

	session->is_guarded = json_get_boolean(answer, "guarded", false);
	learn_prompt(session, pdb_stop_prompt(owned_stop));
	if (pdb_stop_nesting(owned_stop) > 0)
		enter_debug(session, owned_stop);
	else
		enter_stop(session, answer, owned_stop);
	finish_typing(session, said);
	free(said);
}
