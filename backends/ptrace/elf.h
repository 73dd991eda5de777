/*
 * elf: programs and libraries as they lie in another process's memory.
 *
 * Symbols are found as the dynamic linker finds them: program headers,
 * dynamic section, GNU hash table, all read from the process through its
 * memory's snapshot. So no file of the target is opened, and deleted files,
 * renamed ones and containers make no difference. Only exported symbols can
 * be found; elf_file_section() finds what a stripped file still names.
 * Everything read is hostile; loops are bounded. ELF64, x86-64.
 */
#ifndef BACKENDS_PTRACE_ELF_H
#define BACKENDS_PTRACE_ELF_H

#include <stdbool.h>
#include <stdint.h>

struct memory;

/* One loaded program or library. Owns nothing. */
struct elf_image {
	uint64_t bias; /* address minus the file's virtual address */
	uint64_t symbols;
	uint64_t strings;
	uint64_t hash;	/* DT_GNU_HASH; 0: no symbol can be found */
	uint64_t debug; /* DT_DEBUG: struct r_debug of the program */
};

/*
 * The program of the process, by its auxiliary vector. 0, or -1 with errno;
 * a static program is found but has no symbols.
 */
int elf_program(struct elf_image *image, struct memory *memory);
/* The image whose first page is mapped at start. 0, or -1: none is there. */
int elf_mapped(struct elf_image *image, struct memory *memory, uint64_t start);
/* Address of an exported symbol. 0 found, -1 not. */
int elf_symbol(const struct elf_image *image, struct memory *memory,
	       const char *name, uint64_t *address);
/*
 * Calls each for the libraries of the program's link map, in order, until it
 * gives false. The program itself is left out.
 */
void elf_each_library(const struct elf_image *program, struct memory *memory,
		      bool (*each)(const struct elf_image *image,
				   const char *name, void *data),
		      void *data);
/* Virtual address of a section of an open file, not yet biased. 0 found. */
int elf_file_section(int fd, const char *name, uint64_t *address);

#endif
