/*
 * root-file: files as a process sees them, found below its own root, so that
 * containers work and a symlink of a target never leads to the host's files.
 */
#ifndef BACKENDS_LINUX_ROOT_FILE_H
#define BACKENDS_LINUX_ROOT_FILE_H

#include <sys/types.h>

/*
 * A descriptor that names the file only (O_PATH), since to open a device or a
 * fifo would be to do something with it; -1 with errno. base is "root" or
 * "cwd", a link of /proc/PID; path is looked up in it.
 */
int root_file_find(pid_t pid, const char *base, const char *path);
/* The very file that was found, for reading. -1 with errno. */
int root_file_open(int found);

#endif
