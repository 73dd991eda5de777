#include "engine/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/command.h"
#include "engine/settings.h"
#include "engine/synopsis.h"

#define BLANKS " \t\r"
#define SECONDS_MAXIMUM 86400.0

/*
 * Reads one word; *line moves to the character after it. Returns false at the end of the line, or
 * if *error is set.
 */
static bool next_word(const char **line, struct buffer *word, struct error *error)
{
	const char *at = *line;

	buffer_reset(word);
	if (*at == '\0' || *at == '#')
		return false;
	while (*at != '\0' && !strchr(BLANKS, *at)) {
		const char *end;

		if (*at != '"' && *at != '\'') {
			buffer_append_char(word, *at++);
			continue;
		}
		end = strchr(at + 1, *at);
		if (!end) {
			error_set(error, "missing closing quote %c", *at);
			return false;
		}
		buffer_append(word, at + 1, (size_t)(end - at - 1));
		at = end + 1;
	}
	*line = at;
	return true;
}

static void arguments_add(struct arguments *arguments, size_t *capacity, const char *text,
			  const char *start, const char *end)
{
	ARRAY_GROW(arguments->all, arguments->all_count, *capacity);
	arguments->all[arguments->all_count++] = (struct argument){
		.text = xstrdup(text),
		.start = start,
		.end = end,
	};
}

/*
 * Lists the words that are not taken as options, ranks or pid; the command's name counts as taken.
 */
static void list_words(struct arguments *arguments)
{
	arguments->count = 0;
	for (size_t i = 0; i < arguments->all_count; i++)
		if (!arguments->all[i].is_taken)
			arguments->words[arguments->count++] = arguments->all[i].text;
	arguments->words[arguments->count] = NULL;
}

static void end_split(struct arguments *arguments)
{
	arguments->words = xcalloc(arguments->all_count + 1, sizeof(*arguments->words));
	if (arguments->all_count > 0) {
		arguments->name = arguments->all[0].text;
		arguments->all[0].is_taken = true;
	}
	list_words(arguments);
}

int arguments_split(struct arguments *arguments, const char *line, struct error *error)
{
	struct buffer word = BUFFER_INIT;
	struct error open_quote = ERROR_INIT;
	size_t capacity = 0;
	const char *start;
	const char *at;

	*arguments = (struct arguments)ARGUMENTS_INIT;
	arguments->line = xstrdup(line);
	start = arguments->line + strspn(arguments->line, BLANKS);
	at = start;
	while (next_word(&at, &word, &open_quote)) {
		arguments_add(arguments, &capacity, word.data, start, at);
		start = at + strspn(at, BLANKS);
		at = start;
	}
	buffer_clear(&word);
	end_split(arguments);
	if (!error_is_set(&open_quote))
		return 0;
	arguments->name = NULL;
	return error_set(error, "%s", open_quote.message);
}

void arguments_set_words(struct arguments *arguments, size_t count, char **words)
{
	struct buffer line = BUFFER_INIT;
	size_t capacity = 0;
	const char *at;

	*arguments = (struct arguments)ARGUMENTS_INIT;
	for (size_t i = 0; i < count; i++)
		buffer_printf(&line, "%s%s", i > 0 ? " " : "", words[i]);
	arguments->line = buffer_take(&line);
	at = arguments->line;
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(words[i]);

		arguments_add(arguments, &capacity, words[i], at, at + length);
		at += length + 1;
	}
	end_split(arguments);
}

void arguments_clear(struct arguments *arguments)
{
	for (size_t i = 0; i < arguments->all_count; i++)
		free(arguments->all[i].text);
	free(arguments->all);
	free(arguments->words);
	free(arguments->line);
	*arguments = (struct arguments)ARGUMENTS_INIT;
}

/*
 * Flags of the command's row
 */

static void take_yes(struct arguments *arguments)
{
	for (size_t i = 1; i < arguments->all_count; i++) {
		if (strcmp(arguments->all[i].text, "--yes") != 0)
			continue;
		arguments->all[i].is_taken = true;
		arguments->has_yes = true;
	}
	list_words(arguments);
}

/* Returns the index in arguments->all of the word arguments->words[word]. */
static size_t index_of(const struct arguments *arguments, size_t word)
{
	size_t at = 0;

	while (arguments->all[at].text != arguments->words[word])
		at++;
	return at;
}

static void arguments_take(struct arguments *arguments, size_t word, size_t count)
{
	for (size_t i = word; i < word + count; i++)
		arguments->all[index_of(arguments, i)].is_taken = true;
	list_words(arguments);
}

/* True for "0-7,16". Other forms of a set are taken at the end of the line alone. */
static bool is_rank_numbers(const char *word)
{
	return isdigit((unsigned char)word[0]) && word[strspn(word, "0123456789,-")] == '\0';
}

/* `ranks SET` at the end, or before options. */
static void take_ranks(struct arguments *arguments)
{
	bool is_text = arguments->command->flags & COMMAND_REST;
	size_t count = arguments->count;

	for (size_t i = count; i-- > 1;) {
		if (strcmp(arguments->words[i - 1], "ranks") != 0 ||
		    (i < count - 1 && (is_text || !is_rank_numbers(arguments->words[i]))))
			continue;
		arguments->ranks = arguments->words[i];
		arguments_take(arguments, i - 1, 2);
		return;
	}
}

static void arguments_take_pid(struct arguments *arguments)
{
	if (arguments->ranks || arguments->count == 0 || !settings_is_pid(arguments->words[0]))
		return;
	arguments->pid = arguments->words[0];
	arguments_take(arguments, 0, 1);
}

void arguments_begin(struct arguments *arguments, const struct command *command, int flags)
{
	arguments->command = command;
	arguments->synopsis = command_synopsis(command, flags);
	arguments->is_on_screen = !(flags & COMMAND_SHELL);
	if (command->flags & COMMAND_ASKS)
		take_yes(arguments);
	if (command->flags & COMMAND_RANKS)
		take_ranks(arguments);
	if (command->flags & COMMAND_PID)
		arguments_take_pid(arguments);
}

/*
 * Options and number of words
 */

/*
 * Returns NULL if the synopsis has no such option. If the option has a value, the value is the next
 * part.
 */
static const struct synopsis_part *find_part(const struct synopsis_part *parts, size_t count,
					     const char *word, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(parts[i].text, word, length) == 0 && parts[i].text[length] == '\0')
			return &parts[i];
	return NULL;
}

static int refuse_option(const struct arguments *arguments, const char *word, struct error *error)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];
	size_t count = synopsis_split(arguments->synopsis, parts);
	struct nearest nearest;

	nearest_init(&nearest, word);
	for (size_t i = 0; i < count; i++)
		if (strncmp(parts[i].text, "--", 2) == 0)
			nearest_offer(&nearest, parts[i].text);
	if (nearest.best)
		return error_set(error, "%s has no option '%.40s'; did you mean %s?",
				 arguments->name, word, nearest.best);
	return error_set(error, "%s has no option '%.40s'; usage: %s %s", arguments->name, word,
			 arguments->name, arguments->synopsis);
}

/* If an option is given twice, the last value counts. */
static void set_option(struct arguments *arguments, const char *name, const char *value)
{
	size_t i = 0;

	while (arguments->options[i].name && strcmp(arguments->options[i].name, name) != 0)
		i++;
	if (i < ARGUMENTS_OPTIONS)
		arguments->options[i] = (struct argument_option){ name, value };
}

/* Takes an option and its value, which follows "=" or is the next word. */
static int take_option(struct arguments *arguments, const struct synopsis_part *part, bool has_next,
		       size_t *at, struct error *error)
{
	struct argument *word = &arguments->all[*at];
	char *sign = strchr(word->text, '=');
	bool takes_value = has_next && part[1].is_value;
	const char *value = NULL;

	if (!takes_value && sign)
		return error_set(error, "%s takes no value", part->text);
	if (takes_value && sign) {
		*sign = '\0';
		value = sign + 1;
	} else if (takes_value) {
		do
			++*at;
		while (*at < arguments->all_count && arguments->all[*at].is_taken);
		if (*at >= arguments->all_count)
			return error_set(error, "%s needs a value: %s %s", part->text,
					 arguments->name, arguments->synopsis);
		arguments->all[*at].is_taken = true;
		value = arguments->all[*at].text;
	}
	word->is_taken = true;
	set_option(arguments, word->text, value);
	return 0;
}

/* True if options may follow the text: "EXPR [--sample]"; false for "[--sample] EXPR". */
static bool may_follow_text(const struct synopsis_part *parts, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (parts[0].text[0] != '-' && strncmp(parts[i].text, "--", 2) == 0)
			return true;
	return false;
}

/*
 * The screen's shorter synopsis may omit options that precede a text; the shell's synopsis has
 * them.
 */
static size_t split_options(const struct arguments *arguments,
			    struct synopsis_part parts[SYNOPSIS_PARTS])
{
	const struct command *command = arguments->command;
	size_t count = synopsis_split(command->synopsis, parts);

	if ((command->flags & COMMAND_REST) && !may_follow_text(parts, count))
		return count;
	return synopsis_split(arguments->synopsis, parts);
}

/* True if the synopsis is not shared with the shell. */
static bool is_of_screen(const struct arguments *arguments)
{
	const struct command *command = arguments->command;

	return arguments->is_on_screen &&
	       (command->screen_synopsis || !(command->flags & COMMAND_SHELL));
}

static int take_options(struct arguments *arguments, struct error *error)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];
	size_t count = split_options(arguments, parts);
	bool has_options = false;
	bool is_rest = (arguments->command->flags & COMMAND_REST) && !may_follow_text(parts, count);

	for (size_t i = 0; i < count; i++)
		has_options = has_options || strncmp(parts[i].text, "--", 2) == 0;
	/* A screen command without options takes --x as a word. */
	if (!has_options && is_of_screen(arguments))
		return 0;
	for (size_t i = 1; i < arguments->all_count; i++) {
		const char *text = arguments->all[i].text;
		const struct synopsis_part *part;

		if (arguments->all[i].is_taken)
			continue;
		if (strncmp(text, "--", 2) != 0) {
			if (is_rest)
				break;
			continue;
		}
		part = find_part(parts, count, text, strcspn(text, "="));
		if (!part && is_rest)
			break;
		if (!part)
			return refuse_option(arguments, text, error);
		if (take_option(arguments, part, part + 1 < parts + count, &i, error) < 0)
			return -1;
	}
	list_words(arguments);
	return 0;
}

/* Appends "cards, table or cells" for the synopsis "[cards | table | cells]". */
static void append_choices(struct buffer *out, const char *synopsis)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];
	size_t count = synopsis_split(synopsis, parts);

	for (size_t i = 0; i < count; i++) {
		const char *between = i + 1 == count ? " or " : ", ";

		buffer_printf(out, "%s%s", i > 0 ? between : "", parts[i].text);
	}
}

int arguments_refuse(const struct arguments *arguments, struct error *error)
{
	const struct command *command = arguments->command;
	struct synopsis_count fits;
	struct buffer choices = BUFFER_INIT;

	synopsis_count(arguments->synopsis, &fits);
	if (arguments->is_on_screen && (command->takes || fits.is_choice)) {
		append_choices(&choices, arguments->synopsis);
		error_set(error, "%s takes %s", command->name,
			  command->takes ? command->takes : choices.data);
		buffer_clear(&choices);
		return -1;
	}
	if (arguments->count < fits.minimum)
		return error_set(error, "missing argument of %s; usage: %s %s", arguments->name,
				 arguments->name, arguments->synopsis);
	if (fits.maximum == 0 && arguments->synopsis[0] == '\0')
		return error_set(error, "%s takes no argument: '%.40s'", arguments->name,
				 arguments_word(arguments, fits.maximum));
	return error_set(error, "unexpected word '%.40s'; usage: %s %s",
			 arguments_word(arguments, fits.maximum), arguments->name,
			 arguments->synopsis);
}

int arguments_refuse_any(const struct arguments *arguments, struct error *error)
{
	if (arguments->count == 0)
		return 0;
	if (strncmp(arguments->words[0], "--", 2) == 0)
		return refuse_option(arguments, arguments->words[0], error);
	return arguments_refuse(arguments, error);
}

/*
 * True if there are no words, or if the first word is in the synopsis. Call it only if the synopsis
 * is a choice of words.
 */
static bool fits_choice(const struct arguments *arguments)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];
	size_t count = synopsis_split(arguments->synopsis, parts);

	return arguments->count == 0 ||
	       find_part(parts, count, arguments->words[0], strlen(arguments->words[0]));
}

static int arguments_check_words(const struct arguments *arguments, struct error *error)
{
	struct synopsis_count fits;

	if (arguments->command->flags & COMMAND_REST)
		return 0;
	synopsis_count(arguments->synopsis, &fits);
	if (arguments->count < fits.minimum || arguments->count > fits.maximum ||
	    (arguments->is_on_screen && fits.is_choice && !fits_choice(arguments)))
		return arguments_refuse(arguments, error);
	return 0;
}

int arguments_parse(struct arguments *arguments, struct error *error)
{
	if (is_of_screen(arguments) && arguments->synopsis[0] == '\0')
		return 0;
	if (take_options(arguments, error) < 0)
		return -1;
	return arguments_check_words(arguments, error);
}

/*
 * Access functions for commands
 */

static const struct argument_option *arguments_find_option(const struct arguments *arguments,
							   const char *name)
{
	for (const struct argument_option *i = arguments->options; i->name; i++)
		if (strcmp(i->name, name) == 0)
			return i;
	return NULL;
}

bool arguments_has(const struct arguments *arguments, const char *option)
{
	return arguments_find_option(arguments, option) != NULL;
}

const char *arguments_value(const struct arguments *arguments, const char *option)
{
	const struct argument_option *found = arguments_find_option(arguments, option);

	return found ? found->value : NULL;
}

const char *arguments_word(const struct arguments *arguments, size_t i)
{
	return i < arguments->count ? arguments->words[i] : "";
}

bool arguments_is(const struct arguments *arguments, const char *word)
{
	return arguments->count > 0 && strcmp(arguments->words[0], word) == 0;
}

int arguments_choice(const struct arguments *arguments, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (arguments_is(arguments, names[i]))
			return (int)i;
	return -1;
}

int arguments_direction(const struct arguments *arguments)
{
	if (arguments_is(arguments, "next"))
		return 1;
	return arguments_is(arguments, "previous") ? -1 : 0;
}

bool arguments_are_none(const struct arguments *arguments)
{
	return arguments->all_count == 1;
}

char *arguments_text(const struct arguments *arguments, size_t first, size_t last)
{
	size_t at;
	const struct argument *word;
	const char *end;

	if (last > arguments->count)
		last = arguments->count;
	if (first >= last)
		return xstrdup("");
	at = index_of(arguments, first);
	word = &arguments->all[at];
	for (end = word->end; first < last && !arguments->all[at].is_taken; at++, first++)
		end = arguments->all[at].end;
	return xstrndup(word->start, (size_t)(end - word->start));
}

char *arguments_join(const struct arguments *arguments, size_t first, size_t last)
{
	struct buffer text = BUFFER_INIT;

	for (size_t i = first; i < last && i < arguments->count; i++)
		buffer_printf(&text, "%s%s", i > first ? " " : "", arguments->words[i]);
	return buffer_take(&text);
}

int arguments_count(const struct arguments *arguments, int *count, struct error *error)
{
	*count = 1;
	if (arguments->count == 0)
		return 0;
	return arguments_integer(arguments->words[0], arguments->name, 1, INT_MAX, count, error);
}

int arguments_integer(const char *text, const char *what, long minimum, long maximum, int *number,
		      struct error *error)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno || value < minimum || value > maximum) {
		if (maximum == INT_MAX)
			return error_set(error, "'%.40s' is not a %s (%ld or more)", text, what,
					 minimum);
		return error_set(error, "'%.40s' is not a %s (%ld to %ld)", text, what, minimum,
				 maximum);
	}
	*number = (int)value;
	return 0;
}

int arguments_seconds(const char *text, const char *what, double *seconds, struct error *error)
{
	double value = text_seconds(text);

	if (!(value >= 0) || value > SECONDS_MAXIMUM)
		return error_set(error, "%s: '%.40s' is not a number of seconds (0 to 86400)", what,
				 text);
	*seconds = value;
	return 0;
}

int arguments_duration(const char *text, const char *what, double *seconds, struct error *error)
{
	double value = text_seconds(text);

	if (!(value > 0) || value > SECONDS_MAXIMUM)
		return error_set(error,
				 "%s: '%.40s' is not a time of up to a day, such as 60s, 5m or 1h",
				 what, text);
	*seconds = value;
	return 0;
}
