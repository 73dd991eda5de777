/*
 * commands-repl: `probetui repl` runs code in the focused ranks; the code is typed line by line on
 * a terminal, or read from a pipe or file.
 */
#ifndef UI_COMMANDS_REPL_H
#define UI_COMMANDS_REPL_H

struct command_context;
struct error;

/* Runs until the input ends. Returns 0; -1 and *error. */
int shell_repl(struct command_context *context, struct error *error);

#endif
