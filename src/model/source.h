/*
 * source: the lines of one file as the target has it.
 */
#ifndef MODEL_SOURCE_H
#define MODEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
	char *path;
	char *content; /* as shown: controls escaped, tabs expanded; NULL:
			* not to be had, error says why */
	char **lines;  /* into content, NUL-terminated */
	size_t line_count;
	bool is_changed; /* file is newer than the process */
	char *error;
	char *full;	/* from the root of the process on; NULL: not known */
	int64_t device; /* of the file there */
	int64_t inode;
};

/* content may be NULL (then error is shown). Copies all. */
struct source *source_new(const char *path, const char *content, bool is_changed,
			  const char *error);
/* Where the file is, as its node sees it. */
void source_place(struct source *source, const char *full, int64_t device, int64_t inode);
void source_free(struct source *source);
/* Lends line number (from 1); NULL outside. */
const char *source_line(const struct source *source, int number);
/*
 * The last line of the function that begins at line first and has line number
 * in its body, by indentation; first 0: of the file.
 */
int source_function_end(const struct source *source, int first, int number);

#endif
