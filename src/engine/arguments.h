/*
 * arguments: one command line, parsed once, by the synopsis of the row. Options
 * and words are asked for by the names that they have there.
 *
 * "N" is one word, "[ID | all]" none or one; "--for SECONDS" and "--merge" are
 * options and stand anywhere; `ranks SET`, PID and --yes are as the row's flags
 * say. With COMMAND_REST the words are a text of another language (an
 * expression, code): options stand only in front of it, an unknown one is a part
 * of it, and words are not counted.
 */
#ifndef ENGINE_ARGUMENTS_H
#define ENGINE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

struct command;
struct error;

#define ARGUMENTS_OPTIONS 8

/* A word of the line, whatever it is. */
struct argument {
	char *text;	   /* without its quotes */
	const char *start; /* in the line, as it was typed */
	const char *end;
	bool is_taken; /* by an option, ranks SET, PID or --yes; or it is the name */
};

struct argument_option {
	const char *name;  /* "--for"; NULL: there is none any more */
	const char *value; /* NULL: it takes none */
};

struct arguments {
	const struct command *command; /* NULL: the line is empty, or was only split */
	const char *name;	       /* as it was typed; NULL: the line is empty */
	const char *synopsis;	       /* of the shell, or of the screen */
	bool is_on_screen;
	const char **words; /* behind the name, but for options; then NULL */
	size_t count;
	const char *ranks; /* the SET of `ranks SET`; NULL: none was named */
	const char *pid;   /* a PID in place of it; NULL: none */
	bool has_yes;
	struct argument_option options[ARGUMENTS_OPTIONS + 1];
	char *line;
	struct argument *all;
	size_t all_count;
};

#define ARGUMENTS_INIT { .command = NULL }

/*
 * Splits a line into words ("" and '' quote, a word that begins with # ends
 * the line). -1 and a sentence when a quote is open. arguments_clear() it.
 */
int arguments_split(struct arguments *arguments, const char *line, struct error *error);
/* The same of words that a shell has split. */
void arguments_set_words(struct arguments *arguments, size_t count, char **words);
void arguments_clear(struct arguments *arguments);
/* Takes --yes, ranks SET and PID off the words, as the row's flags say. */
void arguments_begin(struct arguments *arguments, const struct command *command, int flags);
/* Then the options; -1 and a sentence for what does not fit the synopsis. */
int arguments_parse(struct arguments *arguments, struct error *error);

/* The option was given: "--merge". */
bool arguments_has(const struct arguments *arguments, const char *option);
/* Lends the value of "--for"; NULL: it was not given. */
const char *arguments_value(const struct arguments *arguments, const char *option);
/* Lends a word of those behind the name, counted from 0; "" where there is none. */
const char *arguments_word(const struct arguments *arguments, size_t i);
/* The first word is this one: "next". */
bool arguments_is(const struct arguments *arguments, const char *word);
/* Which of the names the first word is; -1: none of them. */
int arguments_choice(const struct arguments *arguments, const char *const *names, size_t count);
/* 1 for "next", -1 for "previous", 0 for anything else. */
int arguments_direction(const struct arguments *arguments);
/* There is nothing behind the name: no word, no option, no ranks SET. */
bool arguments_are_none(const struct arguments *arguments);
/*
 * The words from first on, up to last, as they were typed, with quotes and blanks;
 * an option ends them. free() it; "" where there is none.
 */
char *arguments_text(const struct arguments *arguments, size_t first, size_t last);
/* The same words, without quotes, with one blank between them. free() it. */
char *arguments_join(const struct arguments *arguments, size_t first, size_t last);

/* -1 and the sentence that the words do not fit the synopsis. */
int arguments_refuse(const struct arguments *arguments, struct error *error);
/* The same of any word that COMMAND_REST has let through; 0: there is none. */
int arguments_refuse_any(const struct arguments *arguments, struct error *error);
/* The one argument of a command "[COUNT]", 1 without it. */
int arguments_count(const struct arguments *arguments, int *count, struct error *error);
/* A whole number between minimum and maximum; what names it in the sentence. */
int arguments_integer(const char *text, const char *what, long minimum, long maximum, int *number,
		      struct error *error);
int arguments_seconds(const char *text, const char *what, double *seconds, struct error *error);
/* The same with a unit: "60s", "5m", "2h"; more than 0, without one seconds. */
int arguments_duration(const char *text, const char *what, double *seconds, struct error *error);

#endif
