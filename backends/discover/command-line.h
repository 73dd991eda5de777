/*
 * command-line: parses the script and the launcher from a Python command line.
 */
#ifndef BACKENDS_DISCOVER_COMMAND_LINE_H
#define BACKENDS_DISCOVER_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

struct command_line {
	char script[256];     /* "train.py", "-m package", "-c"; "": unknown */
	const char *path;     /* the script as typed, within words; NULL: none */
	const char *launcher; /* "torchrun" …; static; NULL: no known launcher */
};

/* words: argv of a Python process; words[0] is skipped. *line refers to words. */
void command_line_parse(struct command_line *line, const char *const *words, size_t count);

#endif
