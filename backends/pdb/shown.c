#include "backends/pdb/session-private.h"

#include <string.h>

#include "banned.h"
#include "backends/pdb/outflow.h"
#include "backends/pdb/transcript.h"

/* "> train.py(12)step()", "--Return--": it is about to stop there. */
static bool is_about_place(const char *line, size_t length)
{
	const char *end;

	if (length > 0 && line[length - 1] == '\n')
		length--;
	end = line + length;
	if (length > 4 && memcmp(line, "--", 2) == 0)
		return memcmp(end - 2, "--", 2) == 0;
	if (length < 6 || memcmp(line, "> ", 2) != 0)
		return false;
	while (line < end && (line = memchr(line, '(', (size_t)(end - line)))) {
		line++;
		if (line < end && *line >= '0' && *line <= '9')
			return true;
	}
	return false;
}

/* What was printed and kept goes the way of all output. */
void session_release(struct session *session)
{
	outflow_add(session->output, session->held.data, session->held.length);
	buffer_reset(&session->held);
	session->is_holding = false;
}

/* Without what the debugger says of the place where it stops. */
void session_release_program(struct session *session)
{
	const char *line = session->held.data;
	const char *end = line + session->held.length;
	const char *place = end;
	bool was_place = false;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));
		bool is_place;

		next = next ? next + 1 : end;
		is_place = is_about_place(line, (size_t)(next - line));
		if (is_place && !was_place)
			place = line;
		was_place = is_place;
		line = next;
	}
	buffer_truncate(&session->held, (size_t)(place - session->held.data));
	session_release(session);
}

void session_drop_held(struct session *session)
{
	buffer_reset(&session->held);
	session->is_holding = false;
}

static void hold(struct session *session, const char *text, size_t length)
{
	if (session->held.length + length > HELD_MAXIMUM) {
		if (session->typing)
			return;
		session_release(session);
	}
	buffer_append(&session->held, text, length);
}

static void take_line(struct session *session, const char *line, size_t length)
{
	if (!session->is_holding && session->phase == PHASE_LISTENING &&
	    is_about_place(line, length)) {
		session->is_holding = true;
		session_limit_phase(session, LINE_SECONDS);
	}
	if (session->is_holding)
		hold(session, line, length);
	else
		outflow_add(session->output, line, length);
}

/* What the program, or the debugger, has printed. */
static void take_text(struct session *session, const struct buffer *text)
{
	const char *line = text->data;
	const char *end = text->data + text->length;

	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		next = next ? next + 1 : end;
		take_line(session, line, (size_t)(next - line));
		line = next;
	}
}

void session_show(struct session *session, const char *bytes, size_t length)
{
	struct buffer text = BUFFER_INIT;

	transcript_add(session->transcript, bytes, length);
	prompt_feed(&session->prompt, bytes, length, &text);
	take_text(session, &text);
	buffer_clear(&text);
}

void session_take_prompt(struct session *session)
{
	struct buffer text = BUFFER_INIT;

	prompt_take(&session->prompt, prompt_kind(&session->prompt), &text);
	take_text(session, &text);
	buffer_clear(&text);
}

/* The first bytes of raw, which are nothing of ours. */
void session_show_raw(struct session *session, size_t length)
{
	session_show(session, session->raw.data, length);
	buffer_consume(&session->raw, length);
}

void session_expect_echo(struct session *session, const char *text)
{
	buffer_reset(&session->echo);
	buffer_append_string(&session->echo, text);
	session->echoed = 0;
}

/* Bytes of the beginning that are what we sent, come back. */
size_t session_skip_echo(struct session *session, const char *bytes,
			 size_t length)
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
		/* It only began alike. */
		buffer_append(&session->raw, echo->data, session->echoed);
	} else {
		return i;
	}
	buffer_reset(&session->echo);
	session->echoed = 0;
	return i;
}
