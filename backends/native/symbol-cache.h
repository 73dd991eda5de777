/*
 * symbol-cache: keeps the functions and lines of addresses in ELF files, in the user's cache
 * folder, so that the next run need not read their symbol tables.
 *
 * A file is identified by its build id and by data that its owner cannot forge: the time of its
 * last change (ctime), with device, inode, size and owner; its debug file is identified in the same
 * way. So a file that claims another file's build id has a separate entry. A file without a build
 * id is not cached.
 *
 * The cache files belong to the user (0600, in a folder of 0700), are written under another name
 * and then renamed, and have a checksum: a damaged file is ignored. If there is no home directory,
 * or no write permission, nothing is cached and no error is reported.
 */
#ifndef BACKENDS_NATIVE_SYMBOL_CACHE_H
#define BACKENDS_NATIVE_SYMBOL_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/native/elf-file.h"

struct map;
struct symbol_cache;

/* Bytes of one cache file and of all cache files together, respectively, at most. */
#define SYMBOL_CACHE_FILE_MAXIMUM (1u << 20)
#define SYMBOL_CACHE_MAXIMUM (32u << 20)

/* Members of fstat(2) of one file; times in nanoseconds. */
struct symbol_identity {
	uint64_t device, inode, size, owner, modified, changed;
};

/* Has no padding, because keys are compared and written as bytes. */
struct symbol_key {
	uint8_t id[ELF_FILE_ID_BYTES];
	uint64_t id_length;
	struct symbol_identity image;
	struct symbol_identity debug; /* all 0: no debug file */
};

/*
 * Sets the key of a file; debug may be NULL. Returns 0, or -1 if the file has no build id or was
 * changed so recently that a later change could have the same time.
 */
int symbol_key_set(struct symbol_key *key, const struct elf_file *image,
		   const struct elf_file *debug);

struct symbol_cache *symbol_cache_new(void);
/*
 * Opens the folder at the first call; may block for long if the home directory is on a file server.
 */
void symbol_cache_open(struct symbol_cache *cache);
void symbol_cache_free(struct symbol_cache *cache);
/* Adds the cached names to `names` (struct place_name by address); returns their number. */
size_t symbol_cache_load(const struct symbol_cache *cache, const struct symbol_key *key,
			 struct map *names);
/*
 * Writes the names with is_lasting. If they exceed SYMBOL_CACHE_FILE_MAXIMUM, removes the cache
 * file instead, so that the next run has none.
 */
void symbol_cache_save(const struct symbol_cache *cache, const struct symbol_key *key,
		       const struct map *names);
/* If all files together exceed SYMBOL_CACHE_MAXIMUM, removes the oldest files. */
void symbol_cache_trim(const struct symbol_cache *cache);

#endif
