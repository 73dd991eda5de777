/*
 * symbols: the functions that an ELF file names, sorted by address. Made once per file; the names
 * stay in the file and are read when needed.
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
 * Reads the file's symbol table, or, if there is none, the exported symbols. Never NULL: a file
 * without symbols has an empty list. Stops early once *is_cancelled.
 */
struct symbols *symbols_new(const struct elf_file *file, const atomic_bool *is_cancelled);
void symbols_free(struct symbols *symbols);
/* False: the symbols were not read to the end, so a name may be missing. */
bool symbols_are_whole(const struct symbols *symbols);
size_t symbols_count(const struct symbols *symbols);
size_t symbols_bytes(const struct symbols *symbols);
/*
 * The name of the function that contains a virtual address of the file, to be freed; the plainest
 * of several names. NULL: none.
 */
char *symbols_find(const struct symbols *symbols, const struct elf_file *file, uint64_t address);

/* Shortens demangled C++ names for people. */

/*
 * Removes parameters and return type, and replaces template arguments by <…>:
 * "std::vector<int>::at(unsigned long)" becomes "std::vector<…>::at". To be freed.
 */
char *cpp_name_shorten(const char *name);

/*
 * Whether a mangled name can be demangled in little time and memory. A name of some hundred bytes
 * can repeat a part twice, that part twice, and so on, and libstdc++'s demangler has no limit.
 */
bool cpp_name_is_modest(const char *mangled);

#endif
