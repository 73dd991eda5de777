#include "backends/pdb/session-private.h"

#include <string.h>

#include "banned.h"
#include "backends/pdb/inspector.h"
#include "backends/pdb/orders.h"
#include "backends/pdb/transcript.h"
#include "backends/pdb/wire.h"
#include "base/error.h"
#include "base/map.h"

#define ORDERS_MAXIMUM 1000

static void forget_addresses(struct session *session)
{
	map_free(session->addresses);
	session->addresses = map_new(NULL);
}

/* What a line becomes when the debugger has it. */
static void follow_line(struct session *session, enum resumed_by resumed_by)
{
	session->resumed_by = resumed_by;
	session->is_holding = resumed_by == RESUMED_BY_TYPING;
	session->is_late = false;
	session_set_phase(session, PHASE_LISTENING,
			  resumed_by == RESUMED_BY_TYPING ? LINE_SECONDS : 0);
}

static void type_line(struct session *session, struct order *owned_order)
{
	struct order *order = owned_order;

	transcript_add(session->transcript, order->line, strlen(order->line));
	if (session->is_echoing)
		session_expect_echo(session, order->line);
	forget_addresses(session);
	follow_line(session, order_waits(order) ? RESUMED_BY_TYPING
						: order_resumes(order));
	if (order_waits(order)) {
		session->typing = order;
		session_send(session, order->line);
		return;
	}
	if (session_send(session, order->line) < 0) {
		order_failed(session, order, session->debugger.why);
		order_free(order);
		return;
	}
	if (order_resumes(order) != RESUMED_BY_TYPING)
		session_tell_state(session, DEBUGGER_RUNNING, NULL);
	order_typed(session, order, "");
	order_free(order);
}

/* The prompt is free: the next order. */
void session_pump(struct session *session)
{
	struct order *order = session->orders;

	if (session->phase != PHASE_PROMPT || session->is_half_typed || !order)
		return;
	session->orders = order->next;
	session->order_count--;
	order->next = NULL;
	if (!order->question) {
		type_line(session, order);
		return;
	}
	session->asking = order;
	inspector_ask(session->inspector, json_incref(order->question));
	session_send_question(session);
}

void session_put_first(struct session *session, struct order *owned_order)
{
	owned_order->next = session->orders;
	session->orders = owned_order;
	session->order_count++;
}

int session_add(struct session *session, struct order *owned_order,
		struct error *error)
{
	struct order **last = &session->orders;

	if (session->order_count >= ORDERS_MAXIMUM) {
		order_free(owned_order);
		return error_set(error,
				 "The debugger has %d requests to "
				 "answer already.",
				 ORDERS_MAXIMUM);
	}
	while (*last)
		last = &(*last)->next;
	*last = owned_order;
	session->order_count++;
	session_pump(session);
	return 0;
}

int session_type(struct session *session, const char *text, size_t length,
		 struct error *error)
{
	bool is_whole =
		memchr(text, '\n', length) || memchr(text, '\r', length);
	char last = length > 0 ? text[length - 1] : '\n';

	if (wire_send(session->wire, text, length, error) < 0)
		return -1;
	transcript_add(session->transcript, text, length);
	if (session->is_echoing)
		buffer_append(&session->echo, text, length);
	session->is_half_typed =
		last != '\n' && last != '\r' && (unsigned char)last >= ' ';
	if (!is_whole)
		return 0;
	forget_addresses(session);
	if (session->phase == PHASE_PROMPT ||
	    session->phase == PHASE_LISTENING) {
		/* The prompt that is there is used up. */
		session_take_prompt(session);
		follow_line(session, RESUMED_BY_TYPING);
	}
	return 0;
}
