/*
 * pycxx: the class of a C++ object, found by its virtual table: the word before the table points to
 * the class's type_info, which points to the mangled name ("N3c1011StorageImplE"). Freed or other
 * memory hardly ever leads to such a name.
 */
#ifndef BACKENDS_CPYTHON_PYCXX_H
#define BACKENDS_CPYTHON_PYCXX_H

#include <stddef.h>
#include <stdint.h>

struct pyreader;

#define PYCXX_NAME 120
#define PYCXX_CACHE 16

/* The classes that a reader found last; table 0: free. */
struct pycxx_cache {
	struct {
		uint64_t table;
		char name[PYCXX_NAME];
	} items[PYCXX_CACHE];
	size_t next; /* index of the item to replace next */
};

/* Returns the mangled name, valid until the next call; NULL: no C++ object. */
const char *pycxx_class(struct pyreader *reader, uint64_t object);
/*
 * Writes the last component of a mangled name without template arguments: "MulBackward0"; -1: the
 * name has none, or out is too small.
 */
int pycxx_last(const char *mangled, char *out, size_t size);

#endif
