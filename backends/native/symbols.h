/*
 * symbols: the functions that an ELF file names, by address. Made once for a
 * file; the names stay in the file and are read when they are wanted.
 */
#ifndef BACKENDS_NATIVE_SYMBOLS_H
#define BACKENDS_NATIVE_SYMBOLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct symbols;

/*
 * Reads the file's symbols, all there are or else the exported ones. Never
 * NULL: a file without any has an empty list. Ends early once *is_cancelled.
 */
struct symbols *symbols_new(const struct elf_file *file, const atomic_bool *is_cancelled);
void symbols_free(struct symbols *symbols);
/* False: reading ended early, so that a name may be missing. */
bool symbols_are_whole(const struct symbols *symbols);
size_t symbols_count(const struct symbols *symbols);
size_t symbols_bytes(const struct symbols *symbols);
/*
 * The name of the function that the file's address is in, to be freed; where
 * one has several names, the plainest. NULL: there is none.
 */
char *symbols_find(const struct symbols *symbols, const struct elf_file *file, uint64_t address);

#endif
