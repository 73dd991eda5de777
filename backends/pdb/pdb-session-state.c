/*
 * pdb-session-state: the actions of each state of a session (pdb-session.h): when bytes are
 * received, when none have come for some time, and at the deadline.
 */
#include "backends/pdb/pdb-session-private.h"

#include "banned.h"
#include "backends/node.h"
#include "backends/pdb/pdb-requests.h"
#include "base/loop.h"

#define QUIET_SECONDS 0.03 /* time to wait for the rest of an unfinished line */

static void on_deadline(void *data);
static void on_quiet(void *data);

static void pdb_session_state_stop_timer(struct loop_timer **timer)
{
	if (*timer)
		loop_timer_stop(*timer);
	*timer = NULL;
}

static void set_timer(struct pdb_session *session, struct loop_timer **timer, double seconds,
		      void (*due)(void *data))
{
	pdb_session_state_stop_timer(timer);
	*timer = loop_timer(node_loop(session->base.node), seconds, 0, due, session);
}

void session_limit_state(struct pdb_session *session, double seconds)
{
	set_timer(session, &session->deadline, seconds, on_deadline);
}

void session_await_quiet(struct pdb_session *session, double seconds)
{
	set_timer(session, &session->quiet, seconds, on_quiet);
}

void session_enter(struct pdb_session *session, enum pdb_session_state state, double seconds)
{
	session->state = state;
	pdb_session_state_stop_timer(&session->quiet);
	pdb_session_state_stop_timer(&session->deadline);
	if (seconds > 0)
		session_limit_state(session, seconds);
}

/*
 * Called for a prompt of `interact` or of a statement of several lines, which is left to the user
 * of the console.
 */
static void enter_nested(struct pdb_session *session)
{
	struct order *order = session->typing;

	session->typing = NULL;
	if (order)
		order_typed(session, order, session->held.data);
	order_free(order);
	session_drop_held(session);
	session_enter(session, PDB_SESSION_RUNNING, 0);
	pdb_session_tell_state(session, DEBUGGER_NESTED,
			       "the program is at a prompt other than pdb's");
	session_type_all(session);
}

/*
 * Answers the confirmation that `quit` requests from Python 3.14 on: the screen has requested one
 * before it sent `terminate`.
 */
static void pdb_session_state_confirm(struct pdb_session *session)
{
	if (session->resumed_by != RESUMED_BY_QUIT)
		return;
	session->resumed_by = RESUMED_BY_CONTINUE;
	session_take_prompt(session);
	pdb_session_send(session, "y\n");
}

/* Checks whether the unfinished line is a prompt. */
static void look_at_line(struct pdb_session *session, bool is_quiet)
{
	bool is_first = !session->stop;
	enum pdbprompt_kind kind = pdbprompt_kind(&session->prompt);

	if (session->is_half_typed ||
	    (session->debugger.state == DEBUGGER_FOREIGN && !session_was_typed(session)))
		return;
	if (kind == PDBPROMPT_MAYBE && is_first && is_quiet)
		kind = PDBPROMPT_LIKELY;
	switch (kind) {
	case PDBPROMPT_LIKELY:
		pdbprompt_learn_line(&session->prompt);
		session_probe(session);
		return;
	case PDBPROMPT_LEARNED:
		session_probe(session);
		return;
	case PDBPROMPT_CONFIRM:
		pdb_session_state_confirm(session);
		return;
	case PDBPROMPT_OTHER:
		if (is_quiet && session->stop)
			enter_nested(session);
		break;
	case PDBPROMPT_MAYBE:
	case PDBPROMPT_NONE:
		break;
	}
	/*
	 * Another thread has printed after the prompt, or the program has printed text like a
	 * prompt.
	 */
	if (session->state == PDB_SESSION_RUNNING && pdbprompt_has_passed(&session->prompt))
		session_probe(session);
	else if (!is_quiet && kind != PDBPROMPT_NONE)
		session_await_quiet(session, QUIET_SECONDS);
}

static const char late[] = "the debugger has not returned to its prompt: the program is running, "
			   "or the line that was entered takes long";

/*
 * Called when a typed line has not returned to the prompt in time: the program counts as running.
 */
static void stop_waiting(struct pdb_session *session)
{
	struct order *order = session->typing;

	if (session->debugger.state != DEBUGGER_RUNNING)
		pdb_session_tell_state(session, DEBUGGER_RUNNING, NULL);
	if (!order) {
		session_release(session);
		pdb_session_fail_waiting(session, late);
		session_type_all(session);
		return;
	}
	if (order->kind == REQUEST_EVALUATE && session->resumed_by != RESUMED_BY_LATE_EVALUATION &&
	    !order_is_command(order)) {
		session->resumed_by = RESUMED_BY_LATE_EVALUATION;
		session_limit_state(session, ANSWER_SECONDS);
		return;
	}
	session->typing = NULL;
	if (order->kind == REQUEST_EVALUATE && !order_is_command(order))
		order_failed(session, order, late);
	else
		order_typed(session, order, "");
	order_free(order);
	session_release(session);
	pdb_session_fail_waiting(session, late);
}

static void fail_connecting(struct pdb_session *session)
{
	pdb_session_lose(session, "the debugger does not accept the connection");
}

static void stop_running(struct pdb_session *session)
{
	if (session->debugger.state == DEBUGGER_CONNECTING) {
		pdb_session_set_why(session, "the debugger is connected, but does not answer: the "
					     "program is running, or another client is connected");
		pdb_session_tell(session);
	} else if (session_was_typed(session)) {
		stop_waiting(session);
	} else {
		session_release(session);
		pdb_session_fail_waiting(session, late);
	}
}

/*
 * True if the question is lost and has to be sent again. Output that looks like a prompt can cause
 * a question before the debugger reads, and a server that reads and writes with one stream drops
 * its input when it writes. A debugger that has answered before is asked again without limit, a new
 * one only once.
 */
static bool is_question_lost(const struct pdb_session *session)
{
	bool may_ask = session->stop ? session->debugger.state == DEBUGGER_RUNNING
				     : session->lost_count == 0;

	return may_ask && session->question != QUESTION_ORDER && session_has_shown_prompt(session);
}

static void stop_asking(struct pdb_session *session)
{
	if (is_question_lost(session)) {
		session_probe_again(session);
		return;
	}
	if (!session->typing)
		session_release(session);
	if (session->question == QUESTION_ORDER || session->debugger.state == DEBUGGER_STOPPED) {
		pdb_session_fail_orders(
			session,
			"the debugger did not answer in time, and is still working on the request");
		pdb_session_tell_state(session, DEBUGGER_RUNNING,
				       "the debugger is still working on the last request");
	} else if (!session->stop) {
		pdb_session_tell_state(session, DEBUGGER_FOREIGN,
				       "the program shows a prompt, but does not answer like pdb");
	}
	session_type_all(session);
}

/*
 * Called when no prompt was recognised after an answer: it may come later, or it came and was not
 * recognised.
 */
static void stop_returning(struct pdb_session *session)
{
	session_enter(session, PDB_SESSION_RUNNING, 0);
	session_show_raw(session, session->raw.length);
	pdb_session_fail_orders(session, "the debugger has not returned to its prompt");
	pdb_session_tell_state(session, DEBUGGER_RUNNING,
			       "the debugger has not returned to its prompt");
	look_at_line(session, true);
}

static bool show_bytes(struct pdb_session *session, const char *bytes, size_t length)
{
	session_show_raw(session, session->raw.length);
	session_show(session, bytes, length);
	return true;
}

static bool keep_bytes(struct pdb_session *session, const char *bytes, size_t length)
{
	if (buffer_append(&session->raw, bytes, length) == 0)
		return true;
	pdb_session_lose(session, "the debugger sends endless output instead of an answer");
	return false;
}

static void look_for_answer(struct pdb_session *session, bool is_quiet)
{
	if (is_quiet) {
		session_look_for_refusal(session);
		return;
	}
	session_look_for_answer(session);
	if (session->state == PDB_SESSION_ANSWERED)
		session_look_for_prompt(session, false);
}

/* Actions of one state; NULL: no action. */
struct actions {
	/* Handles received bytes. Returns false if the connection has ended. */
	bool (*bytes)(struct pdb_session *session, const char *bytes, size_t length);
	/* Examines the bytes received so far. is_quiet: no byte has come for a while. */
	void (*look)(struct pdb_session *session, bool is_quiet);
	void (*deadline)(struct pdb_session *session);
};

static const struct actions actions[] = {
	[PDB_SESSION_CONNECTING] = { keep_bytes, NULL, fail_connecting },
	[PDB_SESSION_RUNNING] = { show_bytes, look_at_line, stop_running },
	[PDB_SESSION_ASKED] = { keep_bytes, look_for_answer, stop_asking },
	[PDB_SESSION_ANSWERED] = { keep_bytes, session_look_for_prompt, stop_returning },
	[PDB_SESSION_PROMPT] = { show_bytes, look_at_line, NULL },
	[PDB_SESSION_LOST] = { NULL, NULL, NULL },
};

void session_take_bytes(struct pdb_session *session, const char *bytes, size_t length)
{
	const struct actions *now = &actions[session->state];

	if (now->bytes && now->bytes(session, bytes, length) && now->look)
		now->look(session, false);
}

static void on_quiet(void *data)
{
	struct pdb_session *session = data;

	pdb_session_state_stop_timer(&session->quiet);
	if (actions[session->state].look)
		actions[session->state].look(session, true);
	node_flush(session->base.node);
}

static void on_deadline(void *data)
{
	struct pdb_session *session = data;

	pdb_session_state_stop_timer(&session->deadline);
	if (actions[session->state].deadline)
		actions[session->state].deadline(session);
	node_flush(session->base.node);
}
