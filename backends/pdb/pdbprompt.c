#include "backends/pdb/pdbprompt.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "banned.h"
#include "base/array.h"

/*
 * Maximum number of bytes of an escape sequence (CONTROL) and of one that contains a string
 * (STRING); longer text is not an escape sequence, and is shown.
 */
#define CONTROL_MAXIMUM 64
#define STRING_MAXIMUM 4096

#define BEL '\a'
#define ESC '\033'

void pdbprompt_init(struct pdbprompt *prompt)
{
	*prompt = (struct pdbprompt){ .line = BUFFER_INIT };
}

void pdbprompt_clear(struct pdbprompt *prompt)
{
	buffer_clear(&prompt->line);
	pdbprompt_init(prompt);
}

void pdbprompt_learn(struct pdbprompt *prompt, const char *text)
{
	snprintf(prompt->learned, sizeof(prompt->learned), "%s", text);
}

static void begin_escape(struct pdbprompt *prompt, enum pdbprompt_escape escape)
{
	prompt->escape = escape;
	prompt->escape_length = 0;
}

static enum pdbprompt_escape after_escape(char byte)
{
	if (byte == '[')
		return ESCAPE_CONTROL;
	if (byte != '\0' && strchr("]PX^_", byte))
		return ESCAPE_STRING;
	if (byte != '\0' && strchr("()*+-./#% ", byte))
		return ESCAPE_ONE_MORE;
	return ESCAPE_NONE;
}

/* True if the byte belongs to an escape sequence, not to the text. */
static bool pdbprompt_take_escape(struct pdbprompt *prompt, char byte)
{
	unsigned char code = (unsigned char)byte;

	prompt->escape_length++;
	switch (prompt->escape) {
	case ESCAPE_NONE:
		if (byte != ESC)
			return false;
		begin_escape(prompt, ESCAPE_BEGUN);
		return true;
	case ESCAPE_BEGUN:
		begin_escape(prompt, after_escape(byte));
		return code >= ' ';
	case ESCAPE_ONE_MORE:
		prompt->escape = ESCAPE_NONE;
		return code >= ' ';
	case ESCAPE_CONTROL:
		if (code < ' ' || prompt->escape_length > CONTROL_MAXIMUM) {
			prompt->escape = ESCAPE_NONE;
			return false;
		}
		if (code >= '@')
			prompt->escape = ESCAPE_NONE;
		return true;
	case ESCAPE_STRING:
		if (byte == '\n' || prompt->escape_length > STRING_MAXIMUM) {
			prompt->escape = ESCAPE_NONE;
			return false;
		}
		if (byte == BEL)
			prompt->escape = ESCAPE_NONE;
		else if (byte == ESC)
			prompt->escape = ESCAPE_STRING_ENDS;
		return true;
	case ESCAPE_STRING_ENDS:
		prompt->escape = ESCAPE_NONE;
		return byte == '\\';
	}
	return false;
}

static void tell_line(struct pdbprompt *prompt, size_t length, struct buffer *out)
{
	if (length <= prompt->told)
		return;
	buffer_append(out, prompt->line.data + prompt->told, length - prompt->told);
	prompt->told = length;
}

static void drop_line(struct pdbprompt *prompt)
{
	buffer_reset(&prompt->line);
	prompt->told = 0;
}

/* Keeps only the end of a very long unfinished line: the end may be a prompt. */
static void shorten_line(struct pdbprompt *prompt, struct buffer *out)
{
	if (prompt->line.length < PDBPROMPT_LINE_MAXIMUM)
		return;
	pdbprompt_flush(prompt, out);
	buffer_consume(&prompt->line, prompt->line.length - PDBPROMPT_MAXIMUM);
	prompt->told = prompt->line.length;
}

static bool has_learned(const struct pdbprompt *prompt)
{
	size_t length = strlen(prompt->learned);

	return length > 0 &&
	       memmem(prompt->line.data, prompt->line.length, prompt->learned, length);
}

static void pdbprompt_add_text(struct pdbprompt *prompt, char byte, struct buffer *out)
{
	if (byte == '\n') {
		prompt->has_passed = prompt->has_passed || has_learned(prompt);
		tell_line(prompt, prompt->line.length, out);
		drop_line(prompt);
		buffer_append_char(out, '\n');
		return;
	}
	shorten_line(prompt, out);
	buffer_append_char(&prompt->line, byte);
}

void pdbprompt_feed(struct pdbprompt *prompt, const char *bytes, size_t length, struct buffer *out)
{
	for (size_t i = 0; i < length; i++) {
		char byte = bytes[i];

		/*
		 * Skips NUL, and the bytes \001 and \002 that readline puts around text without
		 * width.
		 */
		if (byte >= '\0' && byte <= '\002')
			continue;
		if (pdbprompt_take_escape(prompt, byte))
			continue;
		if (prompt->has_return && byte != '\n' && byte != '\r')
			pdbprompt_add_text(prompt, '\r', out);
		prompt->has_return = byte == '\r';
		if (!prompt->has_return)
			pdbprompt_add_text(prompt, byte, out);
	}
}

/* Returns the part of the line that a terminal shows: the text after the last "\r". */
static const char *pdbprompt_shown_line(const struct pdbprompt *prompt, size_t *length)
{
	const char *start = prompt->line.data;
	const char *again = memrchr(start, '\r', prompt->line.length);

	if (again)
		start = again + 1;
	*length = prompt->line.length - (size_t)(start - prompt->line.data);
	return start;
}

void pdbprompt_learn_line(struct pdbprompt *prompt)
{
	size_t length;
	const char *line = pdbprompt_shown_line(prompt, &length);

	if (length < PDBPROMPT_MAXIMUM)
		pdbprompt_learn(prompt, line);
}

static bool ends_in_learned(const struct pdbprompt *prompt)
{
	size_t length = strlen(prompt->learned);

	return length > 0 && length <= prompt->line.length &&
	       memcmp(prompt->line.data + prompt->line.length - length, prompt->learned, length) ==
		       0;
}

/* True for a short line with "pdb" that ends in ")" or ">", and perhaps a space. */
static bool pdbprompt_is_likely(const char *line, size_t length)
{
	if (length > PDBPROMPT_MAXIMUM)
		return false;
	if (length > 0 && line[length - 1] == ' ')
		length--;
	if (length < 4 || (line[length - 1] != ')' && line[length - 1] != '>'))
		return false;
	for (size_t i = 0; i + 3 < length; i++)
		if (strncasecmp(line + i, "pdb", 3) == 0)
			return true;
	return false;
}

struct other {
	const char *begin;
	const char *end;
};

static const struct other others[] = {
	{ ">>> ", "" },	   /* prompt of interact */
	{ "... ", "" },	   /* prompt for further lines, of interact and of pdb */
	{ "In [", "]: " }, /* prompt of IPython */
	{ "In : ", "" },   { "   ...: ", "" },
};

static bool pdbprompt_is_other(const char *line, size_t length)
{
	for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
		size_t begin = strlen(others[i].begin);
		size_t end = strlen(others[i].end);

		if (length < begin + end || memcmp(line, others[i].begin, begin) != 0)
			continue;
		if (end > 0 ? memcmp(line + length - end, others[i].end, end) == 0
			    : strspn(line + begin, " ") == length - begin)
			return true;
	}
	return false;
}

static bool is_question(const char *line, size_t length)
{
	static const char end[] = "[y/n] ";
	size_t end_length = sizeof(end) - 1;

	return length >= end_length && memcmp(line + length - end_length, end, end_length) == 0;
}

enum pdbprompt_kind pdbprompt_kind(const struct pdbprompt *prompt)
{
	size_t length;
	const char *line = pdbprompt_shown_line(prompt, &length);

	if (ends_in_learned(prompt))
		return PDBPROMPT_LEARNED;
	if (length == 0)
		return PDBPROMPT_NONE;
	if (pdbprompt_is_likely(line, length))
		return PDBPROMPT_LIKELY;
	if (is_question(line, length))
		return PDBPROMPT_CONFIRM;
	return pdbprompt_is_other(line, length) ? PDBPROMPT_OTHER : PDBPROMPT_MAYBE;
}

void pdbprompt_take(struct pdbprompt *prompt, enum pdbprompt_kind kind, struct buffer *out)
{
	if (kind == PDBPROMPT_LEARNED)
		tell_line(prompt, prompt->line.length - strlen(prompt->learned), out);
	drop_line(prompt);
	prompt->has_passed = false;
}

bool pdbprompt_has_passed(const struct pdbprompt *prompt)
{
	return prompt->has_passed || has_learned(prompt);
}

void pdbprompt_forget_passed(struct pdbprompt *prompt)
{
	prompt->has_passed = false;
}

void pdbprompt_flush(struct pdbprompt *prompt, struct buffer *out)
{
	tell_line(prompt, prompt->line.length, out);
}
