/*
 * pywriter: writes one value as text, as in repr(). The length of the text and the number of
 * objects are limited. The containers that are being written are remembered, so that writing a list
 * that contains itself ends.
 */
#ifndef BACKENDS_CPYTHON_PYWRITER_H
#define BACKENDS_CPYTHON_PYWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct pypage;
struct pyreader;
struct pytype;
struct pywriter;

#define PYWRITER_DEPTH 3 /* maximum nested containers */
#define PYWRITER_CUT "\xe2\x80\xa6"
#define PYWRITER_UNKNOWN "?"

struct pywriter {
	struct pyreader *reader;
	struct buffer *out;
	size_t limit; /* maximum length of out; closing brackets may exceed it a little */
	int objects;  /* number of objects that may still be written */
	int depth;
	uint64_t open[PYWRITER_DEPTH];
};

/* Texts around the items of a container. */
struct pybrackets {
	const char *open;
	const char *close;
	const char *cycle; /* the whole text of a container that is already being written */
	const char *empty; /* the whole text of a container without items */
};

/* Writes to the end of out; reader and out are borrowed. */
void pywriter_init(struct pywriter *writer, struct pyreader *reader, struct buffer *out);
/* Appends text, even beyond the limit. */
void pywriter_text(struct pywriter *writer, const char *text);
/* Returns the number of bytes left up to the limit. */
size_t pywriter_left(const struct pywriter *writer);
/* Writes any object. */
void pywriter_object(struct pywriter *writer, uint64_t address);
/*
 * Begins a container of `count` items: writes the opening bracket and returns true. If the
 * container has no items, is already being written or is too deep, writes the whole text of the
 * container and returns false.
 */
bool pywriter_open(struct pywriter *writer, uint64_t address, int64_t count,
		   const struct pybrackets *brackets);
/* To be called before each item: writes ", " if need be, and returns true; at a limit also writes
 * "…" and returns false. */
bool pywriter_next(struct pywriter *writer, int64_t number);
/* Writes the closing bracket of a container that pywriter_open() began. */
void pywriter_close(struct pywriter *writer, const struct pybrackets *brackets);

/*
 * pykind: how objects of builtin types are displayed: one row for each type whose objects are shown
 * by value. Objects of a subclass are shown by the row of the nearest base. All other objects are
 * shown as "<module.Type at 0x…>".
 */

struct pykind {
	const char *name; /* tp_name of the static type */
	uint64_t flag;	  /* bits that the type and all its subclasses have in tp_flags */
	void (*write)(struct pywriter *writer, uint64_t address);
	int64_t (*count)(struct pyreader *reader, uint64_t address);
	int (*items)(struct pypage *page, uint64_t address);
};

/* Returns the row for objects of the type; NULL: none. */
const struct pykind *pykind_find(struct pyreader *reader, const struct pytype *type);

#endif
