/*
 * pytensor-offsets: where torch's C++ objects have their members, by version
 * (pytensor-torch.inc). What is not known by its version is searched for: the
 * classes of what is pointed to tell where things are.
 */
#ifndef BACKENDS_CPYTHON_PYTENSOR_OFFSETS_H
#define BACKENDS_CPYTHON_PYTENSOR_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

struct pyreader;

/* Distances in bytes. */
struct torch_layout {
	int first, last; /* versions: 2013 is 2.13; 0: found by searching */
	int impl;	 /* in the Python object: the TensorImpl */
	/* In the TensorImpl. */
	int storage, autograd;
	int back; /* to the Python object; the lowest bit says who owns whom */
	int sizes;
	int offset, count, dtype, device;
	int is_flag_first; /* of the device, which is an optional */
	int extra;
	int symbolic; /* in extra; -1: extra is for nothing else */
	int keys;
	uint64_t conjugate, negative, zero; /* bits of keys */
	/* In the StorageImpl. */
	int users, data, bytes;
	/* In the AutogradMeta. */
	int grad, grad_fn, requires_grad;
	int function; /* in a PyNode: the function's Python object */
};

/* What a reader found out of a process's torch. */
struct pytensor_cache {
	int version;			   /* 2013; -1: unknown; 0: not looked for */
	bool is_blind;			   /* for tests: as if no version were known */
	int searches;			   /* for a layout, so far */
	const struct torch_layout *layout; /* of the last tensor; NULL: none */
	struct torch_layout found;
	struct {
		uint64_t address; /* of a Python type; 0: free */
		unsigned traits;
		char name[128];
	} types[8];
	unsigned next; /* to be replaced */
};

#define TORCH_IMPL_BYTES 208

/* A tensor whose layout fits. */
struct torch_object {
	uint64_t object;
	uint64_t impl; /* 0: no bytes yet */
	uint8_t bytes[TORCH_IMPL_BYTES];
	const struct torch_layout *layout;
	bool is_sure; /* it is that of the version that runs */
};

/* 0: found, and what it points to are what they should be. */
int torch_object_open(struct pyreader *reader, uint64_t object, struct torch_object *tensor);

#endif
