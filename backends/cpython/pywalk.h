/*
 * pywalk: the chain of frames of one thread state, innermost first, as one
 * copy of a snapshot has it. Code objects are not looked into.
 *
 * The interpreter's own frames (shims, which belong to the C stack, and the
 * trampolines of __init__) are left out, and so is an innermost frame that is
 * just being popped.
 */
#ifndef BACKENDS_CPYTHON_PYWALK_H
#define BACKENDS_CPYTHON_PYWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpython;
struct memory;

struct pyframe {
	uint64_t address;
	uint64_t code;
	uint64_t position; /* for pycode_line() */
	/*
	 * The shim of the evaluation loop that runs it, on the C stack; 0: not
	 * known. Below 3.12 pyanchor_fill() finds what serves as one.
	 */
	uint64_t anchor;
	bool is_entry; /* 3.11: the outermost of those that its loop runs */
};

struct pywalk {
	struct pyframe *frames;
	size_t count;
	size_t capacity;
	size_t dropped_count; /* outermost ones, more than a stack may have */
};

void pywalk_clear(struct pywalk *walk);
/*
 * Whether the caller of a Python frame is that of _Py_InitCleanup
 * (Python/specialize.c, 3.13 on): the interpreter pushes it below an __init__
 * that specialised code calls, to check that None is returned. Its instruction
 * pointer is at its first unit, where no caller written in Python can be. Not
 * for callers of shims.
 */
bool pywalk_is_trampoline(const struct cpython *python, uint64_t code, uint64_t position);
/* -1: the chain breaks off; what was found before stays. */
int pywalk_read(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		uint64_t tstate);
/* The same frames, at the same positions but for the innermost. */
bool pywalk_agrees(const struct pywalk *a, const struct pywalk *b);

#endif
