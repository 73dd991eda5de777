/*
 * pycxx: which class a C++ object is of, by its virtual table: before that
 * stands the class's type_info, and in it its mangled name
 * ("N3c1011StorageImplE"). What is freed or never was such an object has
 * hardly a table there that says the same.
 */
#ifndef BACKENDS_CPYTHON_PYCXX_H
#define BACKENDS_CPYTHON_PYCXX_H

#include <stddef.h>
#include <stdint.h>

struct pyreader;

#define PYCXX_NAME 120
#define PYCXX_CACHE 16

/* Those that a reader met last; table 0: free. */
struct pycxx_cache {
	struct {
		uint64_t table;
		char name[PYCXX_NAME];
	} items[PYCXX_CACHE];
	size_t next; /* to be replaced */
};

/* Lends it until the next call; NULL: there is no such object. */
const char *pycxx_class(struct pyreader *reader, uint64_t object);
/*
 * The last component of a mangled name, without what stands in angle brackets:
 * "MulBackward0"; -1: it has none that can be told.
 */
int pycxx_last(const char *mangled, char *out, size_t size);

#endif
