#include "engine/synopsis.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
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

static enum synopsis_kind synopsis_kind_of(const char *text)
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
			part->kind = synopsis_kind_of(part->text);
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

static void synopsis_skip_blanks(const char **at)
{
	*at += strspn(*at, " ");
}

static bool synopsis_take_token(const char **at, const char *token)
{
	size_t length = strlen(token);

	if (strncmp(*at, token, length) != 0 || !strchr(SEPARATORS, (*at)[length]))
		return false;
	*at += length;
	return true;
}

/*
 * Skips a word, an option with its value, or `ranks SET`. Returns true for a word, which is
 * counted.
 */
static bool synopsis_count_word(const char **at)
{
	bool is_option = strncmp(*at, "--", 2) == 0;

	if (synopsis_take_token(at, "ranks SET") || synopsis_take_token(at, "PID | ranks SET"))
		return false;
	*at += strcspn(*at, SEPARATORS);
	if (is_option && (*at)[0] == ' ' && isupper((unsigned char)(*at)[1]))
		*at += 1 + strcspn(*at + 1, SEPARATORS);
	return !is_option;
}

/*
 * Counts the words of alternatives up to the closing bracket, which is skipped, or up to the end.
 */
static void count_alternatives(const char **at, struct synopsis_count *count)
{
	struct synopsis_count one = { .minimum = 0 };
	bool is_first = true;

	*count = (struct synopsis_count){ .minimum = 0 };
	for (;;) {
		synopsis_skip_blanks(at);
		if (**at == '[') {
			struct synopsis_count inner;

			++*at;
			count_alternatives(at, &inner);
			one.maximum += inner.maximum;
		} else if (**at != '|' && **at != ']' && **at != '\0') {
			const char *word = *at;
			bool is_counted = synopsis_count_word(at);

			one.minimum += is_counted;
			one.maximum += is_counted;
			/* "FILE...": any number of words */
			if (is_counted && *at - word > 3 && strncmp(*at - 3, "...", 3) == 0)
				one.maximum += SYNOPSIS_WORDS_MANY;
		} else {
			if (is_first || one.minimum < count->minimum)
				count->minimum = one.minimum;
			if (one.maximum > count->maximum)
				count->maximum = one.maximum;
			one = (struct synopsis_count){ .minimum = 0 };
			is_first = false;
			if (**at != '\0')
				++*at;
			if (**at == '\0' || (*at)[-1] == ']')
				return;
		}
	}
}

void synopsis_count(const char *synopsis, struct synopsis_count *count)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];
	size_t part_count = synopsis_split(synopsis, parts);

	count_alternatives(&synopsis, count);
	count->is_choice = part_count > 0;
	for (size_t i = 0; i < part_count; i++)
		if (parts[i].kind != SYNOPSIS_WORD || parts[i].text[0] == '-')
			count->is_choice = false;
}

#define WORD_MAXIMUM 32

static int smallest(int a, int b, int c)
{
	int least = a < b ? a : b;

	return least < c ? least : c;
}

/*
 * Edit distance from word to name: letters inserted, deleted, replaced, or two swapped (optimal
 * string alignment). Lengths are at most WORD_MAXIMUM.
 */
static int nearest_distance_of(const char *word, size_t word_length, const char *name,
			       size_t name_length)
{
	int edits[WORD_MAXIMUM + 1][WORD_MAXIMUM + 1];

	for (size_t i = 0; i <= word_length; i++)
		edits[i][0] = (int)i;
	for (size_t j = 0; j <= name_length; j++)
		edits[0][j] = (int)j;
	for (size_t i = 1; i <= word_length; i++) {
		for (size_t j = 1; j <= name_length; j++) {
			int change = word[i - 1] != name[j - 1];

			edits[i][j] = smallest(edits[i - 1][j] + 1, edits[i][j - 1] + 1,
					       edits[i - 1][j - 1] + change);
			if (i > 1 && j > 1 && word[i - 1] == name[j - 2] &&
			    word[i - 2] == name[j - 1])
				edits[i][j] =
					smallest(edits[i][j], edits[i][j], edits[i - 2][j - 2] + 1);
		}
	}
	return edits[word_length][name_length];
}

void nearest_init(struct nearest *nearest, const char *word)
{
	size_t length = strlen(word);

	*nearest = (struct nearest){
		.word = word,
		/*
		 * allows one wrong letter in short words, and a third of the letters in longer
		 * words
		 */
		.distance = (int)(length < 6 ? 2 : length / 3 + 1),
	};
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	size_t word_length = strlen(nearest->word);
	size_t name_length = strlen(name);
	int distance;

	if (word_length > WORD_MAXIMUM || name_length > WORD_MAXIMUM)
		return;
	distance = nearest_distance_of(nearest->word, word_length, name, name_length);
	/*
	 * A name that has no letter in common with the word is not close, even if both are short.
	 */
	if (distance >= nearest->distance || distance >= (int)word_length)
		return;
	nearest->distance = distance;
	nearest->best = name;
}
