/*
 * arguments: the words behind a command's name: options from a table, the
 * rest in order.
 */
#ifndef ENGINE_ARGUMENTS_H
#define ENGINE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* "--for SECONDS": value; "--merge": flag. One of the two is set. */
struct argument {
	const char *name;
	const char **value;
	bool *flag;
};

struct arguments {
	const struct argument *options;
	size_t option_count;
	size_t minimum; /* words that are no options */
	size_t maximum;
	const char *usage; /* "A B": for the sentence when they are wrong */
};

/*
 * Reads argv[1…]; the words that are no options come to stand at argv[1…]
 * and their count is given. -1 and a sentence for what does not fit.
 */
int arguments_parse(const struct arguments *arguments, int argc, char **argv, struct error *error);
/* The one argument of a command "[COUNT]", 1 without it. */
int arguments_count(int argc, char **argv, int *count, struct error *error);
/* A whole number between minimum and maximum; what names it in the sentence. */
int arguments_integer(const char *text, const char *what, long minimum, long maximum, int *number,
		      struct error *error);
int arguments_seconds(const char *text, const char *what, double *seconds, struct error *error);
/* The same with a unit: "60s", "5m", "2h"; more than 0, without one seconds. */
int arguments_duration(const char *text, const char *what, double *seconds, struct error *error);

#endif
