/*
 * hostmatch: matches a host's name with a pattern.
 *
 * A set holds all positions in the name that the pattern, as far as it was read, can have reached.
 * Each piece of the pattern advances this set, so that matching takes at most the pattern's length
 * times the name's length.
 */
#include "model/hostmatch.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"

#define HOST_MAXIMUM 255
#define DIGITS_MAXIMUM 9

struct places {
	bool has[HOST_MAXIMUM + 1];
};

/* One alternative in brackets: a range of numbers, or a word. */
struct choice {
	const char *text;
	size_t length;
	bool is_range;
	long first;
	long last;
	size_t width; /* number of digits if numbers have leading zeros; 0: no leading zeros */
};

static size_t count_digits(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && text[count] >= '0' && text[count] <= '9')
		count++;
	return count;
}

static long hostmatch_number_of(const char *digits, size_t count)
{
	long number = 0;

	for (size_t i = 0; i < count; i++)
		number = number * 10 + (digits[i] - '0');
	return number;
}

/* Reads one alternative; returns false if text is empty, or begins like a number but is invalid. */
static bool read_choice(struct choice *choice, const char *text, size_t length)
{
	size_t first = count_digits(text, length);
	size_t last;

	*choice = (struct choice){ .text = text, .length = length };
	if (first == 0 || first > DIGITS_MAXIMUM)
		return length > 0 && first == 0;
	if (first < length && text[first] != '-')
		return true;
	last = first < length ? count_digits(text + first + 1, length - first - 1) : 0;
	if (first < length && (last == 0 || last > DIGITS_MAXIMUM || first + 1 + last < length))
		return false;
	choice->is_range = true;
	choice->first = hostmatch_number_of(text, first);
	choice->last = last > 0 ? hostmatch_number_of(text + first + 1, last) : choice->first;
	if (text[0] == '0' && first > 1)
		choice->width = first;
	return choice->first <= choice->last;
}

/*
 * Reads the alternative behind "[" or ",", in brackets that were checked. Returns the position of
 * the
 * "," or "]" behind it.
 */
static const char *next_choice(struct choice *choice, const char *at)
{
	const char *text = at + 1;
	const char *end = text + strcspn(text, ",]");

	read_choice(choice, text, (size_t)(end - text));
	return end;
}

int hostmatch_check(const char *pattern, const char **fault, struct error *error)
{
	const char *at = pattern;

	*fault = pattern;
	if (*pattern == '\0')
		return error_set(error, "missing host name");
	while ((at = strpbrk(at, "[]"))) {
		const char *end = at + strcspn(at, "]");
		struct choice choice;

		*fault = at;
		if (*at == ']')
			return error_set(error, "missing opening bracket");
		if (*end == '\0')
			return error_set(error, "missing closing bracket");
		do {
			*fault = at + 1;
			at += 1 + strcspn(at + 1, ",]");
			if (!read_choice(&choice, *fault, (size_t)(at - *fault)))
				return error_set(
					error, "'%.*s' is neither a word nor a range such as 01-04",
					(int)(at - *fault < 40 ? at - *fault : 40), *fault);
		} while (*at == ',');
		at = end + 1;
	}
	return 0;
}

/* For each number that begins at place and is in the range, adds the position behind the number. */
static void step_range(struct places *to, const struct choice *choice, const char *host,
		       size_t place)
{
	size_t digits = count_digits(host + place, strlen(host + place));

	if (digits > DIGITS_MAXIMUM)
		digits = DIGITS_MAXIMUM;
	for (size_t count = 1; count <= digits; count++) {
		long number = hostmatch_number_of(host + place, count);
		bool is_padded = count > 1 && host[place] == '0';

		if (choice->width > 0
			    ? count < choice->width || (count > choice->width && is_padded)
			    : is_padded)
			continue;
		if (number >= choice->first && number <= choice->last)
			to->has[place + count] = true;
	}
}

static void step_choice(struct places *to, const struct places *from, const struct choice *choice,
			const char *host)
{
	size_t length = strlen(host);

	for (size_t i = 0; i <= length; i++) {
		if (!from->has[i])
			continue;
		if (choice->is_range)
			step_range(to, choice, host, i);
		else if (strncmp(host + i, choice->text, choice->length) == 0)
			to->has[i + choice->length] = true;
	}
}

/* Matches "[01-04,07]"; returns the position behind the bracket. */
static const char *step_brackets(struct places *to, const struct places *from, const char *brackets,
				 const char *host)
{
	const char *at = brackets;

	while (*at != ']') {
		struct choice choice;

		at = next_choice(&choice, at);
		step_choice(to, from, &choice, host);
	}
	return at + 1;
}

static void step_character(struct places *to, const struct places *from, char character,
			   const char *host)
{
	bool is_reached = false;

	for (size_t i = 0; host[i] != '\0' || character == '*'; i++) {
		is_reached = is_reached || from->has[i];
		if (character == '*')
			to->has[i] = is_reached;
		else if (from->has[i] && (character == '?' || character == host[i]))
			to->has[i + 1] = true;
		if (host[i] == '\0')
			break;
	}
}

static bool hostmatch_fits(const char *pattern, const char *host)
{
	struct places from = { .has = { true } };

	while (*pattern != '\0') {
		struct places to = { .has = { false } };

		if (*pattern == '[')
			pattern = step_brackets(&to, &from, pattern, host);
		else
			step_character(&to, &from, *pattern++, host);
		from = to;
	}
	return from.has[strlen(host)];
}

bool hostmatch(const char *pattern, const char *host)
{
	char name[HOST_MAXIMUM + 1];
	const char *fault;
	size_t length;

	if (!host || hostmatch_check(pattern, &fault, NULL) < 0)
		return false;
	length = strlen(host);
	if (length == 0 || length > HOST_MAXIMUM)
		return false;
	if (hostmatch_fits(pattern, host))
		return true;
	if (strchr(pattern, '.') || !strchr(host, '.'))
		return false;
	length = strcspn(host, ".");
	memcpy(name, host, length);
	name[length] = '\0';
	return hostmatch_fits(pattern, name);
}

/*
 * The functions below list all names that a pattern stands for.
 */

struct expansion {
	void (*each)(const char *host, void *data);
	void *data;
	size_t maximum;
	size_t count;
	struct error *error;
};

static int expand_rest(struct expansion *expansion, const struct buffer *head, const char *rest,
		       size_t length);

/* For one alternative, or each number of a range: appends it to head and expands the rest. */
static int expand_choice(struct expansion *expansion, const struct buffer *head,
			 const struct choice *choice, const char *rest, size_t length)
{
	/* A word has the numbers 0 to 0. */
	for (long number = choice->first; number <= choice->last; number++) {
		struct buffer name = BUFFER_INIT;
		int result;

		buffer_append(&name, head->data, head->length);
		if (choice->is_range)
			buffer_printf(&name, "%0*ld", (int)choice->width, number);
		else
			buffer_append(&name, choice->text, choice->length);
		result = expand_rest(expansion, &name, rest, length);
		buffer_clear(&name);
		if (result < 0)
			return -1;
	}
	return 0;
}

static int expand_brackets(struct expansion *expansion, const struct buffer *head,
			   const char *brackets, size_t length)
{
	const char *end = memchr(brackets, ']', length);
	const char *rest = end + 1;
	const char *at = brackets;

	while (*at != ']') {
		struct choice choice;

		at = next_choice(&choice, at);
		if (expand_choice(expansion, head, &choice, rest,
				  length - (size_t)(rest - brackets)) < 0)
			return -1;
	}
	return 0;
}

static int expand_rest(struct expansion *expansion, const struct buffer *head, const char *rest,
		       size_t length)
{
	const char *brackets = memchr(rest, '[', length);
	size_t plain = brackets ? (size_t)(brackets - rest) : length;
	struct buffer name = BUFFER_INIT;
	int result = 0;

	buffer_append(&name, head->data, head->length);
	buffer_append(&name, rest, plain);
	if (brackets)
		result = expand_brackets(expansion, &name, brackets, length - plain);
	else if (expansion->count++ >= expansion->maximum)
		result = error_set(expansion->error, "more than %zu hosts", expansion->maximum);
	else
		expansion->each(name.data, expansion->data);
	buffer_clear(&name);
	return result;
}

/* Number of bytes up to a comma outside of brackets, or the end. */
static size_t hostmatch_item_length(const char *list)
{
	size_t length = 0;
	bool is_inside = false;

	for (; list[length] != '\0' && (is_inside || list[length] != ','); length++) {
		if (list[length] == '[')
			is_inside = true;
		else if (list[length] == ']')
			is_inside = false;
	}
	return length;
}

int hostmatch_expand(const char *list, size_t maximum, void (*each)(const char *host, void *data),
		     void *data, struct error *error)
{
	struct expansion expansion = { each, data, maximum, 0, error };
	const struct buffer none = BUFFER_INIT;
	const char *fault;

	if (strpbrk(list, "*?"))
		return error_set(error, "'%.80s' has a wildcard: list the hosts, as in n[01-04]",
				 list);
	for (;;) {
		size_t length = hostmatch_item_length(list);
		char *item = xstrndup(list, length);
		int result = hostmatch_check(item, &fault, error);

		free(item);
		if (result == 0)
			result = expand_rest(&expansion, &none, list, length);
		if (result < 0 || list[length] == '\0')
			return result;
		list += length + 1;
	}
}
