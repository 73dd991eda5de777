/*
 * code-search: finds code objects of another process by their file or by a function's name.
 * Searches the code of running frames, the code of functions and classes in loaded modules
 * (methods, properties, wrapped and nested functions, closures), and code nested in either.
 *
 * The process runs meanwhile, so the search may miss objects that are just being changed. The
 * search is bounded; code_list.is_cut is true when the bound was reached.
 */
#ifndef BACKENDS_CPYTHON_CODE_SEARCH_H
#define BACKENDS_CPYTHON_CODE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codes;
struct cpython;
struct memory;

struct code_list {
	uint64_t *items; /* addresses of code objects */
	size_t count;
	size_t capacity;
	bool is_cut; /* true: the search reached its bound; there may be more items */
	char *file;  /* co_filename of the first item; NULL: no item */
};

/* memory: used only to identify the process; not kept. python is borrowed. */
struct codes *code_search_new(struct memory *memory, const struct cpython *python);
void code_search_free(struct codes *codes);
void code_list_clear(struct code_list *list);
/*
 * Appends code of this file. path: absolute, or the last components of a path ("train.py",
 * "pkg/a.py"); a relative co_filename is compared in the same way.
 */
void code_search_of_file(struct codes *codes, const char *path, struct code_list *list);
/*
 * Like code_search_of_file(), but also searches all objects reachable from all modules, to find
 * code that is found nowhere else. Takes some tenths of a second in a large process.
 */
void code_search_of_file_far(struct codes *codes, const char *path, struct code_list *list);
/*
 * Appends code of functions of this name: "train", "Net.forward", "module.f",
 * "module.Class.method".
 */
void code_search_of_function(struct codes *codes, const char *name, struct code_list *list);
/*
 * Like code_search_of_function(), for a module that is about to be executed; `code` is the code
 * object of its body. The module has no attributes yet, so the constants of `code` are searched.
 */
void code_search_of_function_in(struct codes *codes, uint64_t code, const char *name,
				struct code_list *list);
/* Appends this code object and the code objects nested in it. */
void code_search_nested(struct codes *codes, uint64_t code, struct code_list *list);
/*
 * Returns a number that changes when modules were loaded, or when code of a file that was not known
 * before began to run. While the number is unchanged, a search that found nothing need not be
 * repeated. Cheap (some dozen reads).
 */
uint64_t code_search_revision(struct codes *codes);

#endif
