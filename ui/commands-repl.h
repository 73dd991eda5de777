/*
 * commands-repl: `probetui repl`, code for the focused ranks, typed line by line on a terminal, or read
 * from a pipe or file.
 */
#ifndef UI_COMMANDS_REPL_H
#define UI_COMMANDS_REPL_H

struct command_context;
struct error;

/* Runs until the input ends; 0, or -1 and an error, like a command. */
int shell_repl(struct command_context *context, struct error *error);

#endif
