/*
 * pyslot: what a type does in C: the functions in its PyTypeObject
 * (Include/cpython/object.h). A class that brings an __eq__ of its own has
 * another function there than its base.
 */
#ifndef BACKENDS_EXPRESSION_PYSLOT_H
#define BACKENDS_EXPRESSION_PYSLOT_H

#include <stdbool.h>
#include <stdint.h>

struct pyreader;

enum pyslot {
	PYSLOT_COMPARE,	    /* __eq__, __lt__ … */
	PYSLOT_HASH,	    /* __hash__ */
	PYSLOT_TRUTH,	    /* __bool__ */
	PYSLOT_LENGTH,	    /* __len__ */
	PYSLOT_MAP_LENGTH,  /* the same, of mappings */
	PYSLOT_CONTAINS,    /* __contains__ */
	PYSLOT_CONCATENATE, /* + of sequences */
	PYSLOT_ITEM,	    /* __getitem__ of a number */
	PYSLOT_SUBSCRIPT,   /* __getitem__ of anything */
	PYSLOT_ATTRIBUTE,   /* __getattribute__, or __getattr__ */
	PYSLOT_GET,	    /* __get__ */
	PYSLOT_SET,	    /* __set__ */
	PYSLOT_ADD,	    /* numbers, and so are the next ones */
	PYSLOT_SUBTRACT,
	PYSLOT_MULTIPLY,
	PYSLOT_REMAINDER,
	PYSLOT_POWER,
	PYSLOT_NEGATIVE,
	PYSLOT_POSITIVE,
	PYSLOT_INVERT,
	PYSLOT_LEFT,
	PYSLOT_RIGHT,
	PYSLOT_AND,
	PYSLOT_XOR,
	PYSLOT_OR,
	PYSLOT_FLOOR_DIVIDE,
	PYSLOT_DIVIDE,
};

/* The address of the function, 0: there is none. -1: unreadable. */
int pyslot_read(struct pyreader *reader, uint64_t type, enum pyslot slot, uint64_t *function);
/* Whether both have the same, or neither has one. */
bool pyslot_is_same(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot);
/*
 * Whether the type does as its base does. A class of the program may have
 * another function than its base without having changed anything: then no
 * class from the type to the base has such a method.
 */
bool pyslot_is_kept(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot);
/* The last base, which is object; 0: unreadable. */
uint64_t pyslot_root(struct pyreader *reader, uint64_t type);

#endif
