/*
 * pywalk: the chain of frames of one thread state, innermost first, as found in one snapshot of the
 * process's memory. Code objects are not read.
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
	uint64_t position; /* position in the code, as in pycode_line() */
	/*
	 * From 3.12 on: address, on the C stack, of the shim of the evaluation loop that runs this
	 * frame. Before 3.12, pyanchor_fill() sets another address on the C stack. 0: unknown.
	 */
	uint64_t anchor;
	bool is_entry; /* 3.11: the outermost frame that its evaluation loop runs */
};

struct pywalk {
	struct pyframe *frames;
	size_t count;
	size_t capacity;
	size_t dropped_count; /* number of outermost frames beyond the maximum of a stack */
};

void pywalk_clear(struct pywalk *walk);
/*
 * Returns true if code and position, those of a Python frame's caller, are those of the trampoline
 * _Py_InitCleanup (Python/specialize.c, 3.13 on). The interpreter pushes this trampoline below an
 * __init__ that specialised code calls, to check that __init__ returns None. The trampoline's
 * instruction pointer is at its first unit, where no caller written in Python can be. Not to be
 * called for the caller of a shim.
 */
bool pywalk_is_trampoline(const struct cpython *python, uint64_t code, uint64_t position);
/*
 * Replaces *walk by the frames of tstate. Returns -1 if the chain breaks off: *walk then has the
 * frames before the break.
 */
int pywalk_read(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		uint64_t tstate);
/* Returns true if both have the same frames at the same positions; the innermost positions may
 * differ. */
bool pywalk_agrees(const struct pywalk *a, const struct pywalk *b);

/*
 * pyanchor: the addresses of CPython's evaluation loops on the C stack, taken from CPython's own
 * lists. By these addresses, merge.h places Python frames among C frames.
 *
 * 3.12 on: each loop has a shim frame, which lies in the loop's C frame and is in the chain of
 * Python frames. 3.10, 3.11: each loop has a struct cframe in its C frame, and these are chained.
 * On 3.11 a loop runs the frames up to one with is_entry, on 3.10 one frame. 3.8, 3.9: none.
 */

/* Sets the anchors of the frames, read through memory's snapshot; an anchor that is not found stays
 * 0. */
void pyanchor_fill(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		   uint64_t tstate);

#endif
