#include "backends/pdb/session-private.h"

#include "banned.h"
#include "backends/node.h"
#include "backends/pdb/orders.h"
#include "base/loop.h"

#define QUIET_SECONDS 0.03 /* more of an unfinished line */

static void on_deadline(void *data);
static void on_quiet(void *data);

static void stop_timer(struct loop_timer **timer)
{
	if (*timer)
		loop_timer_stop(*timer);
	*timer = NULL;
}

static void set_timer(struct session *session, struct loop_timer **timer, double seconds,
		      void (*due)(void *data))
{
	stop_timer(timer);
	*timer = loop_timer(node_loop(session->base.node), seconds, 0, due, session);
}

void session_limit_phase(struct session *session, double seconds)
{
	set_timer(session, &session->deadline, seconds, on_deadline);
}

void session_await_quiet(struct session *session, double seconds)
{
	set_timer(session, &session->quiet, seconds, on_quiet);
}

void session_set_phase(struct session *session, enum phase phase, double seconds)
{
	session->phase = phase;
	stop_timer(&session->quiet);
	stop_timer(&session->deadline);
	if (seconds > 0)
		session_limit_phase(session, seconds);
}

/* interact, or more lines of a statement: who typed that knows. */
static void enter_nested(struct session *session)
{
	struct order *order = session->typing;

	session->typing = NULL;
	if (order)
		order_typed(session, order, session->held.data);
	order_free(order);
	session_drop_held(session);
	session_set_phase(session, PHASE_LISTENING, 0);
	session_tell_state(
		session, DEBUGGER_NESTED,
		"It is at another prompt than that of the debugger; end that in the console.");
	session_type_all(session);
}

/* From 3.14 on quit asks back; who told it to quit was asked by us. */
static void confirm(struct session *session)
{
	if (!session->is_quitting)
		return;
	session->is_quitting = false;
	session_take_prompt(session);
	session_send(session, "y\n");
}

/* LISTENING, or at the prompt: is that one? */
void session_look_at_line(struct session *session, bool is_quiet)
{
	bool is_first = !session->stop;
	enum pdbprompt_kind kind = pdbprompt_kind(&session->prompt);

	if (session->is_half_typed || (session->debugger.state == DEBUGGER_FOREIGN &&
				       session->resumed_by != RESUMED_BY_TYPING))
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
		confirm(session);
		return;
	case PDBPROMPT_OTHER:
		if (is_quiet && session->stop)
			enter_nested(session);
		break;
	case PDBPROMPT_MAYBE:
	case PDBPROMPT_NONE:
		break;
	}
	/* Another thread printed behind the prompt, or what looks like one. */
	if (session->phase == PHASE_LISTENING && pdbprompt_has_passed(&session->prompt))
		session_probe(session);
	else if (!is_quiet && kind != PDBPROMPT_NONE)
		session_await_quiet(session, QUIET_SECONDS);
}

static void on_quiet(void *data)
{
	struct session *session = data;

	stop_timer(&session->quiet);
	switch (session->phase) {
	case PHASE_LISTENING:
	case PHASE_PROMPT:
		session_look_at_line(session, true);
		break;
	case PHASE_ASKING:
		session_look_for_refusal(session);
		break;
	case PHASE_RETURNING:
		session_look_for_prompt(session, true);
		break;
	case PHASE_CONNECTING:
	case PHASE_LOST:
		break;
	}
	node_flush(session->base.node);
}

static const char late[] =
	"The debugger has not come back to its prompt: the program runs, or the line takes long.";

/* A line of an order runs on: the program does. */
static void stop_waiting(struct session *session)
{
	struct order *order = session->typing;
	if (session->debugger.state != DEBUGGER_RUNNING)
		session_tell_state(session, DEBUGGER_RUNNING, NULL);
	if (!order) {
		session_release(session);
		session_fail_waiting(session, late);
		session_type_all(session);
		return;
	}
	if (order->kind == REQUEST_EVALUATE && !session->is_late && !order_is_command(order)) {
		session->is_late = true;
		session_limit_phase(session, ANSWER_SECONDS);
		return;
	}
	session->typing = NULL;
	if (order->kind == REQUEST_EVALUATE && !order_is_command(order))
		order_failed(session, order, late);
	else
		order_typed(session, order, "");
	order_free(order);
	session_release(session);
	session_fail_waiting(session, late);
}

static void stop_listening(struct session *session)
{
	if (session->debugger.state == DEBUGGER_CONNECTING) {
		session_set_why(session, "It is connected and says nothing: its program runs, or "
					 "it has another client.");
		session_tell(session);
	} else if (session->resumed_by == RESUMED_BY_TYPING) {
		stop_waiting(session);
	} else {
		session_release(session);
		session_fail_waiting(session, late);
	}
}

/*
 * What a program prints beside a prompt can make us ask before the prompt is
 * there, and a server that reads and writes by one stream forgets what it has
 * read of us when it writes. Who answered before is asked again, and a new one
 * once.
 */
static bool is_question_lost(const struct session *session)
{
	bool may_ask = session->stop ? session->debugger.state == DEBUGGER_RUNNING
				     : session->lost_count == 0;

	return may_ask && !session->asking && session_has_shown_prompt(session);
}

static void stop_asking(struct session *session)
{
	if (is_question_lost(session)) {
		session_probe_again(session);
		return;
	}
	if (!session->typing)
		session_release(session);
	if (session->asking || session->debugger.state == DEBUGGER_STOPPED) {
		session_fail_orders(session, "The debugger did not answer in time; it still works "
					     "on what it was asked.");
		session_tell_state(session, DEBUGGER_RUNNING,
				   "It still works on what it was asked.");
	} else if (!session->stop) {
		session_tell_state(session, DEBUGGER_FOREIGN,
				   "It shows a prompt and does not answer as a pdb does: only the "
				   "console is of use.");
	}
	session_type_all(session);
}

/* The prompt comes later, or is there and not known. */
static void stop_returning(struct session *session)
{
	session_set_phase(session, PHASE_LISTENING, 0);
	session_show_raw(session, session->raw.length);
	session_fail_orders(session, "The debugger has not come back to its prompt.");
	session_tell_state(session, DEBUGGER_RUNNING, "It has not come back to its prompt.");
	session_look_at_line(session, true);
}

static void on_deadline(void *data)
{
	struct session *session = data;

	stop_timer(&session->deadline);
	switch (session->phase) {
	case PHASE_CONNECTING:
		session_lose(session, "The debugger does not take the connection.");
		break;
	case PHASE_LISTENING:
		stop_listening(session);
		break;
	case PHASE_ASKING:
		stop_asking(session);
		break;
	case PHASE_RETURNING:
		stop_returning(session);
		break;
	case PHASE_PROMPT:
	case PHASE_LOST:
		break;
	}
	node_flush(session->base.node);
}
