#include "backends/pdb/pdb-session-private.h"

#include <string.h>

#include "banned.h"
#include "backends/pdb/output-stream.h"
#include "backends/pdb/pdbtranscript.h"

/* True for a location like "> /train.py(12)step()": a "(" before a digit. */
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
 * Returns where the debugger's location text begins in the line: column 0, or after unfinished
 * program output. Returns length if there is none.
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

/* True if the program runs, as far as is known, so that it may stop now. */
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

/* Takes text of the program or the debugger, line by line. */
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

/* Passes on the first length bytes of raw, which belong to no question. */
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
		/* Only the beginning was equal: these bytes are no echo. */
		buffer_append(&session->raw, echo->data, session->echoed);
	} else {
		return i;
	}
	buffer_reset(&session->echo);
	session->echoed = 0;
	return i;
}
