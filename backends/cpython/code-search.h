/*
 * code-search: the code objects of a process, found from outside by their file or by
 * a function's name: those of frames that run, of loaded modules' functions
 * and classes (methods, properties, wrapped and nested functions, closures),
 * and all that are constants of those.
 *
 * The search reads what the process has while it runs on, so it may miss
 * what is just being changed; it is bounded, and said so when it was cut.
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
	bool is_cut; /* there may be more */
	char *file;  /* co_filename of the first one; NULL: none was found */
};

struct codes *code_search_new(struct memory *memory, const struct cpython *python);
void code_search_free(struct codes *codes);
void code_list_clear(struct code_list *list);
/*
 * Code of this file. path: absolute, or its end ("train.py", "pkg/a.py"), in
 * whole components; a relative co_filename counts as well.
 */
void code_search_of_file(struct codes *codes, const char *path, struct code_list *list);
/*
 * The same, gone through all that can be reached from any module: for what is
 * found nowhere else. Takes some tenths of a second in a large process.
 */
void code_search_of_file_far(struct codes *codes, const char *path, struct code_list *list);
/*
 * Code of functions of this name: "train", "Net.forward", "module.f",
 * "module.Class.method".
 */
void code_search_of_function(struct codes *codes, const char *name, struct code_list *list);
/*
 * The same of a module whose body, this code object, is about to run: it has
 * no attributes yet.
 */
void code_search_of_function_in(struct codes *codes, uint64_t code, const char *name,
				struct code_list *list);
/* This code object and those nested in it. */
void code_search_nested(struct codes *codes, uint64_t code, struct code_list *list);
/*
 * A number that changes when modules were loaded, or code began to run that is
 * of no file known before: a search that found nothing need not be made again
 * while it is the same. Cheap (some dozen reads).
 */
uint64_t code_search_revision(struct codes *codes);

#endif
