/*
 * loaded-elf: programs and libraries as they lie in another process's memory.
 *
 * Symbols are found as the dynamic linker finds them: program headers,
 * dynamic section, GNU hash table, all read from the process through its
 * memory's snapshot. So no file of the target is opened, and deleted files,
 * renamed ones and containers make no difference. Only exported symbols can
 * be found; loaded_elf_file_section() finds what a stripped file still names.
 * Everything read is hostile; loops are bounded. ELF64, x86-64.
 */
#ifndef BACKENDS_NATIVE_LOADED_ELF_H
#define BACKENDS_NATIVE_LOADED_ELF_H

#include <stdbool.h>
#include <stdint.h>

struct loaded_elf_cache;
struct memory;

/* One loaded program or library. Owns nothing. */
struct loaded_elf_image {
	struct loaded_elf_cache *cache; /* what is known of its file; NULL: nothing */
	uint64_t start;			/* of its first byte; 0: looked at, or unknown */
	uint64_t identity;		/* of the file in that cache; 0: none */
	uint64_t bias;			/* address minus the file's virtual address */
	uint64_t dynamic;		/* its dynamic section; 0: read, or none */
	uint64_t symbols;
	uint64_t strings;
	uint64_t hash;	/* DT_GNU_HASH; 0: no symbol can be found */
	uint64_t debug; /* DT_DEBUG: struct r_debug of the program */
};

/*
 * What was found in a file once, for the next process that has it loaded: the
 * ranks of a job share their interpreter. A file is known by its first
 * kilobyte, where its headers and its build id lie.
 */
struct loaded_elf_cache *loaded_elf_cache_new(void);
void loaded_elf_cache_free(struct loaded_elf_cache *cache);

/*
 * The program of the process, by its auxiliary vector. 0, or -1 with errno;
 * a static program is found but has no symbols. The cache may be NULL; it has
 * to live as long as the image and those found from it.
 */
int loaded_elf_program(struct loaded_elf_image *image, struct memory *memory,
		       struct loaded_elf_cache *cache);
/* The image whose first page is mapped at start. 0, or -1: none is there. */
int loaded_elf_mapped(struct loaded_elf_image *image, struct memory *memory, uint64_t start);
/* Address of an exported symbol. 0 found, -1 not. */
int loaded_elf_symbol(struct loaded_elf_image *image, struct memory *memory, const char *name,
		      uint64_t *address);
/*
 * Calls each for the libraries of the program's link map, in order, until it
 * gives false. The program itself is left out.
 */
void loaded_elf_each_library(struct loaded_elf_image *program, struct memory *memory,
			     bool (*each)(struct loaded_elf_image *image, const char *name,
					  void *data),
			     void *data);
/* Virtual address of a section of an open file, not yet biased. 0 found. */
int loaded_elf_file_section(int fd, const char *name, uint64_t *address);

#endif
