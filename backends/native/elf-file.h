/*
 * elf-file: reads a 64-bit ELF file with pread(2), piece by piece, so that a truncated or wrong
 * file causes an error and never SIGBUS. Nothing in the file is trusted; all counts are bounded.
 */
#ifndef BACKENDS_NATIVE_ELF_FILE_H
#define BACKENDS_NATIVE_ELF_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_FILE_SEGMENTS 32
#define ELF_FILE_ID_BYTES 64

struct elf_file {
	int fd; /* not owned */
	Elf64_Ehdr header;
	Elf64_Phdr segments[ELF_FILE_SEGMENTS]; /* of type PT_LOAD */
	size_t segment_count;
	Elf64_Phdr frames;	       /* of type PT_GNU_EH_FRAME; p_filesz 0: none */
	uint8_t id[ELF_FILE_ID_BYTES]; /* the build id */
	size_t id_length;	       /* 0: no build id */
};

/* Reads the headers; fd is borrowed. Returns 0, or -1 if the file is unreadable or not a 64-bit ELF
 * file. */
int elf_file_read(struct elf_file *file, int fd);
/*
 * Finds the first section of a type (SHT_…), and its string table. Returns 0, or -1 if not found.
 */
int elf_file_section(const struct elf_file *file, uint32_t type, Elf64_Shdr *section,
		     Elf64_Shdr *strings);
/*
 * Converts an offset in the file to a virtual address of the file. Returns -1 if no segment loads
 * that part of the file.
 */
int elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *address);
/* Reads `length` bytes at an offset. Returns 0, or -1 if not all of them are readable. */
int elf_file_bytes(const struct elf_file *file, uint64_t offset, void *out, size_t length);
/* Like elf_file_bytes(), at a virtual address of the file, within one segment. */
int elf_file_read_at(const struct elf_file *file, uint64_t address, void *out, size_t length);

#endif
