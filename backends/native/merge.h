/*
 * merge: one stack out of the Python and the native frames of a thread.
 *
 * Where they belong together is told by addresses: CPython's evaluation loop
 * has something in its own part of the C stack that its Python frames lead
 * to (pyanchor.h). The loop's native frame gives way to the Python frames
 * that it runs. Where that does not fit, the Python stack stays whole and
 * only the native frames above it are shown.
 */
#ifndef BACKENDS_NATIVE_MERGE_H
#define BACKENDS_NATIVE_MERGE_H

#include <stdbool.h>

struct capture;
struct stack;
struct stack_table;

/*
 * The merged stack, interned. With internals, frames of the interpreter's own
 * machinery and of how a program or thread starts are shown, too. NULL: there
 * is no native frame to show.
 */
const struct stack *merge_stack(struct capture *capture, struct stack_table *table,
				bool has_internals);

#endif
