#include "ui/highlight.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/source.h"
#include "ui/window.h"

/* The keywords of https://docs.python.org/3/reference/lexical_analysis.html#keywords. */
static const char *const keywords[] = {
	"False", "None",     "True",  "and",	"as",	"assert", "async",  "await",	"break",
	"class", "continue", "def",   "del",	"elif", "else",	  "except", "finally",	"for",
	"from",	 "global",   "if",    "import", "in",	"is",	  "lambda", "nonlocal", "not",
	"or",	 "pass",     "raise", "return", "try",	"while",  "with",   "yield",
};

static bool highlight_is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

static bool highlight_is_name(char c)
{
	return highlight_is_name_start(c) || isdigit((unsigned char)c);
}

static bool is_keyword(const char *word, size_t length)
{
	for (size_t i = 0; i < ARRAY_LENGTH(keywords); i++)
		if (strlen(keywords[i]) == length && memcmp(keywords[i], word, length) == 0)
			return true;
	return false;
}

static void paint(unsigned char *styles, size_t start, size_t end, enum style style)
{
	if (styles != NULL && end > start)
		memset(styles + start, style, end - start);
}

/* Returns the index after the closing quotes, or length if the closing quotes are missing. */
static size_t highlight_skip_string(const char *line, size_t length, size_t at, const char *quotes,
				    bool *is_closed)
{
	size_t quote_length = strlen(quotes);

	*is_closed = false;
	while (at < length) {
		if (line[at] == '\\' && at + 1 < length) {
			at += 2;
			continue;
		}
		if (at + quote_length <= length && memcmp(line + at, quotes, quote_length) == 0) {
			*is_closed = true;
			return at + quote_length;
		}
		at++;
	}
	return at;
}

static const char *triple_of(enum highlight_state state)
{
	return state == HIGHLIGHT_TRIPLE_SINGLE ? "'''" : "\"\"\"";
}

/*
 * Paints the string that begins at start; sets *state if a triple-quoted string continues after the
 * line.
 */
static size_t highlight_take_string(const char *line, size_t length, size_t start,
				    unsigned char *styles, enum highlight_state *state)
{
	char quotes[2] = { line[start], '\0' };
	bool is_closed;
	size_t at;

	if (start + 2 < length && line[start + 1] == line[start] &&
	    line[start + 2] == line[start]) {
		*state = line[start] == '"' ? HIGHLIGHT_TRIPLE_DOUBLE : HIGHLIGHT_TRIPLE_SINGLE;
		at = highlight_skip_string(line, length, start + 3, triple_of(*state), &is_closed);
		if (is_closed)
			*state = HIGHLIGHT_CODE;
	} else {
		at = highlight_skip_string(line, length, start + 1, quotes, &is_closed);
	}
	paint(styles, start, at, STYLE_SOURCE_STRING);
	return at;
}

/* Paints a name: a keyword, a string's prefix (rb"…"), or a plain name. */
static size_t highlight_take_name(const char *line, size_t length, size_t start,
				  unsigned char *styles)
{
	size_t at = start;

	while (at < length && highlight_is_name(line[at]))
		at++;
	if (at < length && (line[at] == '"' || line[at] == '\'') && at - start <= 2 &&
	    strspn(line + start, "rbfuRBFU") >= at - start)
		paint(styles, start, at, STYLE_SOURCE_STRING);
	else if (is_keyword(line + start, at - start))
		paint(styles, start, at, STYLE_SOURCE_KEYWORD);
	return at;
}

static size_t highlight_take_number(const char *line, size_t length, size_t start,
				    unsigned char *styles)
{
	size_t at = start;

	while (at < length &&
	       (isalnum((unsigned char)line[at]) || line[at] == '.' || line[at] == '_'))
		at++;
	paint(styles, start, at, STYLE_SOURCE_NUMBER);
	return at;
}

enum highlight_state highlight_line(enum highlight_state state, const char *line, size_t length,
				    unsigned char *styles)
{
	bool is_closed;
	size_t at = 0;

	paint(styles, 0, length, STYLE_TEXT);
	if (state != HIGHLIGHT_CODE) {
		at = highlight_skip_string(line, length, 0, triple_of(state), &is_closed);
		paint(styles, 0, at, STYLE_SOURCE_STRING);
		if (!is_closed)
			return state;
		state = HIGHLIGHT_CODE;
	}
	while (at < length) {
		char c = line[at];

		if (c == '#') {
			paint(styles, at, length, STYLE_SOURCE_COMMENT);
			break;
		}
		if (c == '"' || c == '\'')
			at = highlight_take_string(line, length, at, styles, &state);
		else if (highlight_is_name_start(c))
			at = highlight_take_name(line, length, at, styles);
		else if (isdigit((unsigned char)c))
			at = highlight_take_number(line, length, at, styles);
		else
			at++;
	}
	return state;
}

enum highlight_state highlight_state_at(const struct source *source, int number)
{
	enum highlight_state state = HIGHLIGHT_CODE;

	for (int i = 1; i < number; i++) {
		const char *line = source_line(source, i);

		if (line == NULL)
			break;
		/* A line without a quote cannot change the state. */
		if (strpbrk(line, "'\"") != NULL)
			state = highlight_line(state, line, strlen(line), NULL);
	}
	return state;
}

void highlight_draw(struct window window, int row, int column, enum highlight_state state,
		    const char *line)
{
	int width = window.column_count - column;
	struct buffer cut = BUFFER_INIT;
	size_t length = strlen(line);
	unsigned char *styles;
	const char *at;

	if (width <= 0)
		return;
	styles = xmalloc(length + 8);
	/* The "…" of a cut line has the style of the text that the "…" replaces. */
	memset(styles, STYLE_DIM, length + 8);
	highlight_line(state, line, length, styles);
	text_cut(&cut, line, width);
	at = cut.data;
	while (*at != '\0') {
		const char *start = at;
		int32_t code = text_next(&at);

		window_put_character(window, row, column, (enum style)styles[start - cut.data],
				     code);
		column += text_codepoint_width(code);
	}
	buffer_clear(&cut);
	free(styles);
}
