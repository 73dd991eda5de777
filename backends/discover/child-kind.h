/*
 * child-kind: the role of a rank's child process, by the files of its frames.
 */
#ifndef BACKENDS_DISCOVER_CHILD_KIND_H
#define BACKENDS_DISCOVER_CHILD_KIND_H

struct stack;

/* Returns "dataloader", "compile" or "checkpoint"; NULL: unknown. */
const char *child_kind_of_stack(const struct stack *stack);

#endif
