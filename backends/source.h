/*
 * source: a file as a process sees it, through its own root and mounts.
 */
#ifndef BACKENDS_SOURCE_H
#define BACKENDS_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct process;

/* A file that is larger is not source. */
#define SOURCE_MAXIMUM (16u << 20)

struct source {
	char *content;	 /* the caller's to free */
	bool is_changed; /* since the process was started */
	/* Where it is, by which whoever shares the folder knows it again. */
	char *full; /* from the process's root on; the caller's to free */
	uint64_t device;
	uint64_t inode;
};

/*
 * Reads path, which may be relative to the folder the process is in. Regular
 * files only, and no link leads out of the process's root. -1 and a sentence.
 */
int source_read(struct source *source, const struct process *process,
		const char *path, struct error *error);

#endif
