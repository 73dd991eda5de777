/*
 * root-file: files as a process sees them, found below its own root, so that
 * containers work and a symlink of a target never leads to the host's files.
 */
#ifndef BACKENDS_LINUX_ROOT_FILE_H
#define BACKENDS_LINUX_ROOT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct process;

/*
 * A descriptor that only names the file (O_PATH), because opening a device or a
 * FIFO has effects; -1 with errno. base is "root" or "cwd", a link of /proc/PID;
 * path is looked up below it.
 */
int root_file_find(pid_t pid, const char *base, const char *path);
/* Opens the found file for reading. -1 with errno. */
int root_file_open(int found);

/*
 * A file as a process sees it, through its own root and mounts.
 */

/* A file that is larger is not source. */
#define SOURCE_FILE_MAXIMUM (16u << 20)

struct source_file {
	char *content;	 /* the caller's to free */
	bool is_changed; /* since the process was started */
	/* The file's place; by device and inode another machine that shares
	 * the folder recognises the file. */
	char *full; /* from the process's root on; the caller's to free */
	uint64_t device;
	uint64_t inode;
};

/*
 * Reads path, which may be relative to the process's working directory. Only a
 * regular file is read, and no link leads out of the process's root. -1: error
 * says why the file cannot be read.
 */
int source_file_read(struct source_file *source, const struct process *process, const char *path,
		     struct error *error);
/*
 * Opens (O_PATH) the folder of path, an absolute path as the process sees it; -1:
 * not possible. The descriptor stays valid after the process's end.
 */
int source_file_open_folder(const struct process *process, const char *path);
/*
 * Reads a regular file, no symbolic link, of at most maximum bytes in folder; the
 * text ends with a NUL, free() it. *written: time of the last write, in seconds
 * since 1970. NULL: errno and error are set.
 */
char *source_file_read_below(int folder, const char *name, size_t maximum, double *written,
			     struct error *error);

#endif
