/*
 * pyscope: the variables of a frame and the addresses of their values, in every layout from 3.8 to
 * 3.14.
 *
 * The variables of a module or a class body are in a mapping instead: is_function is false for
 * these.
 */
#ifndef BACKENDS_CPYTHON_PYSCOPE_H
#define BACKENDS_CPYTHON_PYSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pyreader;

/* Kinds of variables: one bit each, with the values that CPython uses since 3.11. */
#define PYSCOPE_HIDDEN 0x10 /* variable of an inlined comprehension */
#define PYSCOPE_LOCAL 0x20
#define PYSCOPE_CELL 0x40
#define PYSCOPE_FREE 0x80

struct pyvariable {
	uint64_t name;	/* address of a str */
	uint64_t value; /* 0: unbound */
	uint64_t place; /* address of the word that holds the value */
	/* address of the cell object that contains the word; 0: the word is in the frame */
	uint64_t cell;
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

/* Reads a frame's variables. Returns 0, or -1 if they are unreadable. pyscope_clear() must be
 * called in both cases. */
int pyscope_read(struct pyscope *scope, struct pyreader *reader, uint64_t frame);
void pyscope_clear(struct pyscope *scope);
/* Get the addresses of the frame's mappings f_globals and f_locals, respectively. Return 0, or -1
 * if unreadable. */
int pyscope_globals(const struct pyscope *scope, uint64_t *globals);
int pyscope_locals(const struct pyscope *scope, uint64_t *locals);
/*
 * Gets the address of the frame's code, and of the tuple of the code's local names. Uses only the
 * members reader and frame of *scope. Returns -1 if the code is not a function's, or is unreadable.
 */
int pyscope_function(const struct pyscope *scope, uint64_t *code, uint64_t *names);

#endif
