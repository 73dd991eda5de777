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
 * Reads the file's symbol table, or, if there is none, the exported symbols. Never returns NULL: a
 * file without symbols has an empty list. Stops early when *is_cancelled becomes true.
 */
struct symbols *symbols_new(const struct elf_file *file, const atomic_bool *is_cancelled);
void symbols_free(struct symbols *symbols);
/* Returns false if the symbols were not read to the end, so that a name may be missing. */
bool symbols_are_whole(const struct symbols *symbols);
size_t symbols_count(const struct symbols *symbols);
size_t symbols_bytes(const struct symbols *symbols);
/*
 * Returns the name of the function that contains a virtual address of the file, to be freed; if it
 * has several names, the plainest one. NULL: none.
 */
char *symbols_find(const struct symbols *symbols, const struct elf_file *file, uint64_t address);

/* cpp_name: shortens demangled C++ names for display. */

/*
 * Returns the name without parameters and return type, and with template arguments replaced by <…>,
 * to be freed: "std::vector<int>::at(unsigned long)" becomes "std::vector<…>::at".
 */
char *cpp_name_shorten(const char *name);

/*
 * Whether a mangled name can be demangled in little time and memory. A name of some hundred bytes
 * can contain a part that repeats a part that repeats a part, and so on, so that its text grows
 * exponentially; libstdc++'s demangler has no limit.
 */
bool cpp_name_is_modest(const char *mangled);

#endif
