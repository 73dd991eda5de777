/*
 * symbol-cache: what functions and lines lie at addresses of ELF files, kept
 * in the user's cache folder, so that the next run reads no symbol table.
 *
 * A file is known by its build id and by what its user cannot set: the time
 * of its last change, beside device, inode, size and owner; its file of
 * debugging data likewise. Who claims another file's build id has a file of
 * his own here. A file without a build id is not kept.
 *
 * What is kept is the user's own (0600, in a folder of 0700), is written aside
 * and renamed, and is believed only whole: a checksum covers it. Where there
 * is no home, or it cannot be written, nothing is kept and nothing is said.
 */
#ifndef BACKENDS_NATIVE_SYMBOL_CACHE_H
#define BACKENDS_NATIVE_SYMBOL_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/native/elf-file.h"

struct map;
struct symbol_cache;

/* More than this is not kept: of one file, and of all of them. */
#define SYMBOL_CACHE_FILE_MAXIMUM (1u << 20)
#define SYMBOL_CACHE_MAXIMUM (32u << 20)

/* Of one file, as fstat(2) tells; times in nanoseconds. */
struct symbol_identity {
	uint64_t device, inode, size, owner, modified, changed;
};

/* No bytes but those of its members: compared, and written, as it is. */
struct symbol_key {
	uint8_t id[ELF_FILE_ID_BYTES];
	uint64_t id_length;
	struct symbol_identity image;
	struct symbol_identity debug; /* all 0: there is none */
};

/*
 * debug may be NULL. -1: the file has no build id, or was changed so short a
 * time ago that the same time could be another content's.
 */
int symbol_key_set(struct symbol_key *key, const struct elf_file *image,
		   const struct elf_file *debug);

struct symbol_cache *symbol_cache_new(void);
/* Opens the folder, the first time. A home on a file server may keep waiting. */
void symbol_cache_open(struct symbol_cache *cache);
void symbol_cache_free(struct symbol_cache *cache);
/* Adds what is kept to names (address to struct place_name); how many. */
size_t symbol_cache_load(const struct symbol_cache *cache, const struct symbol_key *key,
			 struct map *names);
/*
 * Keeps those of names that are lasting. When they are too many, none: the
 * next run begins anew.
 */
void symbol_cache_save(const struct symbol_cache *cache, const struct symbol_key *key,
		       const struct map *names);
/* Drops the oldest files when all are too much. */
void symbol_cache_trim(const struct symbol_cache *cache);

#endif
