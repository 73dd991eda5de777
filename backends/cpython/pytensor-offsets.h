/*
 * pytensor-offsets: byte offsets of the members of torch's C++ objects, by torch version
 * (pytensor-torch.inc). For an unknown version they are searched for: a member is recognised by the
 * C++ class of the object that it points to.
 */
#ifndef BACKENDS_CPYTHON_PYTENSOR_OFFSETS_H
#define BACKENDS_CPYTHON_PYTENSOR_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pyreader;

/* Offsets in bytes. */
struct torch_layout {
	int first, last; /* first and last version: 2013 is 2.13; 0: found by searching */
	int impl;	 /* in the Python object: pointer to the TensorImpl */
	/* In the TensorImpl. */
	int storage, autograd;
	/* pointer to the Python object; the lowest bit says which of the two owns the other */
	int back;
	int sizes;
	int offset, count, dtype, device;
	int is_flag_first; /* the device is a std::optional; 1: its flag precedes it */
	int extra;
	int symbolic; /* in extra; -1: extra is only used for symbolic sizes */
	int keys;
	uint64_t conjugate, negative, zero; /* bits of keys */
	/* In the StorageImpl: reference count, data pointer, size. */
	int users, data, bytes;
	/* In the AutogradMeta. */
	int grad, grad_fn, requires_grad;
	int function; /* in a PyNode: pointer to the function's Python object */
};

/* Facts about the process's torch, found by a reader. */
struct pytensor_cache {
	int version;			   /* 2013 is 2.13; -1: unknown; 0: not read yet */
	bool is_blind;			   /* for tests: treats every version as unknown */
	int searches;			   /* number of searches for a layout so far */
	const struct torch_layout *layout; /* of the last tensor; NULL: none yet */
	struct torch_layout found;
	struct {
		uint64_t address; /* of a Python type; 0: free */
		unsigned traits;
		char name[128];
	} types[8];
	unsigned next; /* index of the item to replace next */
};

#define TORCH_IMPL_BYTES 208

/* A tensor and the layout that fits it. */
struct torch_object {
	uint64_t object;
	uint64_t impl; /* 0: bytes are not read */
	uint8_t bytes[TORCH_IMPL_BYTES];
	const struct torch_layout *layout;
	bool is_sure; /* true: layout is the known layout of the running torch version */
};

/*
 * Finds a layout that fits the tensor; 0: found, and the pointers lead to the right classes; -1:
 * none.
 */
int torch_object_open(struct pyreader *reader, uint64_t object, struct torch_object *tensor);

/*
 * The class of a C++ object, found by its virtual table: the word before the table points to
 * the class's type_info, which points to the mangled name ("N3c1011StorageImplE"). Freed or other
 * memory hardly ever leads to such a name.
 */

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
