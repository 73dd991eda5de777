/*
 * pyslot: reads the C functions in the slots of a type (PyTypeObject, Include/cpython/object.h). A
 * class with its own __eq__ has another function in that slot than its base.
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
	PYSLOT_MAP_LENGTH,  /* __len__ of mappings */
	PYSLOT_CONTAINS,    /* __contains__ */
	PYSLOT_CONCATENATE, /* + of sequences */
	PYSLOT_ITEM,	    /* __getitem__ with an integer */
	PYSLOT_SUBSCRIPT,   /* __getitem__ with any key */
	PYSLOT_ATTRIBUTE,   /* __getattribute__ or __getattr__ */
	PYSLOT_GET,	    /* __get__ */
	PYSLOT_SET,	    /* __set__ */
	PYSLOT_ADD,	    /* this slot and the following ones: numbers */
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

/* Reads the address of the slot's function; 0: empty slot. Returns 0, or -1: unreadable. */
int pyslot_read(struct pyreader *reader, uint64_t type, enum pyslot slot, uint64_t *function);
/* Whether both types have the same function in the slot, or neither has one. */
bool pyslot_is_same(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot);
/*
 * Whether the type's slot behaves like the base's. A class of the program may have another function
 * in the slot than its base without overriding a method; so each class between type and base is
 * searched for the slot's methods.
 */
bool pyslot_is_kept(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot);
/* The last base class, which is `object`; 0: unreadable. */
uint64_t pyslot_root(struct pyreader *reader, uint64_t type);

#endif
