/*
 * frame-table: finds the unwind rules of one address by means of an ELF file's .eh_frame_hdr (Linux
 * Standard Base, "Exception Frames").
 *
 * The table is sorted, so a few small reads find the entry of an address. libdw itself would read
 * all of .eh_frame, and, if the table's section comes after .eh_frame (lld), also parse each entry
 * before the wanted one: 170,000 in torch's largest library. So libdw is given an ELF file in
 * memory that contains only the found entry (FDE) and its CIE, at their addresses. Nothing in the
 * file is trusted; all lengths are bounded.
 */
#ifndef BACKENDS_NATIVE_FRAME_TABLE_H
#define BACKENDS_NATIVE_FRAME_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/native/elf-file.h"

struct frame_table {
	struct elf_file file;
	uint64_t address; /* virtual address of the table in the file */
	uint64_t count;	  /* number of entries */
};

/* Opens the table; fd is borrowed. Returns 0, or -1 if the file has no such table. */
int frame_table_open(struct frame_table *table, int fd);
/* Returns the virtual address of the entry that may apply to `address`; 0: none. */
uint64_t frame_table_find(const struct frame_table *table, uint64_t address);
/* Returns an ELF file in memory with only that entry, to be freed by the caller; NULL: the entry is
 * invalid. */
void *frame_table_extract(const struct frame_table *table, uint64_t entry, size_t *length);

#endif
