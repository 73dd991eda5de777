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

/*
 * Writes the recorded content of a source file to a new file for an editor, since a path
 * that a recording names must not be opened.
 *
 * The file is read-only (0400) and made anew (O_EXCL) in a new folder of the user alone (0700)
 * below $TMPDIR or /tmp. It has the recorded file's name, with unusual characters replaced.
 */

/*
 * Returns the path of the new file; free() it. NULL and an error: source is NULL or has no content,
 * or the file cannot be written.
 */
char *scratch_write(const char *name, const struct source *source, struct error *error);
/* Removes the file, its folder, and files that an editor left in the folder. */
void scratch_remove(const char *path);

#endif
