/*
 * editor: the user's editor on the screen's terminal.
 *
 * The editor is started as git does: the command $VISUAL, else $EDITOR, else vi, run by a shell.
 */
#ifndef UI_EDITOR_H
#define UI_EDITOR_H

#include <sys/types.h>

struct error;
struct source;

/* Returns the editor's command for a shell, borrowed. */
const char *editor_command(void);
/*
 * Returns the local path of the file that a stack names; free() it. source: the file as the node
 * has read it; NULL: not read. NULL and *error: there is no such file here, or it is another file
 * than source (the rank may run in a container).
 */
char *editor_find(const char *path, const struct source *source, struct error *error);
/*
 * Starts the editor on the terminal (a descriptor) at a line of a file. Returns the editor's pid,
 * which the caller must wait for; -1 and *error: the editor cannot be started.
 */
pid_t editor_start(int terminal, const char *path, int line, struct error *error);
/* Judges a status of waitpid(). Returns 0: success; -1 and *error: the editor failed. */
int editor_judge(int status, struct error *error);

/*
 * scratch: a new file with the recorded content of a source file, for an editor, because a path
 * that a recording names must not be opened.
 *
 * The file is read-only (0400) and new (O_EXCL), in a new folder that only the user can enter
 * (0700), below $TMPDIR or /tmp. It has the recorded file's name, with unusual characters replaced.
 */

/*
 * Writes the content of source to a new file, and returns its path; free() it. NULL and *error:
 * source is NULL or has no content, or the file cannot be written.
 */
char *scratch_write(const char *name, const struct source *source, struct error *error);
/* Removes the file, its folder, and files that an editor left in the folder. */
void scratch_remove(const char *path);

#endif
