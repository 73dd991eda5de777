/*
 * source: the lines of one source file, as it was read on the machine of the process.
 */
#ifndef MODEL_SOURCE_H
#define MODEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
	char *path;
	char *content; /* text to show: control characters escaped, tabs expanded; NULL: not read,
			* error has the reason */
	char **lines;  /* pointers into content, NUL-terminated */
	size_t line_count;
	bool is_changed; /* the file is newer than the process */
	char *error;
	char *full;	/* absolute path in the process's root; NULL: unknown */
	int64_t device; /* device and inode of the file on that machine */
	int64_t inode;
};

/* Copies all strings; content may be NULL (then error is shown). */
struct source *source_new(const char *path, const char *content, bool is_changed,
			  const char *error);
/* Sets the file's full path, device and inode, as the node reported them. */
void source_place(struct source *source, const char *full, int64_t device, int64_t inode);
void source_free(struct source *source);
/* Returns the borrowed text of a line (number from 1); NULL: out of range. */
const char *source_line(const struct source *source, int number);
/*
 * Last line, by indentation, of the function that begins at line `first` and contains line
 * `number`; first 0: last line of the file.
 */
int source_function_end(const struct source *source, int first, int number);

#endif
