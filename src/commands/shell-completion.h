/*
 * shell-completion: what a shell asks when Tab is pressed behind `probetui`, as a
 * script for bash or zsh made from the tables of options, commands and
 * settings. The script is static: it starts no program and only looks for
 * files and for the names of themes.
 */
#ifndef COMMANDS_SHELL_COMPLETION_H
#define COMMANDS_SHELL_COMPLETION_H

#include <stddef.h>

struct buffer;
struct command_tables;
struct error;

/* Appends the script of a shell; -1 and a sentence when it is not known. */
int shell_completion_append(struct buffer *out, const char *shell,
			    const struct command_tables *tables, struct error *error);

#endif
