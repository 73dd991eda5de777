#include "backends/pdb/pdb-session-private.h"

#include <string.h>

#include "banned.h"
#include "backends/pdb/inspector.h"
#include "backends/pdb/pdb-requests.h"
#include "backends/pdb/pdb-socket.h"
#include "backends/pdb/pdbtranscript.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"

#define ORDERS_MAXIMUM 1000
#define TYPED_MAXIMUM (16u << 10)

static void forget_addresses(struct pdb_session *session)
{
	map_free(session->addresses);
	session->addresses = map_new(NULL);
}

bool session_was_typed(const struct pdb_session *session)
{
	return session->resumed_by == RESUMED_BY_TYPING ||
	       session->resumed_by == RESUMED_BY_LATE_EVALUATION;
}

/* The debugger has read a line and executes it. */
static void follow_line(struct pdb_session *session, enum resumed_by resumed_by)
{
	session->resumed_by = resumed_by;
	session->is_holding = resumed_by == RESUMED_BY_TYPING;
	session_enter(session, PDB_SESSION_RUNNING, session->orders ? BEHIND_SECONDS : 0);
	if (resumed_by == RESUMED_BY_TYPING)
		session_limit_state(session, LINE_SECONDS);
}

/* Returns the length up to and with the line's end: "\n", or the "\r" of Enter. */
static size_t piece_length(const char *text)
{
	size_t length = strcspn(text, "\r\n");

	return text[length] ? length + 1 : length;
}

static bool is_line(const char *piece)
{
	char last = piece[strlen(piece) - 1];

	return last == '\n' || last == '\r';
}

/* Sends the text unchanged. */
static int type_piece(struct pdb_session *session, const char *piece, struct error *error)
{
	size_t length = strlen(piece);

	if (pdb_socket_send(session->wire, piece, length, error) < 0)
		return -1;
	pdbtranscript_add(session->transcript, piece, length);
	if (session->is_echoing)
		buffer_append(&session->echo, piece, length);
	session->is_half_typed = !is_line(piece) && (unsigned char)piece[length - 1] >= ' ';
	if (!is_line(piece))
		return 0;
	forget_addresses(session);
	if (session->state == PDB_SESSION_PROMPT || session->state == PDB_SESSION_RUNNING) {
		/* The prompt has read the line. */
		session_take_prompt(session);
		follow_line(session, RESUMED_BY_TYPING);
	}
	return 0;
}

/* Types the oldest order, which must be a line of the console. */
static void type_first(struct pdb_session *session)
{
	struct order *order = session->orders;
	struct error error = ERROR_INIT;

	session->orders = order->next;
	session->order_count--;
	if (type_piece(session, order->line, &error) < 0)
		pdb_session_lose(session, error.message);
	order_free(order);
}

static void type_line(struct pdb_session *session, struct order *owned_order)
{
	struct order *order = owned_order;
	bool is_waiting = order_waits(session, order);

	pdbtranscript_add(session->transcript, order->line, strlen(order->line));
	if (session->is_echoing)
		session_expect_echo(session, order->line);
	forget_addresses(session);
	follow_line(session, is_waiting ? RESUMED_BY_TYPING : order_resumes(order));
	if (is_waiting) {
		session->typing = order;
		pdb_session_send(session, order->line);
		return;
	}
	if (pdb_session_send(session, order->line) < 0) {
		order_failed(session, order, session->debugger.why);
		order_free(order);
		return;
	}
	pdb_session_tell_state(session, DEBUGGER_RUNNING, NULL);
	order_typed(session, order, "");
	order_free(order);
}

/* Begins the next order at a free prompt. */
void session_pump(struct pdb_session *session)
{
	struct order *order = session->orders;

	if (session->state != PDB_SESSION_PROMPT || session->is_half_typed || !order)
		return;
	if (order->kind == REQUEST_TERMINAL_INPUT) {
		type_first(session);
		return;
	}
	session->orders = order->next;
	session->order_count--;
	order->next = NULL;
	if (!order->question) {
		type_line(session, order);
		return;
	}
	session->question = QUESTION_ORDER;
	session->asking = order;
	inspector_ask(session->inspector, json_incref(order->question));
	session_send_question(session);
}

void session_put_first(struct pdb_session *session, struct order *owned_order)
{
	owned_order->next = session->orders;
	session->orders = owned_order;
	session->order_count++;
}

int pdb_session_add(struct pdb_session *session, struct order *owned_order, struct error *error)
{
	struct order **last = &session->orders;

	if (session->order_count >= ORDERS_MAXIMUM) {
		order_free(owned_order);
		return error_set(error, "The debugger has %d requests to answer already.",
				 ORDERS_MAXIMUM);
	}
	while (*last)
		last = &(*last)->next;
	*last = owned_order;
	session->order_count++;
	session_pump(session);
	return 0;
}

/*
 * True if the line must wait for the next prompt: a server that reads and writes with one stream
 * drops input that arrives while it writes.
 */
static bool must_wait(const struct pdb_session *session)
{
	enum debugger_state state = session->debugger.state;

	if (session->is_half_typed)
		return false;
	switch (session->state) {
	case PDB_SESSION_ANSWERED:
		return true;
	case PDB_SESSION_ASKED:
		return state != DEBUGGER_FOREIGN && state != DEBUGGER_NESTED;
	case PDB_SESSION_RUNNING:
		return state == DEBUGGER_STOPPED;
	case PDB_SESSION_PROMPT:
		return session->orders != NULL;
	case PDB_SESSION_CONNECTING:
	case PDB_SESSION_LOST:
		break;
	}
	return false;
}

int pdb_session_type(struct pdb_session *session, const char *text, struct error *error)
{
	int result = 0;

	if (strlen(text) > TYPED_MAXIMUM)
		return error_set(error, "At most %u bytes can be typed at once.", TYPED_MAXIMUM);
	/* If a piece ends the connection, the end is reported, and the rest is dropped. */
	while (*text && result == 0 && session->wire) {
		size_t length = piece_length(text);
		char *piece = xstrndup(text, length);

		result = must_wait(session) ? pdb_session_add(session, order_new_line(piece), error)
					    : type_piece(session, piece, error);
		free(piece);
		text += length;
	}
	return result;
}

void session_type_all(struct pdb_session *session)
{
	while (session->orders && session->wire && session->orders->kind == REQUEST_TERMINAL_INPUT)
		type_first(session);
}
