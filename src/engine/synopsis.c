#include "engine/synopsis.h"

#include <ctype.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"

#define SEPARATORS " []|"

struct placeholder {
	const char *text;
	enum synopsis_kind kind;
};

static const struct placeholder placeholders[] = {
	{ "FILE", SYNOPSIS_FILE },	 { "THEME", SYNOPSIS_THEME },
	{ "COMMAND", SYNOPSIS_COMMAND }, { "SETTING", SYNOPSIS_SETTING },
	{ "RANK", SYNOPSIS_RANK },	 { "R", SYNOPSIS_RANK },
	{ "SET", SYNOPSIS_RANKS },
};

static enum synopsis_kind kind_of(const char *text)
{
	if (!isupper((unsigned char)text[0]))
		return SYNOPSIS_WORD;
	for (size_t i = 0; i < ARRAY_LENGTH(placeholders); i++)
		if (strcmp(placeholders[i].text, text) == 0)
			return placeholders[i].kind;
	return SYNOPSIS_FREE;
}

size_t synopsis_split(const char *arguments, struct synopsis_part parts[SYNOPSIS_PARTS])
{
	size_t count = 0;

	while (count < SYNOPSIS_PARTS) {
		struct synopsis_part *part = &parts[count];
		size_t gap = strspn(arguments, SEPARATORS);
		bool is_near = gap == 1 && arguments[0] == ' ';
		size_t length;

		arguments += gap;
		length = strcspn(arguments, SEPARATORS);
		if (length == 0)
			break;
		if (length < SYNOPSIS_WORD_SIZE) {
			memcpy(part->text, arguments, length);
			part->text[length] = '\0';
			part->kind = kind_of(part->text);
			part->is_value = is_near && count > 0 && part->kind != SYNOPSIS_WORD &&
					 part[-1].kind == SYNOPSIS_WORD;
			count++;
		}
		arguments += length;
	}
	return count;
}

static bool is_value_of(const struct synopsis_part *parts, size_t count, size_t part,
			const char *word)
{
	return part > 0 && part < count && parts[part].is_value &&
	       strcmp(parts[part - 1].text, word) == 0;
}

bool synopsis_fits(const struct synopsis_part *parts, size_t count, size_t part,
		   const char *previous)
{
	for (size_t i = 1; previous && i < count; i++)
		if (is_value_of(parts, count, i, previous))
			return is_value_of(parts, count, part, previous);
	return part < count && !parts[part].is_value;
}
