/*
 * line-table: which line an instruction belongs to, in each of the three
 * formats: pairs of bytes (3.8 and 3.9, Objects/lnotab_notes.txt; 3.10, PEP
 * 626) and location entries (3.11 on, Objects/locations.md).
 *
 * The bytes come from the target; whatever they hold, the search ends.
 */
#ifndef BACKENDS_CPYTHON_LINE_TABLE_H
#define BACKENDS_CPYTHON_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct linetable {
	const uint8_t *bytes;
	size_t length;
	int first_lineno;
};

/* The code from byte start to byte end belongs to a line, or (-1) to none. */
struct linetable_entry {
	uint64_t start;
	uint64_t end;
	int line;
};

/* Where a walk over all entries is; private to linetable_next(). */
struct linetable_walk {
	const struct linetable *table;
	int minor;
	size_t at;
	uint64_t end;
	int64_t line;
	bool is_over;
};

void linetable_begin(struct linetable_walk *walk, const struct linetable *table, int minor);
/*
 * The next entry, in the order of the code; false: that was all. Up to 3.9 the
 * last one goes on for ever, and some are empty.
 */
bool linetable_next(struct linetable_walk *walk, struct linetable_entry *entry);

/* The line of the instruction at offset bytes into the code. 0: none. */
int linetable_find(const struct linetable *table, int minor, uint64_t offset);

#endif
