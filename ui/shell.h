/*
 * shell: `probetui repl`: code for the ranks of the focus, typed line by line
 * on a terminal, or read from a pipe or file.
 */
#ifndef UI_SHELL_H
#define UI_SHELL_H

struct command_context;
struct error;

/* Until the input ends. As a command: 0, or -1 and a sentence. */
int shell_repl(struct command_context *context, struct error *error);

#endif
