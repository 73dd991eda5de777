/*
 * elf-file: what stands in an ELF file of 64 bits, read with pread(2) piece by
 * piece: a file that is cut short or lies ends in an error, never in SIGBUS.
 * Nothing in it is believed; all counts are bounded.
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
	Elf64_Phdr segments[ELF_FILE_SEGMENTS]; /* those that are loaded */
	size_t segment_count;
	Elf64_Phdr frames;	       /* of PT_GNU_EH_FRAME; 0 bytes: there is none */
	uint8_t id[ELF_FILE_ID_BYTES]; /* the build id */
	size_t id_length;	       /* 0: it has none */
};

/* -1: no such file. */
int elf_file_read(struct elf_file *file, int fd);
/* The first section of a type (SHT_…), and where its names are. 0 found. */
int elf_file_section(const struct elf_file *file, uint32_t type, Elf64_Shdr *section,
		     Elf64_Shdr *strings);
/*
 * The file's address of what is mapped from an offset on; -1: that part of
 * the file is not loaded.
 */
int elf_file_address(const struct elf_file *file, uint64_t offset, uint64_t *address);
/* Reads all or nothing. */
int elf_file_bytes(const struct elf_file *file, uint64_t offset, void *out, size_t length);
/* The same at one of the file's addresses, within one segment. */
int elf_file_read_at(const struct elf_file *file, uint64_t address, void *out, size_t length);

#endif
