#include "backends/expression/logpoint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/expression/number-format.h"
#include "backends/expression/pyexpression.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"

/* Text, and the expression that follows the text. */
struct piece {
	char *text;
	struct pyexpression *expression; /* NULL: text is the end of the log text */
	bool is_formatted;
	bool is_repr; /* {x!r} */
	struct number_format format;
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

/* Returns the new piece, which the caller may change; valid until the next piece is added. */
static struct piece *add_piece(struct logpoint *logpoint, struct buffer *text,
			       struct pyexpression *owned_expression)
{
	ARRAY_GROW(logpoint->pieces, logpoint->count, logpoint->capacity);
	logpoint->pieces[logpoint->count++] = (struct piece){
		.text = buffer_take(text),
		.expression = owned_expression,
	};
	return &logpoint->pieces[logpoint->count - 1];
}

/* Takes text up to the next brace; {{ and }} are taken as one brace. */
static const char *logpoint_take_text(const char *at, struct buffer *text)
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

/* Returns the closing quote of the string that begins at `at`, or the text's end. */
static const char *logpoint_skip_string(const char *at)
{
	char quote = *at++;

	while (*at && *at != quote)
		at += at[0] == '\\' && at[1] ? 2 : 1;
	return at;
}

/* Returns the brace that closes the expression at `at`; NULL: none. */
static const char *find_end(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (*at == '\'' || *at == '"')
			at = logpoint_skip_string(at);
		else if (*at == '{')
			depth++;
		else if (*at == '}' && depth-- == 0)
			return at;
		if (!*at)
			break;
	}
	return NULL;
}

/* Returns the colon of a format or the ! of a conversion in the text between braces; NULL: none. */
static char *logpoint_find_format(char *inner)
{
	int depth = 0;

	for (char *at = inner; *at; at++) {
		if (*at == '\'' || *at == '"')
			at += logpoint_skip_string(at) - at;
		else if (strchr("([{", *at))
			depth++;
		else if (strchr(")]}", *at))
			depth--;
		else if (depth == 0 && (*at == ':' || (*at == '!' && at[1] != '=')))
			return at;
		if (!*at)
			break;
	}
	return NULL;
}

/*
 * Reads the "r" or "s" behind the !, and returns the position of the format's colon or of the end;
 * NULL with *error set: another letter.
 */
static char *take_conversion(char *at, bool *is_repr, struct error *error)
{
	*is_repr = *at == 'r';
	if ((*at == 'r' || *at == 's') && (!at[1] || at[1] == ':'))
		return at + 1;
	error_set(error, "the log text has an unknown conversion '!%.10s': use !r or !s", at);
	return NULL;
}

/* For "{x = }", appends the text "x = " to text, cuts the '=' off inner and returns true. */
static bool logpoint_take_name(char *inner, struct buffer *text)
{
	size_t length = strlen(inner);

	while (length && inner[length - 1] == ' ')
		length--;
	if (length < 2 || inner[length - 1] != '=' || strchr("=!<>", inner[length - 2]))
		return false;
	buffer_append_string(text, inner);
	inner[length - 1] = '\0';
	return true;
}

/* Parses the text between braces, such as "loss:.3f"; inner is modified. */
static int read_inner(char *inner, struct logpoint *logpoint, struct buffer *text,
		      struct error *error)
{
	char *colon = logpoint_find_format(inner);
	struct number_format format = { .width = 0 };
	struct pyexpression *expression;
	bool is_repr = false;
	bool is_converted = colon && *colon == '!';
	struct piece *piece;

	if (is_converted) {
		*colon = '\0';
		colon = take_conversion(colon + 1, &is_repr, error);
		if (!colon)
			return -1;
		if (!*colon)
			colon = NULL;
	}
	if (colon) {
		*colon = '\0';
		if (number_format_read(&format, colon + 1, error) < 0)
			return -1;
	}
	if (logpoint_take_name(inner, text) && !is_converted)
		is_repr = !colon;
	expression = pyexpression_parse(inner, error);
	if (!expression)
		return -1;
	piece = add_piece(logpoint, text, expression);
	piece->is_formatted = colon != NULL;
	piece->is_repr = is_repr;
	piece->format = format;
	return 0;
}

/*
 * Parses the expression in braces at `at`, and returns the position behind the closing brace; NULL
 * with *error set.
 */
static const char *take_expression(const char *at, struct logpoint *logpoint, struct buffer *text,
				   struct error *error)
{
	const char *end = *at == '{' ? find_end(at + 1) : NULL;
	char *inner;
	int result;

	if (!end) {
		error_set(error,
			  "the log text has an unmatched '%c': write {EXPRESSION}, or '%c%c' for a "
			  "literal brace",
			  *at, *at, *at);
		return NULL;
	}
	inner = xstrndup(at + 1, (size_t)(end - at - 1));
	result = read_inner(inner, logpoint, text, error);
	free(inner);
	return result < 0 ? NULL : end + 1;
}

struct logpoint *logpoint_parse(const char *text, struct error *error)
{
	struct logpoint *logpoint = xcalloc(1, sizeof(*logpoint));
	struct buffer piece = BUFFER_INIT;
	const char *at = logpoint_take_text(text, &piece);

	while (at && *at) {
		at = take_expression(at, logpoint, &piece, error);
		if (at)
			at = logpoint_take_text(at, &piece);
	}
	if (at)
		add_piece(logpoint, &piece, NULL);
	buffer_clear(&piece);
	if (at)
		return logpoint;
	logpoint_free(logpoint);
	return NULL;
}

/*
 * True if the value can be formatted here: its type is numpy's or has a name without a dot. A class
 * of the program may have its own __format__.
 */
static bool logpoint_is_plain(const struct variable *variable)
{
	const char *type = variable->type ? variable->type : "";

	return !strchr(type, '.') || !strncmp(type, "numpy.", 6);
}

static bool logpoint_is_text(const struct variable *variable)
{
	return variable->type && !strcmp(variable->type, "str");
}

static void write_value(const struct piece *piece, const struct variable *variable,
			struct buffer *out, struct error *error)
{
	if (piece->is_formatted && !piece->is_repr && !logpoint_is_plain(variable)) {
		error_set(error,
			  "a value of type %s cannot be formatted, as its class may define its own "
			  "__format__: use !r, as in {x!r}",
			  variable->type);
	} else if (piece->is_formatted && piece->is_repr) {
		number_format_append_repr(out, &piece->format, variable->value, error);
	} else if (piece->is_formatted) {
		number_format_append(out, &piece->format, variable->value, error);
	} else if (piece->is_repr || !logpoint_is_text(variable) ||
		   number_format_append_text(out, variable->value) < 0) {
		buffer_append_string(out, variable->value);
	}
}

static void say_value(const struct piece *piece, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct buffer *out)
{
	struct variable_list list = { .items = NULL };
	struct variable *variable = variable_list_add(&list);
	struct error error = ERROR_INIT;

	if (pyexpression_show(piece->expression, reader, frame, variable, &error) == 0) {
		write_value(piece, variable, out, &error);
	}
	if (error_is_set(&error))
		buffer_printf(out, "<%s>", error.message);
	variable_list_clear(&list);
}

void logpoint_say(const struct logpoint *logpoint, struct pyreader *reader,
		  const struct pyobject_frame *frame, struct buffer *out)
{
	for (size_t i = 0; i < logpoint->count; i++) {
		const struct piece *piece = &logpoint->pieces[i];

		buffer_append_string(out, piece->text);
		if (piece->expression)
			say_value(piece, reader, frame, out);
	}
}
