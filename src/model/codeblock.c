#include "model/codeblock.h"

#include <stddef.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"

/* State of the tokenizer behind the last character. */
struct reading {
	int depth;  /* number of open brackets */
	char quote; /* quote of the open string; 0: no open string */
	bool is_triple;
	bool is_joined;	  /* a backslash ends the text */
	bool is_compound; /* a line ended in a colon, or the first line is a decorator */
	bool has_colon;	  /* a line ended in a colon */
	char last;	  /* last character of the line; 0: only blanks and a comment */
	bool is_blank;	  /* the last line is blank */
};

void codeblock_init(struct codeblock *block)
{
	block->is_begun = false;
	block->is_too_long = false;
	buffer_init(&block->text, CODEBLOCK_MAXIMUM);
}

void codeblock_clear(struct codeblock *block)
{
	buffer_clear(&block->text);
	codeblock_init(block);
}

bool codeblock_is_blank(const struct codeblock *block)
{
	const char *text = block->text.data;

	return !block->is_too_long && text[strspn(text, " \t\n")] == '\0';
}

/* Returns the position behind the opening quotes. */
static const char *open_string(struct reading *reading, const char *at)
{
	reading->quote = *at;
	reading->is_triple = at[1] == *at && at[2] == *at;
	reading->last = *at;
	return at + (reading->is_triple ? 3 : 1);
}

static const char *read_string(struct reading *reading, const char *at)
{
	bool is_end = *at == reading->quote;

	if (*at == '\\' && at[1] != '\0')
		return at + 2;
	if (reading->is_triple)
		is_end = is_end && at[1] == *at && at[2] == *at;
	/* Python reports a string that is not closed on its line as an error: end the string. */
	if (*at == '\n' && !reading->is_triple)
		is_end = true;
	if (!is_end)
		return at + 1;
	reading->quote = 0;
	return at + (reading->is_triple ? 3 : 1);
}

static void codeblock_end_line(struct reading *reading)
{
	if (reading->depth == 0 && reading->last == ':') {
		reading->is_compound = true;
		reading->has_colon = true;
	}
	reading->last = 0;
}

static const char *read_code(struct reading *reading, const char *at)
{
	if (*at == '#')
		return at + strcspn(at, "\n");
	if (*at == '\\' && (at[1] == '\n' || at[1] == '\0')) {
		reading->is_joined = at[1] == '\0';
		return at + 1 + (at[1] == '\n');
	}
	if (*at == '"' || *at == '\'')
		return open_string(reading, at);
	if (strchr("([{", *at))
		reading->depth++;
	else if (strchr(")]}", *at) && reading->depth > 0)
		reading->depth--;
	if (*at == '\n')
		codeblock_end_line(reading);
	else if (!strchr(" \t\r\f", *at))
		reading->last = *at;
	return at + 1;
}

static void codeblock_read_text(struct reading *reading, const char *text)
{
	const char *line = strrchr(text, '\n');
	const char *at = text;

	*reading = (struct reading){ .is_compound = *text == '@' };
	line = line ? line + 1 : text;
	reading->is_blank = line[strspn(line, " \t\r\f")] == '\0';
	while (*at != '\0')
		at = reading->quote ? read_string(reading, at) : read_code(reading, at);
	codeblock_end_line(reading);
}

static bool codeblock_is_open(const struct reading *reading)
{
	return reading->depth > 0 || reading->is_joined || (reading->quote && reading->is_triple);
}

bool codeblock_add(struct codeblock *block, const char *line)
{
	struct reading reading;

	if ((block->is_begun && buffer_append_char(&block->text, '\n') < 0) ||
	    buffer_append_string(&block->text, line) < 0)
		block->is_too_long = true;
	if (block->is_too_long)
		return true;
	codeblock_read_text(&reading, block->text.data);
	block->is_begun = codeblock_is_open(&reading) || (reading.is_compound && !reading.is_blank);
	return !block->is_begun;
}

int codeblock_check(const struct codeblock *block, struct error *error)
{
	if (!block->is_too_long)
		return 0;
	return error_set(
		error,
		"code longer than %u KiB was not run: put the code into a file and use the "
		"command execute",
		CODEBLOCK_MAXIMUM >> 10);
}

/* True if line continues a compound statement, or is a comment. */
static bool goes_on(const char *line)
{
	static const char *const words[] = { "else", "elif", "except", "finally" };
	size_t length = strcspn(line, " \t:");

	for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
		if (strlen(words[i]) == length && strncmp(words[i], line, length) == 0)
			return true;
	return *line == '#';
}

bool codeblock_ends_before(const struct codeblock *block, const char *line)
{
	struct reading reading;

	if (!block->is_begun || strchr(" \t\r", *line))
		return false;
	codeblock_read_text(&reading, block->text.data);
	return !codeblock_is_open(&reading) && reading.has_colon && !goes_on(line);
}
