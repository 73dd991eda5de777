/*
 * shell-completion: the completion script for bash or zsh, made from the tables of options,
 * commands and settings. The script starts no program; it looks only for files and for names of
 * themes.
 */
#ifndef COMMANDS_SHELL_COMPLETION_H
#define COMMANDS_SHELL_COMPLETION_H

#include <stddef.h>

struct buffer;
struct command_tables;
struct error;

/* Appends the script for shell ("bash", "zsh"); -1, *error: the shell is unknown. */
int shell_completion_append(struct buffer *out, const char *shell,
			    const struct command_tables *tables, struct error *error);

#endif
