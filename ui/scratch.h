/*
 * scratch: what a recording has of a file, as a file of its own for an
 * editor: no path that is named in a recording is opened.
 *
 * It is read-only (0400), made anew (O_EXCL) in a new folder of the user
 * alone (0700) below $TMPDIR or /tmp, and has the recorded file's name as far
 * as that is harmless.
 */
#ifndef UI_SCRATCH_H
#define UI_SCRATCH_H

struct error;
struct source;

/*
 * The path of the new file: free() it. NULL and a sentence when source, which
 * may be NULL, has no content, or when it cannot be written.
 */
char *scratch_write(const char *name, const struct source *source, struct error *error);
/* Removes it, its folder, and what an editor left beside it. */
void scratch_remove(const char *path);

#endif
