/*
 * file: file functions that the C library lacks.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

struct buffer;
struct error;

/* Writes all bytes. Returns 0; -1 and errno on failure. */
int file_write(int fd, const char *bytes, size_t length);
/* Returns the running program's folder, without a trailing slash; free() it. NULL: unknown. */
char *file_program_folder(void);
/*
 * Returns the folder that contains probetui's Python package: agent/ beside the program (a build
 * tree), else the installed folder; free() it. NULL and *error: there is no such folder.
 */
char *file_agent_folder(struct error *error);
/*
 * Returns the path of configuration file `name`: in probetui/ below $XDG_CONFIG_HOME or ~/.config;
 * free() it. NULL: neither XDG_CONFIG_HOME nor HOME is an absolute path.
 */
char *file_config_path(const char *name);
/*
 * Makes the folder probetui/name, which only the user may enter, below $XDG_STATE_HOME or
 * ~/.local/state; name "": the folder probetui. Returns the folder's path; free() it. NULL and
 * *error on failure.
 */
char *file_state_folder(const char *name, struct error *error);
/*
 * Makes and opens the folder probetui/name below $XDG_CACHE_HOME or ~/.cache, which only the user
 * may enter. Returns a descriptor of the folder; -1: the folder cannot be made, or its place
 * belongs to another user, where nothing is made.
 */
int file_cache_folder(const char *name);
/*
 * Appends the content of the regular file at path to out; `called` is the file's role in error
 * messages ("the theme"). Returns 0. -1 and *error: the file cannot be read, or is larger than
 * out's maximum; errno is then the error of open(), or 0 if open() succeeded.
 */
int file_read(const char *path, const char *called, struct buffer *out, struct error *error);
/*
 * file_read() for files that only the user may control: fails also if the file's owner is neither
 * the caller nor root, or if group or others may write to the file.
 */
int file_read_own(const char *path, const char *called, struct buffer *out, struct error *error);

/*
 * The descriptors 0 to 2 that every program starts with.
 *
 * A daemon or a cron job may start the program with some of them closed. The next file opened would
 * then get one of these descriptors, and error messages would be written into that file; libuv
 * aborts.
 */

/* Opens /dev/null for each of the descriptors 0 to 2 that is closed. */
void standard_open(void);

/*
 * A shared object that links a heavy library, in the program's folder or in
 * libexecdir, opened with dlopen(3) at its first use.
 */

/*
 * Returns the address of the symbol `name` in the shared object `file`, valid as long as
 * the program runs. NULL: *error begins with `need` ("Agents need FILE").
 */
const void *plugin_open(const char *file, const char *name, const char *need, struct error *error);

#endif
