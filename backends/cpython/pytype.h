/*
 * pytype: the type of an object. An object's address must be aligned, and its type must itself be
 * an instance of a type: memory that was reused for other data rarely passes these checks. A reader
 * caches the types that it reads.
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
	uint64_t name;	  /* address of a C string */
	uint64_t members; /* PyMemberDef[] */
	uint64_t base;
	uint64_t mro;  /* a tuple: the type, then all its bases */
	uint64_t dict; /* address of the type's dict; 0 for a static type from 3.12 on */
	int64_t basic_size;
	int64_t item_size;
	int64_t dict_offset;
	const struct pykind *kind; /* NULL: shown as <type at 0x…> */
};

/* The types that a reader has read last; address 0: a free item. */
#define PYTYPE_CACHE 32
struct pytype_cache {
	struct pytype types[PYTYPE_CACHE];
	size_t next; /* index of the type to replace next */
};

/* Reads the type at address, but does not set kind. Returns 0, or -1 if it is unreadable. */
int pytype_read(struct pyreader *reader, uint64_t address, struct pytype *type);
/* Reads the type of an object. Returns 0, or -1 if there is no object at the address. */
int pytype_of(struct pyreader *reader, uint64_t object, struct pytype *type);
/* Appends the type's name: "train.Net", or "int" for a builtin. Returns 0, or -1 if it is
 * unreadable. */
int pytype_name(struct pyreader *reader, const struct pytype *type, struct buffer *out);
/* Returns true if the object's type, or a base of that type, has this flag. */
bool pytype_has(struct pyreader *reader, uint64_t object, uint64_t flag);
/* Returns true if the object's type is the builtin type of this name ("code", "cell"), not a
 * subclass. */
bool pytype_is(struct pyreader *reader, uint64_t object, const char *name);
/*
 * Returns true if the type was written in C: it is a static type, or tp_name contains a module.
 * Writes the name, cut to size.
 */
bool pytype_is_native(struct pyreader *reader, const struct pytype *type, char *name, size_t size);
/* Returns true if the type, or one of its bases, has this full name. */
bool pytype_derives(struct pyreader *reader, const struct pytype *type, const char *name);
/* Finds an attribute of the type itself, not of its bases. Returns 0, or -1 if it is not found. */
int pytype_attribute(struct pyreader *reader, const struct pytype *type, const char *name,
		     uint64_t *value);

#endif
