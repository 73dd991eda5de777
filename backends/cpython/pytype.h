/*
 * pytype: the type of an object. A type must be an instance of a type, and an
 * address aligned: memory that was used again for something else rarely is.
 * A reader keeps the types it met, so that it reads them once.
 */
#ifndef BACKENDS_CPYTHON_PYTYPE_H
#define BACKENDS_CPYTHON_PYTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct pykind;
struct pyreader;

/* tp_flags, Include/object.h */
#define PYTYPE_INLINE_VALUES (UINT64_C(1) << 2) /* 3.13 and later */
#define PYTYPE_MANAGED_DICT (UINT64_C(1) << 4)	/* 3.11 and later */
#define PYTYPE_HEAP (UINT64_C(1) << 9)
#define PYTYPE_INTEGER (UINT64_C(1) << 24)
#define PYTYPE_LIST (UINT64_C(1) << 25)
#define PYTYPE_TUPLE (UINT64_C(1) << 26)
#define PYTYPE_BYTES (UINT64_C(1) << 27)
#define PYTYPE_STRING (UINT64_C(1) << 28)
#define PYTYPE_DICT (UINT64_C(1) << 29)
#define PYTYPE_EXCEPTION (UINT64_C(1) << 30)
#define PYTYPE_TYPE (UINT64_C(1) << 31)

#define PYTYPE_BASES_MAXIMUM 64

struct pytype {
	uint64_t address;
	uint64_t flags;
	uint64_t name;	  /* a C string */
	uint64_t members; /* PyMemberDef[] */
	uint64_t base;
	uint64_t mro;  /* a tuple: the type, then all its bases */
	uint64_t dict; /* of a static type: 0 from 3.12 on */
	int64_t basic_size;
	int64_t item_size;
	int64_t dict_offset;
	const struct pykind *kind; /* NULL: shown as <type at …> */
};

/* The types that a reader met last; address 0: free. */
#define PYTYPE_CACHE 32
struct pytype_cache {
	struct pytype types[PYTYPE_CACHE];
	size_t next; /* to be replaced */
};

/* The type at address; 0, or -1 unreadable. kind is not looked up. */
int pytype_read(struct pyreader *reader, uint64_t address, struct pytype *type);
/* The type of an object; 0, or -1: there is no object. */
int pytype_of(struct pyreader *reader, uint64_t object, struct pytype *type);
/* Appends "train.Net", or "int" for a builtin. */
int pytype_name(struct pyreader *reader, const struct pytype *type, struct buffer *out);
/* True when object is, or derives from, what has this flag. */
bool pytype_has(struct pyreader *reader, uint64_t object, uint64_t flag);
/* True when it is of this builtin type itself: "code", "cell". */
bool pytype_is(struct pyreader *reader, uint64_t object, const char *name);
/*
 * Whether the type was written in C: so has it a name with its module, or it
 * is not on the heap. name is filled with it, cut to size.
 */
bool pytype_is_native(struct pyreader *reader, const struct pytype *type, char *name, size_t size);
/* Whether it, or a class that it derives from, has this full name. */
bool pytype_derives(struct pyreader *reader, const struct pytype *type, const char *name);
/* An attribute of the type itself, not of its bases; 0 found. */
int pytype_attribute(struct pyreader *reader, const struct pytype *type, const char *name,
		     uint64_t *value);

#endif
