/*
 * pyobject: reads Python objects of another process, in every layout from 3.8 to 3.14: numbers of
 * any size, str of every kind, bytes, list, tuple, dict, set, cells, instances with __dict__ and
 * slots. No code of the process is called.
 *
 * Each read is bounded by reader->budget (bytes), by depth and by length. Objects of a running
 * thread may change during the read; the caller must report that.
 */
#ifndef BACKENDS_CPYTHON_PYOBJECT_H
#define BACKENDS_CPYTHON_PYOBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/cpython/pyclasses.h"
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
	size_t budget;	 /* bytes that this request may still read */
	bool has_failed; /* memory at an address of a program could not be read */
	/* the process is stopped, and the caller has begun memory's snapshot */
	bool is_still;
	struct pytype_cache types;
	struct pyclass_lookup_cache looks;
	struct pycxx_cache classes;
	struct pytensor_cache tensors;
};

/* A reader serves one request, and caches the types that it reads. */
void pyreader_init(struct pyreader *reader, struct memory *memory, const struct cpython *python);

/*
 * Appends a str object as UTF-8, at most `maximum` code points. A lone surrogate is appended as
 * \udcXX in ASCII. Returns -1 if no readable str is at the address.
 */
int pyobject_string(struct pyreader *reader, uint64_t address, size_t maximum, struct buffer *out);
/* Appends the name of the object's type: "train.Net" or "int". Returns -1 if it is unreadable. */
int pyobject_type_name(struct pyreader *reader, uint64_t address, struct buffer *out);
/* Appends the object as repr() does, bounded in length, with "?" for unreadable parts. */
void pyobject_repr(struct pyreader *reader, uint64_t address, struct buffer *out);
/* Fills type, value, address and child_count of variable. */
void pyobject_describe(struct pyreader *reader, uint64_t address, struct variable *variable);
/* Appends up to `count` children from index `start` on, and sets list->total to the number of all
 * children. Returns -1 and sets error on failure. */
int pyobject_children(struct pyreader *reader, uint64_t address, int64_t start, size_t count,
		      struct variable_list *list, struct error *error);
/* A frame and its thread state. */
struct pyobject_frame {
	uint64_t address;
	uint64_t thread;    /* thread state; 0: no thread runs the frame now */
	uint64_t coroutine; /* the waiting coroutine of the frame; 0: none */
	bool is_newest;	    /* the frame is the newest of its thread */
};
/*
 * Appends the locals, cells and free variables of the frame in the order of the code object (for a
 * module's frame: its globals), at most `count` from index `start` on, and sets list->total to the
 * number of all. An exception that the frame handles or raises comes first, as a local named
 * "<exception>" or "<raised>". Returns -1 and sets error on failure.
 */
int pyobject_locals(struct pyreader *reader, const struct pyobject_frame *frame, int64_t start,
		    size_t count, struct variable_list *list, struct error *error);

/* Finds the value of a str key in a dict object. Returns 0, or -1 if the key is not found or
 * unreadable. */
int pydict_find(struct pyreader *reader, uint64_t dict, const char *key, uint64_t *value);
/*
 * Calls each(key, value, data) for at most `count` entries from index `start` on, until each()
 * returns false. Returns the number of all entries; -1: unreadable.
 */
int64_t pydict_each(struct pyreader *reader, uint64_t dict, int64_t start, size_t count,
		    bool (*each)(uint64_t key, uint64_t value, void *data), void *data);
/* Finds an attribute in an instance's __dict__ or slots. Returns 0, or -1 if it is not found or
 * unreadable. */
int pyobject_attribute(struct pyreader *reader, uint64_t object, const char *name, uint64_t *value);
/* Finds sys.modules[module].__dict__[name]. Returns 0, or -1 if it is not found or unreadable. */
int pymodule_find(struct pyreader *reader, uint64_t interpreter, const char *module,
		  const char *name, uint64_t *value);
/* Gets the value of an int object. Returns 0, or -1 if it is not an int or is too large for
 * int64_t. */
int pyobject_integer(struct pyreader *reader, uint64_t address, int64_t *value);

#endif
