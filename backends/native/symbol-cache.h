/*
 * symbol-cache: keeps functions and lines of addresses in ELF files, in the user's cache folder, so
 * that the next run reads no symbol table.
 *
 * A file is identified by its build id and by data that its owner cannot forge: the time of its
 * last change (ctime), with device, inode, size and owner; its debug file likewise. So a file that
 * claims another file's build id has an entry of its own. A file without a build id is not cached.
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

/* Most bytes of one cache file, and of all of them. */
#define SYMBOL_CACHE_FILE_MAXIMUM (1u << 20)
#define SYMBOL_CACHE_MAXIMUM (32u << 20)

/* Members of fstat(2) of one file; times in nanoseconds. */
struct symbol_identity {
	uint64_t device, inode, size, owner, modified, changed;
};

/* Without padding: compared and written as bytes. */
struct symbol_key {
	uint8_t id[ELF_FILE_ID_BYTES];
	uint64_t id_length;
	struct symbol_identity image;
	struct symbol_identity debug; /* all 0: no debug file */
};

/*
 * Sets the key of a file; debug may be NULL. Returns 0, or -1: the file has no build id, or was
 * changed so recently that a later change could have the same time.
 */
int symbol_key_set(struct symbol_key *key, const struct elf_file *image,
		   const struct elf_file *debug);

struct symbol_cache *symbol_cache_new(void);
/*
 * Opens the folder at the first call. May block for long if the home directory is on a file
 * server.
 */
void symbol_cache_open(struct symbol_cache *cache);
void symbol_cache_free(struct symbol_cache *cache);
/* Adds the cached names to `names` (struct place_name by address); returns their number. */
size_t symbol_cache_load(const struct symbol_cache *cache, const struct symbol_key *key,
			 struct map *names);
/*
 * Writes the names with is_lasting. If they exceed SYMBOL_CACHE_FILE_MAXIMUM, the cache file is
 * removed instead: the next run starts without.
 */
void symbol_cache_save(const struct symbol_cache *cache, const struct symbol_key *key,
		       const struct map *names);
/* Removes the oldest files if all files exceed SYMBOL_CACHE_MAXIMUM. */
void symbol_cache_trim(const struct symbol_cache *cache);

#endif
