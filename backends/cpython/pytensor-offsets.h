/*
 * pytensor-offsets: byte offsets of the members of torch's C++ objects, by torch version
 * (pytensor-torch.inc). For an unknown version the offsets are searched for: a member is recognised
 * by the C++ class of the object to which the member points.
 */
#ifndef BACKENDS_CPYTHON_PYTENSOR_OFFSETS_H
#define BACKENDS_CPYTHON_PYTENSOR_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pyreader;

/* Offsets in bytes. */
struct torch_layout {
	int first, last; /* first and last version with this layout: 2013 is 2.13; 0: found by
			  * searching */
	int impl;	 /* in the Python object: the pointer to the TensorImpl */
	/* In the TensorImpl. */
	int storage, autograd;
	/* the pointer to the Python object; its lowest bit tells which of the two objects owns the
	 * other */
	int back;
	int sizes;
	int offset, count, dtype, device;
	int is_flag_first; /* 1: the device is a std::optional whose flag precedes the value */
	int extra;
	int symbolic; /* in the struct at extra; -1: that struct is only used for symbolic sizes */
	int keys;
	uint64_t conjugate, negative, zero; /* bits in the word at keys */
	/* In the StorageImpl: reference count, data pointer, size. */
	int users, data, bytes;
	/* In the AutogradMeta. */
	int grad, grad_fn, requires_grad;
	int function; /* in a PyNode: the pointer to the function's Python object */
};

/* Facts that a reader has found about the process's torch. */
struct pytensor_cache {
	int version;			   /* 2013 is 2.13; -1: unknown; 0: not read yet */
	bool is_blind;			   /* for tests: treats every version as unknown */
	int searches;			   /* number of searches for a layout so far */
	const struct torch_layout *layout; /* layout of the last tensor; NULL: none yet */
	struct torch_layout found;
	struct {
		uint64_t address; /* address of a Python type; 0: free item */
		unsigned traits;
		char name[128];
	} types[8];
	unsigned next; /* index of the item to replace next */
};

/* Returns the number of a version: 2013 for "2.13.0+cpu"; -1: not a version. */
int torch_version_parse(const char *text);

#define TORCH_IMPL_BYTES 208

/* A tensor and the layout that fits it. */
struct torch_object {
	uint64_t object;
	uint64_t impl; /* address of the TensorImpl; 0: bytes were not read */
	uint8_t bytes[TORCH_IMPL_BYTES];
	const struct torch_layout *layout;
	bool is_sure; /* layout is the known layout of the process's torch version */
};

/*
 * Finds a layout that fits the tensor, so that its pointers lead to objects of the right classes.
 * Returns 0, or -1 if no layout fits.
 */
int torch_object_open(struct pyreader *reader, uint64_t object, struct torch_object *tensor);

/*
 * pycxx: the class of a C++ object, found by the object's virtual table: the word before the table
 * points to the class's type_info, which points to the mangled name ("N3c1011StorageImplE"). Memory
 * that is freed or used otherwise hardly ever leads to such a name.
 */

#define PYCXX_NAME 120
#define PYCXX_CACHE 16

/* The classes that a reader has found last; table 0: a free item. */
struct pycxx_cache {
	struct {
		uint64_t table;
		char name[PYCXX_NAME];
	} items[PYCXX_CACHE];
	size_t next; /* index of the item to replace next */
};

/* Returns the mangled name of the object's class, valid until the next call; NULL: not a C++
 * object. */
const char *pycxx_class(struct pyreader *reader, uint64_t object);
/*
 * Writes the last component of a mangled name without template arguments: "MulBackward0". Returns
 * -1 if the name has no component or out is too small.
 */
int pycxx_last(const char *mangled, char *out, size_t size);

#endif
