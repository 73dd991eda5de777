/*
 * pywalk: the chain of frames of one thread state, innermost first, as in one copy of a snapshot.
 * Code objects are not read.
 *
 * The interpreter's own frames (shims, which lie on the C stack, and the trampolines of __init__)
 * are left out, and so is an innermost frame that is just being popped.
 */
#ifndef BACKENDS_CPYTHON_PYWALK_H
#define BACKENDS_CPYTHON_PYWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpython;
struct memory;
struct pywalk;

struct pyframe {
	uint64_t address;
	uint64_t code;
	uint64_t position; /* see pycode_line() */
	/*
	 * Address of the shim of the evaluation loop that runs this frame, on the C stack; 0:
	 * unknown. Below 3.12 pyanchor_fill() sets another address on the C stack.
	 */
	uint64_t anchor;
	bool is_entry; /* 3.11: the outermost frame that its evaluation loop runs */
};

struct pywalk {
	struct pyframe *frames;
	size_t count;
	size_t capacity;
	size_t dropped_count; /* outermost frames beyond the maximum of a stack */
};

void pywalk_clear(struct pywalk *walk);
/*
 * True if the caller of a Python frame is the trampoline _Py_InitCleanup (Python/specialize.c, 3.13
 * on): the interpreter pushes it below an __init__ called by specialised code, to check that None
 * is returned. Its instruction pointer is at its first unit, where no caller written in Python can
 * be. Not for callers of shims.
 */
bool pywalk_is_trampoline(const struct cpython *python, uint64_t code, uint64_t position);
/*
 * Replaces walk by the frames of tstate. -1: the chain breaks off; the frames before the break stay
 * in walk.
 */
int pywalk_read(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		uint64_t tstate);
/* True if both have the same frames at the same positions, except for the innermost position. */
bool pywalk_agrees(const struct pywalk *a, const struct pywalk *b);

/*
 * The addresses of CPython's evaluation loops on the C stack, taken from CPython's own
 * lists; merge.h places Python frames among C frames by them.
 *
 * 3.12 on: a shim frame of each loop lies in the loop's C frame and in the chain of Python frames
 * (pywalk.h).
 * 3.10, 3.11: each loop has a struct cframe in its C frame, and these are chained. On 3.11 a loop
 * runs the frames up to one with is_entry, on 3.10 one frame.
 * 3.8, 3.9: none.
 */

/* Sets frames' anchors, read through memory's snapshot; an anchor not found stays 0. */
void pyanchor_fill(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		   uint64_t tstate);

#endif
