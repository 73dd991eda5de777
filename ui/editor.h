/*
 * editor: the user's editor on the screen's terminal.
 *
 * The editor is started as git starts one: $VISUAL, else $EDITOR, else vi, with its words split by
 * a shell.
 */
#ifndef UI_EDITOR_H
#define UI_EDITOR_H

#include <sys/types.h>

struct error;
struct source;

/* Returns the editor's command for a shell, borrowed. */
const char *editor_command(void);
/*
 * Returns the local path of the file that a stack names; free() it. NULL and an error: there is no
 * such file, or not the file that the node read (the rank may run in a container). source: the file
 * as the node read it; NULL: not read.
 */
char *editor_find(const char *path, const struct source *source, struct error *error);
/*
 * Starts the editor on the terminal fd at a line of a file, and returns the pid, for which the
 * caller waits; -1 and an error: it cannot be started.
 */
pid_t editor_start(int terminal, const char *path, int line, struct error *error);
/* 0: the status of waitpid() is success; -1 and an error: the editor failed. */
int editor_judge(int status, struct error *error);

#endif
