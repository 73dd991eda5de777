/*
 * root-file: files as a process sees them, found below the process's root directory, so that paths
 * in containers work and a process's symlink never leads to files of the host.
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
 * Looks up path below base, which is "root" or "cwd" (links in /proc/PID). Returns a descriptor
 * that only names the file (O_PATH), because opening a device or a FIFO has effects, or -1 with
 * errno.
 */
int root_file_find(pid_t pid, const char *base, const char *path);
/* Opens for reading the file that root_file_find() has found. Returns -1 with errno on failure. */
int root_file_open(int found);

/* source_file: a source file as a process sees it, through the process's root and mounts. */

/* In bytes; a larger file is not taken for source. */
#define SOURCE_FILE_MAXIMUM (16u << 20)

struct source_file {
	char *content;	 /* the caller frees it */
	bool is_changed; /* the file was changed after the process was started */
	/* Where the file is. Another machine that shares the folder recognises the file by device
	 * and inode. */
	char *full; /* path from the process's root on; the caller frees it */
	uint64_t device;
	uint64_t inode;
};

/*
 * Reads path, which may be relative to the process's working directory. Reads only regular files,
 * and follows no link out of the process's root. Returns 0, or -1 and sets error.
 */
int source_file_read(struct source_file *source, const struct process *process, const char *path,
		     struct error *error);
/*
 * Opens (O_PATH) the folder that contains path, an absolute path as the process sees it. Returns -1
 * on failure. The descriptor stays valid after the process's end.
 */
int source_file_open_folder(const struct process *process, const char *path);
/*
 * Reads the regular file `name`, not a symbolic link, of at most `maximum` bytes, in the folder.
 * Returns the text with a final NUL, to free(), and sets *written to the time of the last write, in
 * seconds since 1970. Returns NULL and sets errno and error on failure.
 */
char *source_file_read_below(int folder, const char *name, size_t maximum, double *written,
			     struct error *error);

#endif
