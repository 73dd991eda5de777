/*
 * staging-dir: a folder in the root file system of a process, with the Python package in one file.
 * Only the user of the process may enter the folder; the node accesses the folder with the rights
 * of that user, and never crosses a mount point.
 */
#ifndef BACKENDS_INJECT_STAGING_DIR_H
#define BACKENDS_INJECT_STAGING_DIR_H

#include <stddef.h>
#include <sys/types.h>

struct buffer;
struct error;
struct staging_dir;

/*
 * Makes the folder, copies the package, and writes the script, which gives up after `seconds`.
 * Returns NULL and sets error on failure.
 */
struct staging_dir *staging_dir_new(pid_t pid, const char *package, double seconds,
				    struct error *error);
/* Writes the script again for another run, after the process has removed the script's file. */
int staging_dir_write_script(struct staging_dir *dir, const char *package, struct error *error);
/* Removes the folder and all files in it. NULL is allowed. */
void staging_dir_free(struct staging_dir *dir);
/* Returns the path of the script, as seen by the process. */
const char *staging_dir_script(const struct staging_dir *dir);
/* Reads a file that the process has written in the folder, 8 KB at most. Returns -1 if the file
 * does not exist yet. */
int staging_dir_read(const struct staging_dir *dir, const char *name, struct buffer *out);
/* Removes a file of the folder. */
void staging_dir_remove(const struct staging_dir *dir, const char *name);

#endif
