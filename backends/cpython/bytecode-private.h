/*
 * bytecode-private: the declarations that bytecode-decode.c (makes units from bytes),
 * bytecode-flow.c (finds each unit's successors), bytecode-calls.c (finds calls) and bytecode.c
 * share.
 */
#ifndef BACKENDS_CPYTHON_BYTECODE_PRIVATE_H
#define BACKENDS_CPYTHON_BYTECODE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytecode;
struct cpython;
struct opcode;

/* The parts of a code object from which units are made; all pointers are borrowed. */
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
 * Fills code->units, count and first_traced; code->first_line must be set before. Returns 0, or -1
 * if the code is malformed; the caller frees code->units in both cases.
 */
int bytecode_decode(struct bytecode *code, const struct bytecode_source *source);

/* Of each unit, for bytecode_find_calls(); all pointers are borrowed. */
struct bytecode_operands {
	int minor;
	const struct opcode *opcodes;
	const uint32_t *arguments; /* valid for the first unit of an instruction */
	const int *handlers;	   /* up to 3.10: handler of a SETUP_…; else -1 */
	const int *depths; /* from 3.11 on: values on the value stack where a handler begins; else
			      -1 */
};
/* Fills code->calls from code->units. */
void bytecode_find_calls(struct bytecode *code, const struct bytecode_operands *operands);

/* The units that may run directly after a unit if no exception is raised. */
#define BYTECODE_EDGES 4
struct bytecode_edges {
	int items[BYTECODE_EDGES];
	int count;
	/* true: the units in code->returns are successors, too (END_FINALLY of 3.8) */
	bool are_returns;
};
/* Sets *edges to the successors of the unit `from`. */
void bytecode_edges(const struct bytecode *code, int minor, int from, struct bytecode_edges *edges);
/* Calls each(from, to, is_raised, data) for each successor `to` of the unit `from`; is_raised: an
 * exception leads to that successor. */
void bytecode_each_edge(const struct bytecode *code, int minor, int from,
			void (*each)(int from, int to, bool is_raised, void *data), void *data);

#endif
