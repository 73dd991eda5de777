/*
 * pyclasses: writes objects of well-known classes (enum, dataclass, datetime …) as repr() does. A
 * function named ..._write returns -1, with nothing written, if the object lacks a member that its
 * class defines.
 */
#ifndef BACKENDS_CPYTHON_PYCLASSES_H
#define BACKENDS_CPYTHON_PYCLASSES_H

#include <stddef.h>
#include <stdint.h>

struct pypage;
struct pyreader;
struct pytype;
struct pywriter;

/* "Color.RED = 1" */
int pyenum_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "Point(x=1, y=2)"; pynamedtuple_items() gives the children the names of the fields. */
int pynamedtuple_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
int pynamedtuple_items(struct pypage *page, uint64_t object, const struct pytype *type);
/* "Point(x=1, y=2)", without the fields that have repr=False. */
int pydataclass_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
int pyfraction_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "PosixPath('/data')" */
int pypath_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "Counter({'a': 2})", in the order of the dict. */
int pycounter_write(struct pywriter *writer, uint64_t object, const struct pytype *type);
/* "Net (2 parameters, 3 modules)", without the parameters and modules of submodules. */
int pymodule_write(struct pywriter *writer, uint64_t object, const struct pytype *type);

/*
 * pyclass_lookup: how objects of well-known classes that are written in Python are displayed: enum
 * members, named tuples, dataclasses, paths, torch modules. A class is recognised by its name and
 * module, or by an attribute; if the class itself is not, its base classes are tried, in the order
 * of the mro. No code of the class is run, so a class that defines its own __repr__ is displayed in
 * the same way.
 */

struct pyclass_lookup {
	const char *module;    /* first components of the class's __module__; NULL: any module */
	const char *name;      /* name of the class; NULL: any name */
	const char *attribute; /* an attribute that the class has; NULL: none required */
	uint64_t flag;	       /* bits that tp_flags of the object's type must have */
	/* Writes the object. Returns -1, with nothing written, if the object is malformed. */
	int (*write)(struct pywriter *writer, uint64_t object, const struct pytype *type);
	/* Appends the children that have names instead of numbers. NULL: there are no such
	 * children. */
	int (*items)(struct pypage *page, uint64_t object, const struct pytype *type);
};

/*
 * Cache of the newest results of pyclass_lookup_find(), by type address; type 0: a free item.
 */
#define PYCLASS_LOOKUP_CACHE 32
struct pyclass_lookup_cache {
	struct {
		uint64_t type;
		const struct pyclass_lookup *look;
	} items[PYCLASS_LOOKUP_CACHE];
	size_t next; /* index of the item to replace next */
};

/* Returns the row for objects of the type; NULL: none. */
const struct pyclass_lookup *pyclass_lookup_find(struct pyreader *reader,
						 const struct pytype *type);

/* Write objects of the module datetime (Include/datetime.h) as repr() does; "?" if unreadable. */

void pydate_write(struct pywriter *writer, uint64_t address);
void pytime_write(struct pywriter *writer, uint64_t address);
void pydatetime_write(struct pywriter *writer, uint64_t address);
void pytimedelta_write(struct pywriter *writer, uint64_t address);
void pytimezone_write(struct pywriter *writer, uint64_t address);

#endif
