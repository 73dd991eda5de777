/*
 * stack-files: the paths of the source files in the stacks of one process. A node
 * reads no other source files.
 */
#ifndef BACKENDS_STACK_FILES_H
#define BACKENDS_STACK_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct stack_files;
struct process_sample;

struct stack_files *stack_files_new(void);
void stack_files_free(struct stack_files *files);
/* Adds the files of a sample; a stack that was added before is skipped. */
void stack_files_note(struct stack_files *files, const struct process_sample *sample);
/* Forgets all files and stacks: the table of stacks was replaced, ids are given anew. */
void stack_files_reset(struct stack_files *files);
bool stack_files_has(const struct stack_files *files, const char *path);
size_t stack_files_count(const struct stack_files *files);
void stack_files_each(const struct stack_files *files, void (*each)(const char *path, void *data),
		      void *data);

#endif
