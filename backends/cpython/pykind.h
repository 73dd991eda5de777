/*
 * pykind: the display of builtin types: one row for each type whose objects are shown by value. An
 * object of a subclass has the row of its nearest base. All other objects are shown as
 * "<module.Type at 0x…>".
 */
#ifndef BACKENDS_CPYTHON_PYKIND_H
#define BACKENDS_CPYTHON_PYKIND_H

#include <stdint.h>

struct pypage;
struct pyreader;
struct pytype;
struct pywriter;

struct pykind {
	const char *name; /* tp_name of the static type */
	uint64_t flag;	  /* bits in tp_flags of the type and all its subclasses */
	void (*write)(struct pywriter *writer, uint64_t address);
	int64_t (*count)(struct pyreader *reader, uint64_t address);
	int (*items)(struct pypage *page, uint64_t address);
};

/* Returns the row for objects of the type; NULL: none. */
const struct pykind *pykind_find(struct pyreader *reader, const struct pytype *type);

#endif
