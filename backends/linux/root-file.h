/*
 * root-file: files as a process sees them, found below its own root, so that
 * containers work and a symlink of a target never leads to the host's files.
 */
#ifndef BACKENDS_LINUX_ROOT_FILE_H
#define BACKENDS_LINUX_ROOT_FILE_H

#include <sys/types.h>

/*
 * A descriptor that only names the file (O_PATH), because opening a device or a
 * FIFO has effects; -1 with errno. base is "root" or "cwd", a link of /proc/PID;
 * path is looked up below it.
 */
int root_file_find(pid_t pid, const char *base, const char *path);
/* Opens the found file for reading. -1 with errno. */
int root_file_open(int found);

#endif
