/*
 * pyscope: the variables of a frame and the words that they stand in, in
 * every layout from 3.8 to 3.14.
 *
 * Names of a module or a class body are none of these: they are kept in a
 * mapping (is_function is false then).
 */
#ifndef BACKENDS_CPYTHON_PYSCOPE_H
#define BACKENDS_CPYTHON_PYSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pyreader;

/* What a variable is: one of these bits, as CPython has them since 3.11. */
#define PYSCOPE_HIDDEN 0x10 /* of an inlined comprehension */
#define PYSCOPE_LOCAL 0x20
#define PYSCOPE_CELL 0x40
#define PYSCOPE_FREE 0x80

struct pyvariable {
	uint64_t name;	/* a str */
	uint64_t value; /* 0: unbound */
	uint64_t place; /* of the word that holds the value */
	uint64_t cell;	/* the object that the word is in; 0: the frame */
	unsigned kind;
};

struct pyscope {
	struct pyreader *reader;
	uint64_t frame;
	uint64_t code;
	bool is_function;
	size_t count;
	struct pyvariable *variables;
};

/* -1: there is no frame. Clear the scope in any case. */
int pyscope_read(struct pyscope *scope, struct pyreader *reader, uint64_t frame);
void pyscope_clear(struct pyscope *scope);
/* The mappings of names that the frame has; 0, or -1 unreadable. */
int pyscope_globals(const struct pyscope *scope, uint64_t *globals);
int pyscope_locals(const struct pyscope *scope, uint64_t *locals);
/*
 * Of a frame of which nothing was read: the code, and the tuple of the names
 * that it has. -1: it is no function, or unreadable.
 */
int pyscope_function(const struct pyscope *scope, uint64_t *code, uint64_t *names);

#endif
