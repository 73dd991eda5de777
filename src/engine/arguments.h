/*
 * arguments: one command line, parsed by the synopsis of its command's row (struct command).
 * Options are looked up by the names in the synopsis.
 *
 * In a synopsis "N" is one word, and "[ID | all]" is zero or one word; "--for SECONDS" and
 * "--merge" are options, which may appear anywhere. The row's flags say whether `ranks SET`, PID
 * and --yes are accepted. With the flag COMMAND_REST the words are text of another language (an
 * expression, code): options are accepted only before the text, an unknown option is part of the
 * text, and words are not counted.
 */
#ifndef ENGINE_ARGUMENTS_H
#define ENGINE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

struct command;
struct error;

#define ARGUMENTS_OPTIONS 8

/* One word of the line: name, option, value or plain word. */
struct argument {
	char *text;	   /* without its quotes */
	const char *start; /* first character in the line, quotes included */
	const char *end;
	bool is_taken; /* used by an option, ranks SET, PID or --yes; or the word is the command's
			* name */
};

struct argument_option {
	const char *name;  /* "--for"; NULL: end of the list */
	const char *value; /* NULL: the option takes no value */
};

struct arguments {
	const struct command *command; /* NULL: empty line, or arguments_begin() was not called
					* yet */
	const char *name;	       /* the command's name as typed; NULL: the line is empty */
	const char *synopsis;	       /* of command, for the shell or for the screen */
	bool is_on_screen;
	const char **words; /* words after the name, without options; ends with NULL */
	size_t count;
	const char *ranks; /* SET of `ranks SET`; NULL: not given */
	const char *pid;   /* PID in place of `ranks SET`; NULL: not given */
	bool has_yes;
	struct argument_option options[ARGUMENTS_OPTIONS + 1];
	char *line;	      /* copy of the whole line */
	struct argument *all; /* all words, the name first */
	size_t all_count;
};

#define ARGUMENTS_INIT { .command = NULL }

/*
 * Splits a line into words ("" and '' quote; a word that begins with # ends the line). Returns 0;
 * -1 and *error: a quote is not closed. Call arguments_clear() in both cases.
 */
int arguments_split(struct arguments *arguments, const char *line, struct error *error);
/* Like arguments_split(), for words that a shell has split. */
void arguments_set_words(struct arguments *arguments, size_t count, char **words);
void arguments_clear(struct arguments *arguments);
/*
 * Sets the command and removes --yes, ranks SET and PID from the words, as the row's flags say.
 * Call arguments_parse() next.
 */
void arguments_begin(struct arguments *arguments, const struct command *command, int flags);
/*
 * Parses the options and counts the words. Returns 0; -1 and *error: the words or options do not
 * fit the synopsis.
 */
int arguments_parse(struct arguments *arguments, struct error *error);

/* True if option ("--merge") was given. */
bool arguments_has(const struct arguments *arguments, const char *option);
/* Value of option ("--for"), borrowed; NULL: the option was not given. */
const char *arguments_value(const struct arguments *arguments, const char *option);
/* Word i after the name, counted from 0, borrowed; "": there is no such word. */
const char *arguments_word(const struct arguments *arguments, size_t i);
/* True if the first word is word ("next"). */
bool arguments_is(const struct arguments *arguments, const char *word);
/* Index in names that equals the first word; -1: there is no such name. */
int arguments_choice(const struct arguments *arguments, const char *const *names, size_t count);
/* 1 for "next", -1 for "previous", 0 for anything else. */
int arguments_direction(const struct arguments *arguments);
/* True if nothing follows the name: no word, no option, no ranks SET. */
bool arguments_are_none(const struct arguments *arguments);
/*
 * The words from index first to last - 1, as typed, with quotes and blanks; an option ends the
 * text. free() it; "": there are no such words.
 */
char *arguments_text(const struct arguments *arguments, size_t first, size_t last);
/* Like arguments_text(), without quotes and with one blank between the words. free() it. */
char *arguments_join(const struct arguments *arguments, size_t first, size_t last);

/* Sets the error that the words do not fit the synopsis. Always returns -1. */
int arguments_refuse(const struct arguments *arguments, struct error *error);
/*
 * For a COMMAND_REST command that takes no words: arguments_refuse(), or 0 if there are no words.
 */
int arguments_refuse_any(const struct arguments *arguments, struct error *error);
/*
 * Reads *count for the synopsis "[COUNT]": at least 1; 1 without a word. Returns 0; -1 and *error.
 */
int arguments_count(const struct arguments *arguments, int *count, struct error *error);
/*
 * Parses a whole number from minimum to maximum; the error message calls the number `what`. Returns
 * 0; -1 and *error.
 */
int arguments_integer(const char *text, const char *what, long minimum, long maximum, int *number,
		      struct error *error);
/*
 * Parses a time of 0 to 86400 s: a number of seconds, or a number with a unit ("60s", "5m", "2h");
 * the error message begins with `what`. Returns 0; -1 and *error.
 */
int arguments_seconds(const char *text, const char *what, double *seconds, struct error *error);
/* Like arguments_seconds(), but 0 is refused. */
int arguments_duration(const char *text, const char *what, double *seconds, struct error *error);

#endif
