/*
 * file: what several parts do with files and the C library has not.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

struct buffer;
struct error;

/* Writes all of it; -1 and errno when that fails. */
int file_write(int fd, const char *bytes, size_t length);
/*
 * The folder that the running program lies in, without a slash at its end;
 * free() it. NULL when it cannot be known.
 */
char *file_program_folder(void);
/*
 * The folder that has the Python package of probetui in it: the source's,
 * where the program was built, else the installed one; free() it. NULL and a
 * sentence.
 */
char *file_agent_folder(struct error *error);
/*
 * The path of a file of the user's configuration: below $XDG_CONFIG_HOME or
 * ~/.config; free() it. NULL when there is no home to look in.
 */
char *file_config_path(const char *name);
/*
 * The path of a folder for what the program keeps: below $XDG_STATE_HOME or
 * ~/.local/state, in "probetui"; name is a folder in that, "" itself. It is
 * there then, and only the user may enter it; free() it. NULL and a sentence.
 */
char *file_state_folder(const char *name, struct error *error);
/*
 * An open folder for what can be made again: below $XDG_CACHE_HOME or
 * ~/.cache, in "probetui"; name is a folder in that. Only the user may enter
 * it. -1 where there is none and none can be made, and where the home is
 * another user's: nothing is left there.
 */
int file_cache_folder(const char *name);
/*
 * Appends what a regular file holds ("the theme" is what it is called), if
 * it fits in out. -1 and a sentence; errno is then why it could not be
 * opened, 0 when it was.
 */
int file_read(const char *path, const char *called, struct buffer *out, struct error *error);
/*
 * The same of what the user alone may decide: the file must be his own, or
 * root's, and no other user may write it.
 */
int file_read_own(const char *path, const char *called, struct buffer *out, struct error *error);

#endif
