#include "backends/pdb/pdb-session-private.h"

#include <string.h>

#include "banned.h"
#include "backends/node.h"
#include "backends/pdb/inspector.h"
#include "backends/pdb/pdb-requests.h"
#include "backends/pdb/pdb-stop.h"
#include "base/error.h"
#include "base/json.h"

#define PROBE_SECONDS 3.0  /* time-out of the answer to a probe, which identifies a pdb */
#define RETURN_SECONDS 5.0 /* time-out of the prompt after an answer */
#define LOST_SECONDS 0.3   /* time-out of an answer if a prompt has already come */
#define LOST_MAXIMUM 10	   /* number of lost probes after which the interval no longer grows */

static double answer_seconds(const struct pdb_session *session)
{
	return session->question == QUESTION_ORDER ? ANSWER_SECONDS
						   : PROBE_SECONDS * (1u << session->lost_count);
}

/* Sends the next line of the current question. */
void session_send_question(struct pdb_session *session)
{
	const char *line = inspector_line(session->inspector);

	if (!line)
		return;
	session_expect_echo(session, line);
	pdbprompt_forget_passed(&session->prompt);
	session_enter(session, PDB_SESSION_ASKED, answer_seconds(session));
	pdb_session_send(session, line);
}

void session_probe(struct pdb_session *session)
{
	json_t *question = json_object();

	json_set_text(question, "do", "state");
	session->question = QUESTION_STATE;
	inspector_ask(session->inspector, question);
	session_send_question(session);
}

void session_probe_again(struct pdb_session *session)
{
	if (session->lost_count < LOST_MAXIMUM)
		session->lost_count++;
	session_show_raw(session, session->raw.length);
	session_probe(session);
}

static void refuse_debugger(struct pdb_session *session, const char *why)
{
	session_enter(session, PDB_SESSION_RUNNING, 0);
	session_show_raw(session, session->raw.length);
	session_take_prompt(session);
	session->resumed_by = RESUMED_BY_NOBODY;
	pdb_session_fail_orders(session, why);
	pdb_session_tell_state(session, DEBUGGER_FOREIGN, why);
	session_type_all(session);
}

static void finish_probe(struct pdb_session *session, const json_t *answer)
{
	struct error error = ERROR_INIT;
	struct pdb_stop *stop = pdb_stop_new(answer, session->base.pid, &error);

	if (stop)
		session_take_stop(session, answer, stop);
	else
		refuse_debugger(session, error.message);
}

static void finish_asking(struct pdb_session *session, const json_t *answer)
{
	struct order *order = session->asking;

	session->asking = NULL;
	if (order->line) {
		json_decref(order->question);
		order->question = NULL;
		session_put_first(session, order);
		return;
	}
	order_answered(session, order, answer);
	if (order->kind == REQUEST_SET_BREAKPOINTS && order->request.name)
		pdb_session_tell_again(session);
	else if (order->kind == REQUEST_SET_BREAKPOINTS)
		pdb_session_tell(session);
	order_free(order);
}

static void fail_asking(struct pdb_session *session, const char *why)
{
	struct order *order = session->asking;

	session->asking = NULL;
	order_failed(session, order, why);
	order_free(order);
}

static void finish_question(struct pdb_session *session, json_t *owned_answer, const char *failure)
{
	enum question question = session->question;

	session_enter(session, PDB_SESSION_ANSWERED, RETURN_SECONDS);
	session->question = QUESTION_NONE;
	session->lost_count = 0;
	session_take_prompt(session);
	switch (question) {
	case QUESTION_ORDER:
		if (failure)
			fail_asking(session, failure);
		else
			finish_asking(session, owned_answer);
		break;
	case QUESTION_STATE:
		if (failure)
			refuse_debugger(session, failure);
		else
			finish_probe(session, owned_answer);
		break;
	case QUESTION_DROPPED: /* begin_prompt() sends a new probe */
	case QUESTION_NONE:
		break;
	}
	json_decref(owned_answer);
}

/* Shows the complete lines of raw, which are not part of an answer. */
static void show_lines(struct pdb_session *session)
{
	const char *end = memrchr(session->raw.data, '\n', session->raw.length);

	if (end)
		session_show_raw(session, (size_t)(end + 1 - session->raw.data));
}

static enum pdbprompt_kind raw_kind(const struct pdb_session *session, struct pdbprompt *rest)
{
	struct buffer lines = BUFFER_INIT;

	pdbprompt_init(rest);
	pdbprompt_learn(rest, session->prompt.learned);
	pdbprompt_feed(rest, session->raw.data, session->raw.length, &lines);
	buffer_clear(&lines);
	return pdbprompt_kind(rest);
}

bool session_has_shown_prompt(const struct pdb_session *session)
{
	struct pdbprompt rest;
	enum pdbprompt_kind kind = raw_kind(session, &rest);
	bool has_passed = pdbprompt_has_passed(&rest);

	pdbprompt_clear(&rest);
	/*
	 * Before the first stop, a prompt that came earlier does not count: it was the reason for
	 * this probe.
	 */
	return kind == PDBPROMPT_LEARNED || kind == PDBPROMPT_LIKELY || has_passed ||
	       (session->stop && pdbprompt_has_passed(&session->prompt));
}

static void begin_prompt(struct pdb_session *session)
{
	bool is_told = session->debugger.state == DEBUGGER_STOPPED ||
		       session->debugger.state == DEBUGGER_NESTED;

	session_enter(session, PDB_SESSION_PROMPT, 0);
	if (inspector_is_asking(session->inspector))
		session_send_question(session);
	else if (is_told)
		session_pump(session);
	else if (!session->is_half_typed)
		session_probe(session);
}

/* Called in state ANSWERED: output of other threads may come before the prompt. */
void session_look_for_prompt(struct pdb_session *session, bool is_quiet)
{
	struct pdbprompt rest;
	enum pdbprompt_kind kind;

	show_lines(session);
	/* Bounds the work, because raw is searched from its start for each piece that arrives. */
	if (session->raw.length > HELD_MAXIMUM)
		session_show_raw(session, session->raw.length);
	kind = raw_kind(session, &rest);
	if (is_quiet && kind == PDBPROMPT_LIKELY) {
		pdbprompt_learn(&session->prompt, rest.line.data);
		pdbprompt_learn(&rest, rest.line.data);
		kind = pdbprompt_kind(&rest);
	}
	if (kind == PDBPROMPT_LEARNED) {
		if (rest.line.length == strlen(rest.learned)) {
			buffer_reset(&session->raw);
		} else {
			session_show_raw(session, session->raw.length);
			session_take_prompt(session);
		}
	}
	/* The prompt has come, and then output of another thread. */
	if (kind != PDBPROMPT_LEARNED &&
	    (pdbprompt_has_passed(&session->prompt) || pdbprompt_has_passed(&rest))) {
		session_show_raw(session, session->raw.length);
		kind = PDBPROMPT_LEARNED;
	}
	pdbprompt_clear(&rest);
	if (kind == PDBPROMPT_LEARNED)
		begin_prompt(session);
	else
		session_await_quiet(session, LOST_SECONDS);
}

/*
 * Called in state ASKED when nothing has come for a while. A prompt without an answer means that
 * the question was refused or, if the debugger has answered before, that this is the prompt for
 * which the question waited.
 */
void session_look_for_refusal(struct pdb_session *session)
{
	struct error error = ERROR_INIT;
	struct pdbprompt rest;
	enum pdbprompt_kind kind = raw_kind(session, &rest);

	pdbprompt_clear(&rest);
	if (kind != PDBPROMPT_LEARNED) {
		show_lines(session);
		return;
	}
	if (session->question != QUESTION_ORDER && session->stop)
		session_show_raw(session, session->raw.length);
	buffer_reset(&session->raw);
	session_take_prompt(session);
	if (inspector_refused(session->inspector, &error) == INSPECTOR_SEND)
		session_send_question(session);
	else
		finish_question(session, NULL, error.message);
}

/* Called in state ASKED: raw may contain the complete answer. */
void session_look_for_answer(struct pdb_session *session)
{
	struct error error = ERROR_INIT;
	json_t *answer = NULL;
	size_t start = 0;
	size_t end = 0;
	enum inspector_result result =
		inspector_take(session->inspector, session->raw.data, session->raw.length, &start,
			       &end, &answer, &error);

	if (result == INSPECTOR_WAIT) {
		if (session->raw.length > HELD_MAXIMUM)
			show_lines(session);
		session_await_quiet(session, LOST_SECONDS);
		return;
	}
	session_show(session, session->raw.data, start);
	buffer_consume(&session->raw, end);
	if (result == INSPECTOR_LATE) {
		session_take_prompt(session);
		session_look_for_answer(session);
		return;
	}
	if (result == INSPECTOR_SEND) {
		/*
		 * This prompt has read a line of the question; the next prompt reads the next line.
		 */
		session_take_prompt(session);
		session_enter(session, PDB_SESSION_ANSWERED, RETURN_SECONDS);
	} else {
		finish_question(session, answer, result == INSPECTOR_FAILED ? error.message : NULL);
	}
}
