/*
 * stack-files: the paths that the stacks of one process have named. A node reads
 * no other.
 */
#ifndef BACKENDS_STACK_FILES_H
#define BACKENDS_STACK_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct files;
struct process_sample;

struct files *files_new(void);
void files_free(struct files *files);
/* Each stack is looked at once, as long as its table lives. */
void files_note(struct files *files, const struct process_sample *sample);
/* The table has begun anew, and what was noted goes with it. */
void files_reset(struct files *files);
bool files_has(const struct files *files, const char *path);
size_t files_count(const struct files *files);
void files_each(const struct files *files, void (*each)(const char *path, void *data), void *data);

#endif
