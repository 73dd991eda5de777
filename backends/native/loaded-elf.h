/*
 * loaded-elf: finds exported symbols of the program and the libraries in another process's memory.
 *
 * Symbols are found as the dynamic linker finds them: by program headers, dynamic section and GNU
 * hash table, all read from the process through a memory snapshot. So no file of the process is
 * opened, and deleted files, renamed files and containers make no difference. Only exported symbols
 * can be found; loaded_elf_file_section() reads the section names that even a stripped file has.
 * The data is not trusted; loops are bounded. ELF64, x86-64.
 */
#ifndef BACKENDS_NATIVE_LOADED_ELF_H
#define BACKENDS_NATIVE_LOADED_ELF_H

#include <stdbool.h>
#include <stdint.h>

struct loaded_elf_cache;
struct memory;

/* One loaded program or library. The struct owns no memory. */
struct loaded_elf_image {
	struct loaded_elf_cache *cache; /* cache for the symbols of the file; NULL: none */
	uint64_t start;			/* address of the first byte; 0: unknown, or identity is
					 * set already */
	uint64_t identity;		/* hash that identifies the file in the cache; 0: none */
	uint64_t bias;			/* address in the process minus virtual address in the
					 * file */
	uint64_t dynamic;		/* address of the dynamic section; 0: already read, or
					 * none */
	uint64_t symbols;
	uint64_t strings;
	uint64_t hash;	/* DT_GNU_HASH; 0: no symbol can be found */
	uint64_t debug; /* DT_DEBUG: address of the program's struct r_debug */
};

/*
 * Makes a cache of the symbols found in files, for other processes that have loaded the same files:
 * the ranks of a job share their interpreter. A file is identified by its first kilobyte, which
 * contains the headers and the build id.
 */
struct loaded_elf_cache *loaded_elf_cache_new(void);
void loaded_elf_cache_free(struct loaded_elf_cache *cache);

/*
 * Finds the program of the process by the auxiliary vector. Returns 0, or -1 and sets errno. A
 * static program is found but has no symbols. cache may be NULL, and must outlive the image and the
 * images of the program's libraries.
 */
int loaded_elf_program(struct loaded_elf_image *image, struct memory *memory,
		       struct loaded_elf_cache *cache);
/* Finds the image whose first page is mapped at start. Returns 0, or -1 if there is no image. */
int loaded_elf_mapped(struct loaded_elf_image *image, struct memory *memory, uint64_t start);
/* Finds the address of an exported symbol. Returns 0, or -1 if not found. */
int loaded_elf_symbol(struct loaded_elf_image *image, struct memory *memory, const char *name,
		      uint64_t *address);
/*
 * Calls each() for the libraries in the program's link map, in order and without the program
 * itself, until each() returns false.
 */
void loaded_elf_each_library(struct loaded_elf_image *program, struct memory *memory,
			     bool (*each)(struct loaded_elf_image *image, const char *name,
					  void *data),
			     void *data);
/*
 * Finds the virtual address, without bias, of a section of an open file. Returns 0, or -1 if not
 * found.
 */
int loaded_elf_file_section(int fd, const char *name, uint64_t *address);

#endif
