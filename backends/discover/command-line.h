/*
 * command-line: what the words of a Python command line say.
 */
#ifndef BACKENDS_DISCOVER_COMMAND_LINE_H
#define BACKENDS_DISCOVER_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct command_line {
	char script[256];     /* "train.py", "-m package", "-c", "" unknown */
	const char *path;     /* the script as it was typed, lent; NULL: none */
	const char *launcher; /* "torchrun" … when it is one, else NULL; lent */
};

void command_line_parse(struct command_line *line, const char *const *words, size_t count);

#endif
