/*
 * source-file: a file as a process sees it, through its own root and mounts.
 */
#ifndef BACKENDS_LINUX_SOURCE_FILE_H
#define BACKENDS_LINUX_SOURCE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct process;

/* A file that is larger is not source. */
#define SOURCE_FILE_MAXIMUM (16u << 20)

struct source_file {
	char *content;	 /* the caller's to free */
	bool is_changed; /* since the process was started */
	/* Where the file is; by device and inode another machine that shares
	 * the folder recognises it. */
	char *full; /* from the process's root on; the caller's to free */
	uint64_t device;
	uint64_t inode;
};

/*
 * Reads path, which may be relative to the folder the process is in. Regular
 * files only, and no link leads out of the process's root. -1 and a sentence.
 */
int source_file_read(struct source_file *source, const struct process *process, const char *path,
		     struct error *error);
/*
 * An O_PATH descriptor of the folder that path, absolute and of the process,
 * lies in; -1. It stays good when the process has ended.
 */
int source_file_open_folder(const struct process *process, const char *path);
/*
 * All of a regular file of at most maximum bytes in folder, no link, with a
 * NUL behind it; free() it. written becomes when that was, in seconds since
 * 1970. NULL, errno and a sentence.
 */
char *source_file_read_below(int folder, const char *name, size_t maximum, double *written,
			     struct error *error);

#endif
