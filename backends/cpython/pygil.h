/*
 * pygil: the thread state that holds an interpreter's GIL, and the lock's address, by which a
 * thread that waits for the GIL is recognised.
 */
#ifndef BACKENDS_CPYTHON_PYGIL_H
#define BACKENDS_CPYTHON_PYGIL_H

#include <stdbool.h>
#include <stdint.h>

struct cpython;
struct memory;

struct pygil {
	uint64_t interpreter;
	uint64_t address; /* address of the lock, which several interpreters may share */
	uint64_t holder;  /* thread state that holds the GIL; 0: none */
	bool is_known;
	bool is_collecting; /* the garbage collector runs */
	int failure;	    /* errno of a read that failed; 0: none */
};

/* Reads the present state of the GIL (bypassing memory's snapshot). */
void pygil_read(struct pygil *gil, struct memory *memory, const struct cpython *python,
		uint64_t interpreter);
/* True if the futex word at address is part of the lock. */
bool pygil_contains(const struct pygil *gil, const struct cpython *python, uint64_t address);

#endif
