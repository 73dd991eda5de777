/*
 * What is shared by the parts of bytecode.h: how bytes become units, and where
 * each unit may lead.
 */
#ifndef BACKENDS_CPYTHON_BYTECODE_PRIVATE_H
#define BACKENDS_CPYTHON_BYTECODE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytecode;
struct cpython;

/* What a code object's units are made of, all of it borrowed. */
struct bytecode_source {
	int minor;
	/* Opcode and argument of each unit: base forms, caches are 0. */
	const uint8_t *code;
	int count;
	const uint8_t *lines; /* co_linetable, co_lnotab */
	size_t lines_length;
	const uint8_t *handlers; /* co_exceptiontable; 3.11 on */
	size_t handlers_length;
};

/*
 * Fills code->units, count and first_traced (code->first_line is there). -1:
 * it does not hold together; units are the caller's to free all the same.
 */
int bytecode_decode(struct bytecode *code, const struct bytecode_source *source);

/* Where a unit leads without an exception. */
#define BYTECODE_EDGES 4
struct bytecode_edges {
	int items[BYTECODE_EDGES];
	int count;
	/* And behind each CALL_FINALLY (3.8). */
	bool are_returns;
};
void bytecode_edges(const struct bytecode *code, int minor, int from, struct bytecode_edges *edges);
/* Calls each(from, to, is_raised, data) for all edges of a unit. */
void bytecode_each_edge(const struct bytecode *code, int minor, int from,
			void (*each)(int from, int to, bool is_raised, void *data), void *data);

#endif
