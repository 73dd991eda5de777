/*
 * code-search-private: the start of every search for code: the running frames and the loaded
 * modules. code-search.c searches for files, code-function.c for functions.
 */
#ifndef BACKENDS_CPYTHON_CODE_SEARCH_PRIVATE_H
#define BACKENDS_CPYTHON_CODE_SEARCH_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/cpython/code-search.h"
#include "backends/cpython/object-search.h"
#include "backends/cpython/pytstate.h"
#include "backends/cpython/pywalk.h"
#include "backends/cpython/sys-modules.h"

struct codes {
	struct memory *memory;	 /* owned; used by searches */
	struct memory *watching; /* owned; used by code_search_revision() */
	const struct cpython *python;
	struct address_set seen;  /* code objects that have been found running */
	struct address_set files; /* hashes of the known file names */
	uint64_t modules;	  /* hash of the interpreters' sys_modules_revision() */
	uint64_t revision;
	struct pytstate_list threads;
	struct pywalk walk;
};

/* A running frame's code and globals. */
struct running {
	uint64_t code;
	uint64_t globals;
};

struct code_search {
	struct codes *codes;
	const char *path;	     /* searched file; NULL: a search for a function */
	struct object_search *crawl; /* owned; NULL: none */
	struct sys_modules modules;
	struct running *running; /* one thread after the other, each from the innermost frame on */
	size_t running_count;
	size_t running_capacity;
};

/* Takes a new snapshot of codes->memory and fills *search, which must be all zero. */
void code_search_begin(struct code_search *search, struct codes *codes);
void code_search_end(struct code_search *search);

#endif
