/*
 * child-kind: what a child of a rank is there for, by the frames that it runs.
 */
#ifndef BACKENDS_DISCOVER_CHILD_KIND_H
#define BACKENDS_DISCOVER_CHILD_KIND_H

struct stack;

/* "dataloader", "compile", "checkpoint"; NULL: nothing says so. */
const char *child_kind_of_stack(const struct stack *stack);

#endif
