/*
 * bypep768: a CPython of 3.14 or later is asked to run a script itself.
 */
#ifndef BACKENDS_INJECT_BYPEP768_H
#define BACKENDS_INJECT_BYPEP768_H

#include <stdbool.h>
#include <stdint.h>

struct cpython;
struct error;
struct memory;

struct bypep768 {
	uint64_t breaker; /* addresses in the process */
	uint64_t pending;
	uint64_t path;
	uint64_t path_size;
};

/*
 * Finds where a thread state, one of the interpreter's, is asked. -1 and a
 * sentence: it does not listen.
 */
int bypep768_find(struct bypep768 *found, struct memory *memory,
		  const struct cpython *python, uint64_t interpreter,
		  uint64_t state, struct error *error);
int bypep768_ask(const struct bypep768 *found, struct memory *memory,
		 const char *path, struct error *error);
bool bypep768_is_pending(const struct bypep768 *found, struct memory *memory);
/* False: it has begun meanwhile. */
bool bypep768_withdraw(const struct bypep768 *found, struct memory *memory);

#endif
