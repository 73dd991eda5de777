#include "base/logline.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"

#define RANK "[rank"
/* Digits of the largest rank (RANKSET_MAXIMUM has more). */
#define DIGITS_MAXIMUM 6

static void logline_skip(struct logline *line, size_t count)
{
	line->text += count;
	line->length -= count;
	line->prefix += count;
}

/* Skips one prefix; false: there is none. */
static bool skip_prefix(struct logline *line)
{
	const char *close = line->length > 0 ? memchr(line->text, ']', line->length) : NULL;
	const char *digits = close;
	bool is_rank;

	if (!close || line->text[0] != '[')
		return false;
	while (digits > line->text && isdigit((unsigned char)digits[-1]))
		digits--;
	if (digits == close || (size_t)(close + 1 - line->text) >= line->length || close[1] != ':')
		return false;
	is_rank = digits == line->text + strlen(RANK) &&
		  strncmp(line->text, RANK, strlen(RANK)) == 0 && close - digits <= DIGITS_MAXIMUM;
	if (is_rank)
		line->rank = (int)strtol(digits, NULL, 10);
	logline_skip(line, (size_t)(close + 2 - line->text));
	if (is_rank && line->length > 0 && line->text[0] == ' ')
		logline_skip(line, 1);
	return true;
}

void logline_read(struct logline *line, const char *bytes, size_t length)
{
	*line = (struct logline){ .text = bytes, .length = length, .rank = -1 };
	if (length > 0 && bytes[length - 1] == '\r')
		line->length--;
	/* Of torchrun, then of torch.distributed. */
	if (skip_prefix(line))
		skip_prefix(line);
}

size_t logline_margin(const char *text, size_t length)
{
	size_t blanks = 0;

	while (blanks < length && text[blanks] == ' ')
		blanks++;
	if (blanks == length || (text[blanks] != '|' && text[blanks] != '+'))
		return 0;
	return blanks + 1;
}

/* How what an ending program prints begins. */
static const char *const heads[] = {
	"Traceback (most recent call last):",
	"  + Exception Group Traceback (most recent call last):",
	"Exception in thread ",
	"terminate called ",
	"Fatal Python error: ",
};

/* Length of "[rank2]: " at the end of the bytes; 0: it is not there. */
static size_t rank_prefix(const char *bytes, size_t length)
{
	static const char head[] = "[rank";
	static const char tail[] = "]: ";
	size_t at = length;

	if (length < strlen(tail) || memcmp(bytes + length - strlen(tail), tail, strlen(tail)) != 0)
		return 0;
	at -= strlen(tail);
	while (at > 0 && isdigit((unsigned char)bytes[at - 1]))
		at--;
	if (at < strlen(head) || memcmp(bytes + at - strlen(head), head, strlen(head)) != 0)
		return 0;
	return length - at + strlen(head);
}

size_t logline_drawn(const char *bytes, size_t length)
{
	struct logline line;

	logline_read(&line, bytes, length);
	for (size_t i = 0; i < ARRAY_LENGTH(heads); i++) {
		const char *at = memmem(bytes, length, heads[i], strlen(heads[i]));
		size_t before = at ? (size_t)(at - bytes) : 0;
		size_t prefix = rank_prefix(bytes, before);

		if (before <= line.prefix)
			continue;
		/* Without a bar, text may quote a traceback; torch's prefix is not quoted. */
		if (prefix > 0 || memchr(bytes, '\r', before))
			return before - prefix;
	}
	return 0;
}
