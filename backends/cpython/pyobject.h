/*
 * pyobject: Python objects read from outside, in every layout from 3.8 to
 * 3.14: numbers of any size, str of every kind, bytes, list, tuple, dict,
 * set, cells, instances with __dict__ and slots. Nothing is called in the
 * target.
 *
 * Every reading is bounded by reader->budget (bytes), by depth and by length.
 * Objects of a running thread may be torn: the caller says so.
 */
#ifndef BACKENDS_CPYTHON_PYOBJECT_H
#define BACKENDS_CPYTHON_PYOBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cpython/pyclass-lookup.h"
#include "backends/cpython/pycxx.h"
#include "backends/cpython/pytensor-offsets.h"
#include "backends/cpython/pytype.h"

struct buffer;
struct cpython;
struct error;
struct memory;
struct variable;
struct variable_list;

struct pyreader {
	struct memory *memory;
	const struct cpython *python;
	size_t budget; /* bytes this request may still read */
	/* Who made it has begun the memory's snapshot, of what stands still. */
	bool is_still;
	struct pytype_cache types;
	struct pyclass_lookup_cache looks;
	struct pycxx_cache classes;
	struct pytensor_cache tensors;
};

/* A reader serves one request: it keeps the types it met. */
void pyreader_init(struct pyreader *reader, struct memory *memory, const struct cpython *python);

/*
 * Appends a str object as UTF-8, at most maximum code points. A lone
 * surrogate is appended as \udcXX in ASCII. -1: no readable str there.
 */
int pyobject_string(struct pyreader *reader, uint64_t address, size_t maximum, struct buffer *out);
/* Appends "train.Net" or "int" for the type of the object. */
int pyobject_type_name(struct pyreader *reader, uint64_t address, struct buffer *out);
/* Appends what repr() would print, bounded; never fails (writes "?"). */
void pyobject_repr(struct pyreader *reader, uint64_t address, struct buffer *out);
/* Fills type, value, address, child_count. */
void pyobject_describe(struct pyreader *reader, uint64_t address, struct variable *variable);
/* Appends up to count children from number start on; total is set. */
int pyobject_children(struct pyreader *reader, uint64_t address, int64_t start, size_t count,
		      struct variable_list *list, struct error *error);
/* A frame, and the thread state whose it is. */
struct pyobject_frame {
	uint64_t address;
	uint64_t thread;    /* its state; 0: none runs it now */
	uint64_t coroutine; /* that waits, whose frame it is; 0: none */
	bool is_newest;	    /* of its thread */
};
/*
 * The locals, cells and free variables of the frame, in the order of the code
 * object (a module's frame: its globals' page), from number start on, at most
 * count; total is set. An exception that it handles or raises comes first, as
 * a local named "<exception>" or "<raised>".
 */
int pyobject_locals(struct pyreader *reader, const struct pyobject_frame *frame, int64_t start,
		    size_t count, struct variable_list *list, struct error *error);

/* Value of a str key in a dict object; 0 found. */
int pydict_find(struct pyreader *reader, uint64_t dict, const char *key, uint64_t *value);
/*
 * Calls each(key, value, data) for at most count entries from number start;
 * stops when each gives false. Returns the number of entries, -1 unreadable.
 */
int64_t pydict_each(struct pyreader *reader, uint64_t dict, int64_t start, size_t count,
		    bool (*each)(uint64_t key, uint64_t value, void *data), void *data);
/* Attribute in an instance's __dict__ or slots; 0 found. */
int pyobject_attribute(struct pyreader *reader, uint64_t object, const char *name, uint64_t *value);
/* sys.modules[module].__dict__[name]; 0 found. */
int pymodule_find(struct pyreader *reader, uint64_t interpreter, const char *module,
		  const char *name, uint64_t *value);
/* The value of int objects that fit; 0 on success. */
int pyobject_integer(struct pyreader *reader, uint64_t address, int64_t *value);

#endif
