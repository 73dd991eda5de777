/*
 * pyanchor: the addresses of CPython's evaluation loops on the C stack, taken from CPython's own
 * lists; merge.h places Python frames among C frames by them.
 *
 * 3.12 on: a shim frame of each loop lies in the loop's C frame and in the chain of Python frames
 * (pywalk.h).
 * 3.10, 3.11: each loop has a struct cframe in its C frame, and these are chained. On 3.11 a loop
 * runs the frames up to one with is_entry, on 3.10 one frame.
 * 3.8, 3.9: none.
 */
#ifndef BACKENDS_CPYTHON_PYANCHOR_H
#define BACKENDS_CPYTHON_PYANCHOR_H

#include <stdint.h>

struct cpython;
struct memory;
struct pywalk;

/* Sets frames' anchors, read through memory's snapshot; an anchor not found stays 0. */
void pyanchor_fill(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		   uint64_t tstate);

#endif
