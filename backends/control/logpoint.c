#include "backends/control/logpoint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/control/pyexpression.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"

/* A piece of text, then an expression. */
struct piece {
	char *text;
	struct pyexpression *expression; /* NULL: the end of the text */
};

struct logpoint {
	struct piece *pieces;
	size_t count;
	size_t capacity;
};

void logpoint_free(struct logpoint *logpoint)
{
	if (!logpoint)
		return;
	for (size_t i = 0; i < logpoint->count; i++) {
		free(logpoint->pieces[i].text);
		pyexpression_free(logpoint->pieces[i].expression);
	}
	free(logpoint->pieces);
	free(logpoint);
}

static void add_piece(struct logpoint *logpoint, struct buffer *text,
		      struct pyexpression *owned_expression)
{
	ARRAY_GROW(logpoint->pieces, logpoint->count, logpoint->capacity);
	logpoint->pieces[logpoint->count++] = (struct piece){
		.text = buffer_take(text),
		.expression = owned_expression,
	};
}

/* Up to the next brace; a pair of the same is one. */
static const char *take_text(const char *at, struct buffer *text)
{
	for (; *at; at++) {
		bool is_brace = *at == '{' || *at == '}';

		if (is_brace && at[1] != at[0])
			break;
		buffer_append_char(text, *at);
		at += is_brace;
	}
	return at;
}

/* Behind a string that begins at at; its end where it has none. */
static const char *skip_string(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote)
		at += at[0] == '\\' && at[1] ? 2 : 1;
	return at;
}

/* The brace that closes an expression which begins at at; NULL: none. */
static const char *find_end(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (*at == '\'' || *at == '"')
			at = skip_string(at);
		else if (*at == '{')
			depth++;
		else if (*at == '}' && depth-- == 0)
			return at;
		if (!*at)
			break;
	}
	return NULL;
}

/* Behind the expression in braces at at; NULL and a sentence. */
static const char *take_expression(const char *at, struct logpoint *logpoint,
				   struct buffer *text, struct error *error)
{
	const char *end = *at == '{' ? find_end(at + 1) : NULL;
	struct pyexpression *expression;
	char *inner;

	if (!end) {
		error_set(error,
			  "The text to log has a '%c' without its other: "
			  "write {EXPRESSION}, or '%c%c' for the brace itself.",
			  *at, *at, *at);
		return NULL;
	}
	inner = xstrndup(at + 1, (size_t)(end - at - 1));
	expression = pyexpression_parse(inner, error);
	free(inner);
	if (!expression)
		return NULL;
	add_piece(logpoint, text, expression);
	return end + 1;
}

struct logpoint *logpoint_parse(const char *text, struct error *error)
{
	struct logpoint *logpoint = xcalloc(1, sizeof(*logpoint));
	struct buffer piece = BUFFER_INIT;
	const char *at = take_text(text, &piece);

	while (at && *at) {
		at = take_expression(at, logpoint, &piece, error);
		if (at)
			at = take_text(at, &piece);
	}
	if (at)
		add_piece(logpoint, &piece, NULL);
	buffer_clear(&piece);
	if (at)
		return logpoint;
	logpoint_free(logpoint);
	return NULL;
}

static void say_value(const struct pyexpression *expression,
		      struct pyreader *reader,
		      const struct pyobject_frame *frame, struct buffer *out)
{
	struct variable_list list = { .items = NULL };
	struct variable *variable = variable_list_add(&list);
	struct error error = ERROR_INIT;

	if (pyexpression_show(expression, reader, frame, variable, &error) < 0)
		buffer_printf(out, "<%s>", error.message);
	else
		buffer_append_string(out, variable->value);
	variable_list_clear(&list);
}

void logpoint_say(const struct logpoint *logpoint, struct pyreader *reader,
		  const struct pyobject_frame *frame, struct buffer *out)
{
	for (size_t i = 0; i < logpoint->count; i++) {
		const struct piece *piece = &logpoint->pieces[i];

		buffer_append_string(out, piece->text);
		if (piece->expression)
			say_value(piece->expression, reader, frame, out);
	}
}
