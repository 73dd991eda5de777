#include "base/logline.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"

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
