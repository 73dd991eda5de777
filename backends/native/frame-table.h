/*
 * frame-table: the rules for unwinding from one address, out of an ELF file's
 * .eh_frame_hdr (Linux Standard Base, "Exception Frames").
 *
 * Such a table is sorted, so a few small reads find an address's entry. libdw
 * would read all of .eh_frame, and where the table's section comes after that
 * one (lld) also parse each entry before the wanted one: 170,000 in torch's
 * largest library. What is found is given to libdw as a file in memory that
 * has this one entry (FDE) and what it refers to (CIE), at their addresses.
 * Nothing in the file is believed; all lengths are bounded.
 */
#ifndef BACKENDS_NATIVE_FRAME_TABLE_H
#define BACKENDS_NATIVE_FRAME_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/native/elf-file.h"

struct frame_table {
	struct elf_file file;
	uint64_t address; /* of the table's start in the file's addresses */
	uint64_t count;	  /* of entries */
};

/* fd is borrowed. -1: the file has no such table. */
int frame_table_open(struct frame_table *table, int fd);
/* The address of the entry that may hold the file's address; 0: none. */
uint64_t frame_table_find(const struct frame_table *table, uint64_t address);
/* A file with that entry alone, to be freed; NULL: it is not as it should. */
void *frame_table_extract(const struct frame_table *table, uint64_t entry, size_t *length);

#endif
