/*
 * pygil: who holds the GIL of an interpreter, and where the lock lies, so
 * that a thread waiting on it can be told.
 */
#ifndef BACKENDS_CPYTHON_PYGIL_H
#define BACKENDS_CPYTHON_PYGIL_H

#include <stdbool.h>
#include <stdint.h>

struct cpython;
struct memory;

struct pygil {
	uint64_t interpreter;
	uint64_t address; /* of the lock; shared by interpreters or not */
	uint64_t holder;  /* thread state; 0: none */
	bool is_known;
	bool is_collecting; /* the garbage collector runs */
	int failure;	    /* errno of what could not be read; 0: none */
};

/* Reads the state of the GIL past the snapshot: what it is right now. */
void pygil_read(struct pygil *gil, struct memory *memory, const struct cpython *python,
		uint64_t interpreter);
/* A futex word at address is a part of the lock. */
bool pygil_contains(const struct pygil *gil, const struct cpython *python, uint64_t address);

#endif
