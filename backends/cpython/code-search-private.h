/*
 * code-search-private: what a search for code begins with: the frames that run, and
 * the modules that are loaded. Files are looked for in code-search.c, functions in
 * code-function.c.
 */
#ifndef BACKENDS_CPYTHON_CODE_SEARCH_PRIVATE_H
#define BACKENDS_CPYTHON_CODE_SEARCH_PRIVATE_H

#include <stddef.h>
#include <stdint.h>

#include "backends/cpython/address-set.h"
#include "backends/cpython/code-search.h"
#include "backends/cpython/pytstate.h"
#include "backends/cpython/pywalk.h"
#include "backends/cpython/sys-modules.h"

struct codes {
	struct memory *memory;	 /* our own: searches */
	struct memory *watching; /* our own: the revision */
	const struct cpython *python;
	struct address_set seen;  /* code that ran */
	struct address_set files; /* hashes of the names of files that are known */
	uint64_t modules;	  /* their revision */
	uint64_t revision;
	struct pytstate_list threads;
	struct pywalk walk;
};

/* Code that runs, and the globals it has. */
struct running {
	uint64_t code;
	uint64_t globals;
};

struct code_search {
	struct codes *codes;
	const char *path;	     /* of a search for a file */
	struct object_search *crawl; /* owned; NULL: none */
	struct sys_modules modules;
	struct running *running; /* innermost first, thread after thread */
	size_t running_count;
	size_t running_capacity;
};

/* Fills one that is all zero: a new snapshot of codes->memory. */
void code_search_begin(struct code_search *search, struct codes *codes);
void code_search_end(struct code_search *search);

#endif
