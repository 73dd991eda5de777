/*
 * merge: makes one stack from a thread's Python frames and native frames.
 *
 * Each Python frame has an anchor (pywalk.h): an address in the C stack frame of the evaluation
 * loop that runs the Python frame. The Python frames of a loop replace the loop's native frame. If
 * the anchors do not fit the native frames, the Python stack stays whole, and of the native frames
 * only those above the interpreter's first frame are shown.
 */
#ifndef BACKENDS_NATIVE_MERGE_H
#define BACKENDS_NATIVE_MERGE_H

#include <stdbool.h>

struct capture;
struct stack;
struct stack_table;

/*
 * Returns the merged stack, interned in table; NULL: there is no native frame to show.
 * has_internals: the stack also has frames of the interpreter's internals and of the start of a
 * program or thread.
 */
const struct stack *merge_stack(struct capture *capture, struct stack_table *table,
				bool has_internals);

#endif
