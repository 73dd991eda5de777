/*
 * file: file functions that the C library lacks.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

struct buffer;
struct error;

/* Writes all bytes; -1 with errno set on failure. */
int file_write(int fd, const char *bytes, size_t length);
/* The folder of the running program, without a slash at its end; free() it. NULL: unknown. */
char *file_program_folder(void);
/*
 * The folder that contains probetui's Python package: beside the program in a build tree,
 * else the installed folder; free() it. NULL and *error: not there.
 */
char *file_agent_folder(struct error *error);
/*
 * The path of a configuration file: in probetui/ below $XDG_CONFIG_HOME or ~/.config;
 * free() it. NULL: neither variable is an absolute path.
 */
char *file_config_path(const char *name);
/*
 * Makes the folder probetui/name below $XDG_STATE_HOME or ~/.local/state (name "":
 * probetui itself), which only the user may enter, and returns its path; free() it. NULL
 * and *error.
 */
char *file_state_folder(const char *name, struct error *error);
/*
 * Makes and opens the folder probetui/name below $XDG_CACHE_HOME or ~/.cache, which only
 * the user may enter. Returns a descriptor; -1: the folder cannot be made, or the home
 * belongs to another user, in which nothing is made.
 */
int file_cache_folder(const char *name);
/*
 * Appends a regular file's content to out; called is the file's role in an error ("the
 * theme"). -1 and *error: not readable, or larger than out's maximum; errno is then the
 * error of open(), 0 if open() succeeded.
 */
int file_read(const char *path, const char *called, struct buffer *out, struct error *error);
/*
 * file_read() for files that only the user may control: -1 also if the file belongs to a
 * user other than the caller and root, or if group or others may write it.
 */
int file_read_own(const char *path, const char *called, struct buffer *out, struct error *error);

/*
 * The descriptors 0 to 2 that every program starts with.
 *
 * A daemon or a cron job may start the program with some of them closed. The next opened
 * file would then get such a number, and error messages would be written into it; libuv
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
