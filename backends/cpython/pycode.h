/*
 * pycode: a cache of code objects and their line tables (Objects/locations.md for 3.11 on, PEP 626
 * for 3.10, Objects/lnotab_notes.txt before).
 *
 * The process may reuse an address for another code object. So when an address first appears in a
 * new snapshot, the cached code object is compared with the process by type, names, line table and
 * first line.
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
	const struct code *code; /* owned by the stack table */
	int first_lineno;
	uint8_t *line_table; /* owned by the cache */
	size_t line_table_length;
	uint64_t first_instruction; /* 3.11+: address of the bytecode */
};

/* All arguments are borrowed. */
struct pycode_cache *pycode_cache_new(struct memory *memory, const struct cpython *python,
				      struct stack_table *table);
void pycode_cache_free(struct pycode_cache *cache);
/*
 * To be called at the start of each snapshot: reads or checks the code objects at these addresses
 * in a few system calls. Pointers that pycode_find() returned before become invalid.
 */
void pycode_prepare(struct pycode_cache *cache, const uint64_t *addresses, size_t count);
/*
 * Returns the code object at address; NULL: unreadable. If the address was not passed to
 * pycode_prepare(), the code object is read or checked now.
 */
const struct pycode *pycode_find(struct pycode_cache *cache, uint64_t address);
/*
 * Returns the line of a position; 0: no line. position: from 3.11 on an instruction's address;
 * before that, f_lasti (in units on 3.10, else in bytes).
 */
int pycode_line(const struct pycode *code, const struct cpython *python, uint64_t position);

/* True for the function of the frame in which a main thread's program begins. */
bool pycode_is_first(const char *func);
/* Returns the code named "?", for a frame whose code object cannot be read. */
const struct code *pycode_unknown(struct stack_table *table);
/*
 * Returns the stack of a walk with names and lines, owned by the table. Sets *is_known to false if
 * a frame's code object cannot be read.
 */
const struct stack *pycode_stack(struct pycode_cache *cache, const struct cpython *python,
				 const struct pywalk *walk, struct stack_table *table,
				 bool *is_known);

#endif
