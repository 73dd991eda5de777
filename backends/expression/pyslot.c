#include "backends/expression/pyslot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "banned.h"

/*
 * Offsets of words of PyTypeObject from tp_flags, the same from 3.8 to 3.14, and offsets in the
 * tables to which some of the words point (PyNumberMethods, PySequenceMethods,
 * PyMappingMethods).
 */
#define NUMBER (-72)
#define SEQUENCE (-64)
#define MAPPING (-56)
#define HERE 0
#define NAME_MAXIMUM 32

static const struct {
	int table;	     /* offset of the pointer to the table; HERE: no table */
	int distance;	     /* offset from tp_flags, or in the table */
	const char *methods; /* methods with which a class overrides the slot */
} slots[] = {
	[PYSLOT_COMPARE] = { HERE, 32, "__eq__ __ne__ __lt__ __le__ __gt__ __ge__" },
	[PYSLOT_HASH] = { HERE, -48, "__hash__ __eq__" },
	[PYSLOT_TRUTH] = { NUMBER, 72, "__bool__" },
	[PYSLOT_LENGTH] = { SEQUENCE, 0, "__len__" },
	[PYSLOT_MAP_LENGTH] = { MAPPING, 0, "__len__" },
	[PYSLOT_CONTAINS] = { SEQUENCE, 56, "__contains__" },
	[PYSLOT_CONCATENATE] = { SEQUENCE, 8, "__add__ __radd__" },
	[PYSLOT_ITEM] = { SEQUENCE, 24, "__getitem__" },
	[PYSLOT_SUBSCRIPT] = { MAPPING, 8, "__getitem__" },
	[PYSLOT_ATTRIBUTE] = { HERE, -24, "__getattribute__ __getattr__" },
	[PYSLOT_GET] = { HERE, 104, "__get__" },
	[PYSLOT_SET] = { HERE, 112, "__set__ __delete__" },
	[PYSLOT_ADD] = { NUMBER, 0, "__add__ __radd__" },
	[PYSLOT_SUBTRACT] = { NUMBER, 8, "__sub__ __rsub__" },
	[PYSLOT_MULTIPLY] = { NUMBER, 16, "__mul__ __rmul__" },
	[PYSLOT_REMAINDER] = { NUMBER, 24, "__mod__ __rmod__" },
	[PYSLOT_POWER] = { NUMBER, 40, "__pow__ __rpow__" },
	[PYSLOT_NEGATIVE] = { NUMBER, 48, "__neg__" },
	[PYSLOT_POSITIVE] = { NUMBER, 56, "__pos__" },
	[PYSLOT_INVERT] = { NUMBER, 80, "__invert__" },
	[PYSLOT_LEFT] = { NUMBER, 88, "__lshift__ __rlshift__" },
	[PYSLOT_RIGHT] = { NUMBER, 96, "__rshift__ __rrshift__" },
	[PYSLOT_AND] = { NUMBER, 104, "__and__ __rand__" },
	[PYSLOT_XOR] = { NUMBER, 112, "__xor__ __rxor__" },
	[PYSLOT_OR] = { NUMBER, 120, "__or__ __ror__" },
	[PYSLOT_FLOOR_DIVIDE] = { NUMBER, 232, "__floordiv__ __rfloordiv__" },
	[PYSLOT_DIVIDE] = { NUMBER, 240, "__truediv__ __rtruediv__" },
};

int pyslot_read(struct pyreader *reader, uint64_t type, enum pyslot slot, uint64_t *function)
{
	uint64_t flags = type + (uint64_t)reader->python->offsets.tp_flags;
	uint64_t table = flags;

	if (slots[slot].table != HERE &&
	    pyreader_pointer(reader, flags + (uint64_t)(int64_t)slots[slot].table, &table))
		return -1;
	*function = 0;
	if (!table)
		return 0;
	return pyreader_pointer(reader, table + (uint64_t)(int64_t)slots[slot].distance, function);
}

bool pyslot_is_same(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot)
{
	uint64_t left, right;

	return type == base || (!pyslot_read(reader, type, slot, &left) &&
				!pyslot_read(reader, base, slot, &right) && left == right);
}

static bool has_method(struct pyreader *reader, const struct pytype *type, const char *methods)
{
	char name[NAME_MAXIMUM];
	uint64_t value;

	for (const char *at = methods; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		if (!pytype_attribute(reader, type, name, &value))
			return true;
		at += length;
	}
	return false;
}

bool pyslot_is_kept(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot)
{
	struct pytype is, class;
	int64_t count;

	if (pyslot_is_same(reader, type, base, slot))
		return true;
	if (pytype_read(reader, type, &is))
		return false;
	count = pytuple_count(reader, is.mro);
	for (int64_t i = 0; i < count && i < PYTYPE_BASES_MAXIMUM; i++) {
		uint64_t address;

		if (pytuple_item(reader, is.mro, i, &address))
			return false;
		if (address == base)
			return true;
		if (pytype_read(reader, address, &class) ||
		    (class.flags & PYTYPE_HEAP ? has_method(reader, &class, slots[slot].methods)
					       : !pyslot_is_same(reader, address, base, slot)))
			return false;
	}
	return false;
}

uint64_t pyslot_root(struct pyreader *reader, uint64_t type)
{
	struct pytype is;

	for (int i = 0; i < PYTYPE_BASES_MAXIMUM; i++) {
		if (pytype_read(reader, type, &is))
			return 0;
		if (!is.base)
			return type;
		type = is.base;
	}
	return 0;
}
