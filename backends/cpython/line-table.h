/*
 * line-table: finds the line of an instruction in a line table of one of three formats: two with
 * pairs of bytes (3.8 and 3.9, Objects/lnotab_notes.txt; 3.10, PEP 626), one with location entries
 * (3.11 on, Objects/locations.md).
 *
 * The bytes come from the process and may have any values; every search ends all the same.
 */
#ifndef BACKENDS_CPYTHON_LINE_TABLE_H
#define BACKENDS_CPYTHON_LINE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_table {
	const uint8_t *bytes;
	size_t length;
	int first_lineno;
};

/* The bytes of code from start on and before end belong to the line; line -1: to no line. */
struct line_table_entry {
	uint64_t start;
	uint64_t end;
	int line;
};

/* The position of a walk over all entries; only line-table.c uses the members. */
struct line_table_walk {
	const struct line_table *table;
	int minor;
	size_t at;
	uint64_t end;
	int64_t line;
	bool is_over;
};

/* Starts a walk; table is borrowed until the walk ends. */
void line_table_begin(struct line_table_walk *walk, const struct line_table *table, int minor);
/*
 * Reads the next entry, in the order of the code. Returns false after the last entry. Up to 3.9 the
 * last entry ends at UINT64_MAX, and some entries are empty.
 */
bool line_table_next(struct line_table_walk *walk, struct line_table_entry *entry);

/* Returns the line of the instruction at this byte offset in the code; 0: no line. */
int line_table_find(const struct line_table *table, int minor, uint64_t offset);

#endif
