/*
 * scratch: writes the recorded content of a source file to a new file for an editor, since a path
 * that a recording names must not be opened.
 *
 * The file is read-only (0400) and made anew (O_EXCL) in a new folder of the user alone (0700)
 * below $TMPDIR or /tmp. It has the recorded file's name, with unusual characters replaced.
 */
#ifndef UI_SCRATCH_H
#define UI_SCRATCH_H

struct error;
struct source;

/*
 * Returns the path of the new file; free() it. NULL and an error: source is NULL or has no content,
 * or the file cannot be written.
 */
char *scratch_write(const char *name, const struct source *source, struct error *error);
/* Removes the file, its folder, and files that an editor left in the folder. */
void scratch_remove(const char *path);

#endif
