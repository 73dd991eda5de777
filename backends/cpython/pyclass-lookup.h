/*
 * pyclass-lookup: how objects of well-known classes that are written in Python look:
 * members of an enum, named tuples, dataclasses, paths, modules of torch. A
 * class is known by its name and module, or by an attribute it has; all bases
 * count, in the order of the mro. Nothing of the class's own is called, so a
 * class that has another __repr__ looks the same.
 */
#ifndef BACKENDS_CPYTHON_PYCLASS_LOOKUP_H
#define BACKENDS_CPYTHON_PYCLASS_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

struct pypage;
struct pyreader;
struct pytype;
struct pywriter;

struct pyclass_lookup {
	const char *module;    /* what its name begins with; NULL: any */
	const char *name;      /* of the class; NULL: any */
	const char *attribute; /* that the class has; NULL: none */
	uint64_t flag;	       /* in tp_flags of the object's type */
	/* -1 and nothing written: the object is not as it should be. */
	int (*write)(struct pywriter *writer, uint64_t object, const struct pytype *type);
	/* Of what else would be items by number; NULL: it has no others. */
	int (*items)(struct pypage *page, uint64_t object, const struct pytype *type);
};

/* The looks that a reader found last; type 0: free. */
#define PYCLASS_LOOKUP_CACHE 32
struct pyclass_lookup_cache {
	struct {
		uint64_t type;
		const struct pyclass_lookup *look;
	} items[PYCLASS_LOOKUP_CACHE];
	size_t next; /* to be replaced */
};

/* Lends the look of objects of the type; NULL: none. */
const struct pyclass_lookup *pyclass_lookup_find(struct pyreader *reader,
						 const struct pytype *type);

#endif
