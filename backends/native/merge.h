/*
 * merge: one stack out of a thread's Python frames and native frames.
 *
 * The C stack frame of CPython's evaluation loop contains an address to which the loop's Python
 * frames lead (their anchor, pywalk.h). The Python frames of a loop replace the loop's native
 * frame. If the anchors do not fit the native frames, the Python stack stays whole and only the
 * native frames above the interpreter's first are shown.
 */
#ifndef BACKENDS_NATIVE_MERGE_H
#define BACKENDS_NATIVE_MERGE_H

#include <stdbool.h>

struct capture;
struct stack;
struct stack_table;

/*
 * The merged stack, interned in table. has_internals: also show frames of the interpreter's
 * machinery and of the start of a program or thread. NULL: there is no native frame to show.
 */
const struct stack *merge_stack(struct capture *capture, struct stack_table *table,
				bool has_internals);

#endif
