#include "backends/pdb/pdb-terminal.h"

#include <stdlib.h>
#include <string.h>

#include "backends/pdb/inspector.h"
#include "backends/pdb/output-stream.h"
#include "backends/pdb/pdb-requests.h"
#include "backends/pdb/pdb-session-private.h"
#include "backends/pdb/pdb-socket.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"

/*
 * True if the text contains a location like "> /train.py(12)step()", that is a "(" before a digit.
 */
static bool pdb_terminal_is_place(const char *line, const char *end)
{
	while (line < end && (line = memchr(line, '(', (size_t)(end - line)))) {
		line++;
		if (line < end && *line >= '0' && *line <= '9')
			return true;
	}
	return false;
}

/*
 * Returns the column at which the debugger's location begins in the line: 0, or after unfinished
 * output of the program. Returns length if the line has no location.
 */
static size_t pdb_terminal_find_place(const char *line, size_t length)
{
	const char *end = line + length;
	const char *found;

	if (end > line && end[-1] == '\n')
		end--;
	if (end - line > 4 && memcmp(line, "--", 2) == 0 && memcmp(end - 2, "--", 2) == 0)
		return 0;
	if (end - line > 2 && memcmp(line, "> ", 2) == 0 && pdb_terminal_is_place(line, end))
		return 0;
	found = memmem(line, (size_t)(end - line), "> /", 3);
	return found && pdb_terminal_is_place(found, end) ? (size_t)(found - line) : length;
}

/* Passes the held output on to the output stream. */
void session_release(struct pdb_session *session)
{
	output_stream_add(session->output, session->held.data, session->held.length);
	buffer_reset(&session->held);
	session->is_holding = false;
}

/* Like session_release(), without the debugger's location at the end. */
void session_release_program(struct pdb_session *session)
{
	const char *line = session->held.data;
	const char *end = line + session->held.length;
	const char *place = end;
	bool was_place = false;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		size_t at;

		next = next ? next + 1 : end;
		at = pdb_terminal_find_place(line, (size_t)(next - line));
		if (line + at < next && !was_place)
			place = line + at;
		was_place = line + at < next;
		line = next;
	}
	buffer_truncate(&session->held, (size_t)(place - session->held.data));
	session_release(session);
}

void session_drop_held(struct pdb_session *session)
{
	buffer_reset(&session->held);
	session->is_holding = false;
}

static void hold(struct pdb_session *session, const char *text, size_t length)
{
	if (session->held.length + length > HELD_MAXIMUM) {
		if (session->typing)
			return;
		session_release(session);
	}
	buffer_append(&session->held, text, length);
}

/* True if the program is running, as far as is known, so that it may stop now. */
static bool may_stop(const struct pdb_session *session)
{
	return session->state == PDB_SESSION_RUNNING ||
	       (session->state == PDB_SESSION_ASKED && session->question != QUESTION_ORDER &&
		session->debugger.state != DEBUGGER_STOPPED);
}

static void pdb_terminal_take_line(struct pdb_session *session, const char *line, size_t length)
{
	if (!session->is_holding && may_stop(session)) {
		size_t at = pdb_terminal_find_place(line, length);

		output_stream_add(session->output, line, at);
		line += at;
		length -= at;
		session->is_holding = length > 0;
		if (session->is_holding && session->state == PDB_SESSION_RUNNING)
			session_limit_state(session, LINE_SECONDS);
	} else if (!session->is_holding) {
		output_stream_add(session->output, line, length);
		return;
	}
	hold(session, line, length);
}

/* Handles text of the program or the debugger, line by line. */
static void pdb_terminal_take_text(struct pdb_session *session, const struct buffer *text)
{
	const char *line = text->data;
	const char *end = text->data + text->length;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		next = next ? next + 1 : end;
		pdb_terminal_take_line(session, line, (size_t)(next - line));
		line = next;
	}
}

void session_show(struct pdb_session *session, const char *bytes, size_t length)
{
	struct buffer text = BUFFER_INIT;

	pdbtranscript_add(session->transcript, bytes, length);
	pdbprompt_feed(&session->prompt, bytes, length, &text);
	pdb_terminal_take_text(session, &text);
	buffer_clear(&text);
}

void session_take_prompt(struct pdb_session *session)
{
	enum pdbprompt_kind kind = pdbprompt_kind(&session->prompt);
	struct buffer text = BUFFER_INIT;

	if (kind == PDBPROMPT_NONE || kind == PDBPROMPT_MAYBE)
		return;
	pdbprompt_take(&session->prompt, kind, &text);
	pdb_terminal_take_text(session, &text);
	buffer_clear(&text);
}

/* Passes on the first length bytes of raw, which are not part of an answer. */
void session_show_raw(struct pdb_session *session, size_t length)
{
	session_show(session, session->raw.data, length);
	buffer_consume(&session->raw, length);
}

void session_expect_echo(struct pdb_session *session, const char *text)
{
	buffer_reset(&session->echo);
	buffer_append_string(&session->echo, text);
	session->echoed = 0;
}

/* Returns the number of leading bytes that are an echo of sent text. */
size_t session_skip_echo(struct pdb_session *session, const char *bytes, size_t length)
{
	const struct buffer *echo = &session->echo;
	size_t i = 0;

	while (i < length && session->echoed < echo->length) {
		char expected = echo->data[session->echoed];

		if (bytes[i] == '\r' && expected == '\n') {
			i++;
			continue;
		}
		if (bytes[i] != expected)
			break;
		session->echoed++;
		i++;
	}
	if (session->echoed == echo->length) {
		session->is_echoing |= echo->length > 0;
	} else if (i < length) {
		/* Only the beginning was equal: the bytes are not an echo. */
		buffer_append(&session->raw, echo->data, session->echoed);
	} else {
		return i;
	}
	buffer_reset(&session->echo);
	session->echoed = 0;
	return i;
}

#define KEPT_MAXIMUM (64u << 10)

struct pdbtranscript {
	struct buffer kept;
	struct output_stream *stream;
	bool is_open;
};

struct pdbtranscript *pdbtranscript_new(struct node *node, pid_t pid)
{
	struct pdbtranscript *transcript = xcalloc(1, sizeof(*transcript));

	buffer_init(&transcript->kept, 0);
	transcript->stream = output_stream_new(node, pid, "terminal", KEPT_MAXIMUM);
	return transcript;
}

void pdbtranscript_free(struct pdbtranscript *transcript)
{
	if (!transcript)
		return;
	output_stream_free(transcript->stream);
	buffer_clear(&transcript->kept);
	free(transcript);
}

void pdbtranscript_add(struct pdbtranscript *transcript, const char *bytes, size_t length)
{
	struct buffer *kept = &transcript->kept;

	buffer_append(kept, bytes, length);
	/* Cuts the text only at twice the maximum, because each cut moves all kept bytes. */
	if (kept->length > 2 * KEPT_MAXIMUM)
		buffer_consume(kept, kept->length - KEPT_MAXIMUM);
	if (transcript->is_open)
		output_stream_add(transcript->stream, bytes, length);
}

void pdbtranscript_open(struct pdbtranscript *transcript, bool is_open)
{
	struct buffer *kept = &transcript->kept;

	transcript->is_open = is_open;
	output_stream_restart(transcript->stream);
	if (!is_open)
		return;
	if (kept->length > KEPT_MAXIMUM)
		buffer_consume(kept, kept->length - KEPT_MAXIMUM);
	output_stream_add(transcript->stream, kept->data, kept->length);
	output_stream_flush(transcript->stream);
}

void pdbtranscript_flush(struct pdbtranscript *transcript)
{
	output_stream_flush(transcript->stream);
}

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

/* Called when the debugger has read a line and executes it. */
static void follow_line(struct pdb_session *session, enum resumed_by resumed_by)
{
	session->resumed_by = resumed_by;
	session->is_holding = resumed_by == RESUMED_BY_TYPING;
	session_enter(session, PDB_SESSION_RUNNING, session->orders ? BEHIND_SECONDS : 0);
	if (resumed_by == RESUMED_BY_TYPING)
		session_limit_state(session, LINE_SECONDS);
}

/* Returns the length of the first line, including its end: "\n", or the "\r" of Enter. */
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
		/* The line was read at the prompt, if there was one. */
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

/* Begins the next order if the debugger is at its prompt and nothing is being typed. */
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
		return error_set(error,
				 "the debugger has %d unanswered requests already: try again",
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
		return error_set(error, "more than %u bytes cannot be typed at once",
				 TYPED_MAXIMUM);
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
