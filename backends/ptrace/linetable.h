/*
 * linetable: which line an instruction belongs to, in each of the three
 * formats: pairs of bytes (3.8 and 3.9, Objects/lnotab_notes.txt; 3.10, PEP
 * 626) and location entries (3.11 on, Objects/locations.md).
 *
 * The bytes come from the target; whatever they hold, the search ends.
 */
#ifndef BACKENDS_PTRACE_LINETABLE_H
#define BACKENDS_PTRACE_LINETABLE_H

#include <stddef.h>
#include <stdint.h>

struct linetable {
	const uint8_t *bytes;
	size_t length;
	int first_lineno;
};

/* The line of the instruction at offset bytes into the code. 0: none. */
int linetable_find(const struct linetable *table, int minor, uint64_t offset);

#endif
