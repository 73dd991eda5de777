/*
 * staging-dir: a folder in the root file system of a process, with the Python
 * package in one file. Only the user of the process may enter the folder; the
 * node works there with the rights of that user, and crosses no mount.
 */
#ifndef BACKENDS_INJECT_STAGING_DIR_H
#define BACKENDS_INJECT_STAGING_DIR_H

#include <stddef.h>
#include <sys/types.h>

struct buffer;
struct error;
struct staging_dir;

/*
 * Makes the folder and copies the package; the script gives up after `seconds`. NULL:
 * error is set.
 */
struct staging_dir *staging_dir_new(pid_t pid, const char *package, double seconds,
				    struct error *error);
/* Writes the script again for another run, after the process has removed it. */
int staging_dir_write_script(struct staging_dir *dir, const char *package, struct error *error);
/* Removes the folder and all files in it. NULL is allowed. */
void staging_dir_free(struct staging_dir *dir);
/* Returns the path of the script as the process sees it. */
const char *staging_dir_script(const struct staging_dir *dir);
/* Reads a file that the process has written, 8 KB at most. -1: no such file yet. */
int staging_dir_read(const struct staging_dir *dir, const char *name, struct buffer *out);
/* Removes a file of the folder. */
void staging_dir_remove(const struct staging_dir *dir, const char *name);

#endif
