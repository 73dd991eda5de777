/*
 * pycode: code objects, read once and kept, and their line tables (PEP 626,
 * Objects/locations.md for 3.11+, Objects/lnotab_notes.txt below).
 *
 * An address may be used again for another code object, so a cached one is
 * checked by type, names, line table and first line each time the address
 * turns up in a new snapshot.
 */
#ifndef BACKENDS_CPYTHON_PYCODE_H
#define BACKENDS_CPYTHON_PYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;
struct cpython;
struct memory;
struct pycode_cache;
struct pywalk;
struct stack;
struct stack_table;

struct pycode {
	uint64_t address;
	const struct code *code; /* of the stack table */
	int first_lineno;
	uint8_t *line_table; /* owned by the cache */
	size_t line_table_length;
	uint64_t first_instruction; /* 3.11+: address of the bytecode */
};

struct pycode_cache *pycode_cache_new(struct memory *memory, const struct cpython *python,
				      struct stack_table *table);
void pycode_cache_free(struct pycode_cache *cache);
/*
 * A new snapshot: reads or checks the code objects at these addresses, all
 * together in a few calls. What pycode_find lent before is void.
 */
void pycode_prepare(struct pycode_cache *cache, const uint64_t *addresses, size_t count);
/*
 * Lends the code object at address, NULL if there is none to be read. One
 * that was not prepared is read or checked now.
 */
const struct pycode *pycode_find(struct pycode_cache *cache, uint64_t address);
/*
 * The line of a position: the address of an instruction on 3.11+, f_lasti
 * below (in bytes; units on 3.10). 0: none.
 */
int pycode_line(const struct pycode *code, const struct cpython *python, uint64_t position);

/* The code of a frame of which nothing is known but that it is there. */
const struct code *pycode_unknown(struct stack_table *table);
/*
 * The stack of a walk with names and lines, of the table; *is_known is false
 * when a frame has no code object to be read.
 */
const struct stack *pycode_stack(struct pycode_cache *cache, const struct cpython *python,
				 const struct pywalk *walk, struct stack_table *table,
				 bool *is_known);

#endif
