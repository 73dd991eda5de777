/*
 * pyanchor: where on the C stack CPython's evaluation loops are, as CPython's
 * own lists tell it, for merge.h.
 *
 *	3.12 on		a shim frame of each loop lies in the loop's C frame
 *			and in the chain of frames (pywalk.h)
 *	3.10, 3.11	each loop has a struct cframe in its C frame, and these
 *			are chained; on 3.11 a loop runs the frames up to one
 *			that is_entry, on 3.10 one frame
 *	3.8, 3.9	nothing
 */
#ifndef BACKENDS_CPYTHON_PYANCHOR_H
#define BACKENDS_CPYTHON_PYANCHOR_H

#include <stdint.h>

struct cpython;
struct memory;
struct pywalk;

/* Through the memory's snapshot; what cannot be found stays 0. */
void pyanchor_fill(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		   uint64_t tstate);

#endif
