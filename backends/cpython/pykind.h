/*
 * pykind: what a builtin type's objects are shown as: one row for each type
 * that is shown by its value. An object of a subclass has the row of its
 * nearest base. Everything else is "<module.Type at 0x…>".
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
	uint64_t flag;	  /* in tp_flags of it and all its subclasses */
	void (*write)(struct pywriter *writer, uint64_t address);
	int64_t (*count)(struct pyreader *reader, uint64_t address);
	int (*items)(struct pypage *page, uint64_t address);
};

/* Lends the row for objects of the type; NULL: none. */
const struct pykind *pykind_find(struct pyreader *reader, const struct pytype *type);

#endif
