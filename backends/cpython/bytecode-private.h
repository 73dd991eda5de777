/*
 * bytecode-private: shared by bytecode-decode.c (bytes to units), bytecode-flow.c (successors of
 * each unit) and bytecode.c.
 */
#ifndef BACKENDS_CPYTHON_BYTECODE_PRIVATE_H
#define BACKENDS_CPYTHON_BYTECODE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytecode;
struct cpython;

/* The parts of a code object that units are made from; all pointers are borrowed. */
struct bytecode_source {
	int minor;
	/* opcode and argument of each unit: opcodes in their base form, caches zeroed */
	const uint8_t *code;
	int count;
	const uint8_t *lines; /* co_linetable; up to 3.9 co_lnotab */
	size_t lines_length;
	const uint8_t *handlers; /* co_exceptiontable (3.11 on) */
	size_t handlers_length;
};

/*
 * Fills code->units, count and first_traced; code->first_line must be set. -1: malformed code; the
 * caller frees code->units in both cases.
 */
int bytecode_decode(struct bytecode *code, const struct bytecode_source *source);

/* Successors of a unit without an exception. */
#define BYTECODE_EDGES 4
struct bytecode_edges {
	int items[BYTECODE_EDGES];
	int count;
	/* True: the units of code->returns, too (END_FINALLY of 3.8). */
	bool are_returns;
};
/* Replaces edges by the successors of the unit from. */
void bytecode_edges(const struct bytecode *code, int minor, int from, struct bytecode_edges *edges);
/* Calls each(from, to, is_raised, data) for all edges of a unit. */
void bytecode_each_edge(const struct bytecode *code, int minor, int from,
			void (*each)(int from, int to, bool is_raised, void *data), void *data);

#endif
