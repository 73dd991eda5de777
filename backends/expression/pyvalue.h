/*
 * pyvalue: the value of an expression or of a part of the expression: an object of the process, or
 * a computed value (address 0).
 *
 * An object has the kind of its nearest builtin base class. If a class of the program overrides an
 * operation of that base class, the operation is refused.
 *
 * Memory to which a value points is valid as long as its pyevaluation. "An error" in this header
 * means that evaluation->error is set.
 */
#ifndef BACKENDS_EXPRESSION_PYVALUE_H
#define BACKENDS_EXPRESSION_PYVALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/expression/pybig.h"

struct buffer;
struct error;
struct pyobject_frame;
struct pyreader;
struct pytensor;

enum pyvalue_kind {
	PYVALUE_OBJECT, /* any other object */
	PYVALUE_NONE,
	PYVALUE_BOOLEAN, /* the value is in `integer`, as for INTEGER */
	PYVALUE_INTEGER,
	PYVALUE_FLOAT,
	PYVALUE_STRING,
	PYVALUE_BYTES,
	PYVALUE_TUPLE, /* if computed: in `items`, like LIST and SET */
	PYVALUE_LIST,
	PYVALUE_SET, /* set or frozenset */
	PYVALUE_DICT,
	PYVALUE_RANGE,
	PYVALUE_DEQUE,
	PYVALUE_BUFFER,	 /* bytearray, array.array */
	PYVALUE_TENSOR,	 /* torch.Tensor */
	PYVALUE_ARRAY,	 /* numpy.ndarray */
	PYVALUE_SERIES,	 /* a column of pandas' DataFrame; always computed */
	PYVALUE_ELEMENT, /* element of a tensor, array or buffer, or a scalar of numpy */
};

/* An element's type: the struct module's letter, such as 'f', and the dtype's name. */
struct pyelement {
	char format;
	const char *name; /* "float32"; static */
	bool is_torch;
};

struct pyvalue {
	enum pyvalue_kind kind;
	uint64_t address; /* address of the object; 0: a computed value */
	uint64_t type;	  /* address of the object's type */
	uint64_t base;	  /* address of the builtin type that decides kind */
	struct pybig integer;
	double number;		    /* value of a float, or of an element with a float type */
	const uint32_t *characters; /* code points or bytes of a computed str or bytes */
	const struct pyvalue *items;
	size_t count; /* number of characters or items */
	struct pyelement element;
	const struct pytensor *view; /* description of a computed part of `whole`; NULL: none */
	uint64_t whole;		     /* address of the object that contains the view */
	bool is_unseen;		     /* the view is of whole's gradient, which has no Python
				      * object */
	int64_t column;		     /* index of a Series in `whole`, a DataFrame */
};

/* One evaluation: the process and frame that are read, and the memory allocated for values. */
struct pyevaluation {
	struct pyreader *reader;
	const struct pyobject_frame *frame;
	struct error *error;
	int depth; /* nesting depth of comparisons, or of compiled modules */
	void **owned;
	size_t owned_count;
	size_t owned_capacity;
	size_t owned_bytes;
};

void pyevaluation_clear(struct pyevaluation *evaluation);
/* Allocates zeroed memory that pyevaluation_clear() frees. */
void *pyevaluation_allocate(struct pyevaluation *evaluation, size_t size);
/*
 * To be called before a copy whose size depends on the expression. Returns -1 with an error if the
 * evaluation would then have allocated more than 64 MiB.
 */
int pyevaluation_check_room(struct pyevaluation *evaluation, size_t size);

/* Loads the object at address as a value. Returns 0, or -1 with an error. */
int pyvalue_load(struct pyevaluation *evaluation, uint64_t address, struct pyvalue *value);
void pyvalue_set_integer(struct pyevaluation *evaluation, struct pyvalue *value, int64_t integer);
void pyvalue_set_float(struct pyvalue *value, double number);
void pyvalue_set_boolean(struct pyevaluation *evaluation, struct pyvalue *value, bool truth);
/* Whether the value is an int or bool. */
bool pyvalue_is_integer(const struct pyvalue *value);
/* Returns the name of the value's type for an error message, "int" or "train.Net"; valid as long as
 * the evaluation. */
const char *pyvalue_type_name(struct pyevaluation *evaluation, const struct pyvalue *value);
/* Like pyvalue_type_name(), for the builtin type that determines the value's kind. */
const char *pyvalue_base_name(struct pyevaluation *evaluation, const struct pyvalue *value);
/* Returns the result of bool(), 1 or 0, or -1 with an error. */
int pyvalue_truth(struct pyevaluation *evaluation, const struct pyvalue *value);
/* Returns the result of len(), or -1 with an error. */
int64_t pyvalue_length(struct pyevaluation *evaluation, const struct pyvalue *value);
/* Gets the characters of a str or the bytes of a bytes, be it an object or computed. Returns 0, or
 * -1 with an error. */
int pyvalue_characters(struct pyevaluation *evaluation, const struct pyvalue *value,
		       const uint32_t **characters, size_t *count);
/*
 * Loads the item at index `number`, which must exist, of a tuple, list, deque or range. Returns 0,
 * or -1 with an error.
 */
int pyvalue_item(struct pyevaluation *evaluation, const struct pyvalue *value, int64_t number,
		 struct pyvalue *item);
/* Appends the value as repr() prints it. */
void pyvalue_write(struct pyevaluation *evaluation, const struct pyvalue *value,
		   struct buffer *text);

/*
 * pyslot: reads the C functions in the slots of a type (PyTypeObject, Include/cpython/object.h). A
 * class that defines __eq__ has another function in that slot than its base class.
 */

enum pyslot {
	PYSLOT_COMPARE,	    /* __eq__, __lt__ … */
	PYSLOT_HASH,	    /* __hash__ */
	PYSLOT_TRUTH,	    /* __bool__ */
	PYSLOT_LENGTH,	    /* __len__ */
	PYSLOT_MAP_LENGTH,  /* __len__ of mappings */
	PYSLOT_CONTAINS,    /* __contains__ */
	PYSLOT_CONCATENATE, /* + of sequences */
	PYSLOT_ITEM,	    /* __getitem__ with an integer */
	PYSLOT_SUBSCRIPT,   /* __getitem__ with any key */
	PYSLOT_ATTRIBUTE,   /* __getattribute__ or __getattr__ */
	PYSLOT_GET,	    /* __get__ */
	PYSLOT_SET,	    /* __set__ */
	PYSLOT_ADD,	    /* from this slot on: operations on numbers */
	PYSLOT_SUBTRACT,
	PYSLOT_MULTIPLY,
	PYSLOT_REMAINDER,
	PYSLOT_POWER,
	PYSLOT_NEGATIVE,
	PYSLOT_POSITIVE,
	PYSLOT_INVERT,
	PYSLOT_LEFT,
	PYSLOT_RIGHT,
	PYSLOT_AND,
	PYSLOT_XOR,
	PYSLOT_OR,
	PYSLOT_FLOOR_DIVIDE,
	PYSLOT_DIVIDE,
};

/* Reads the address of the slot's function; *function 0: the slot is empty. Returns 0, or -1 if it
 * is unreadable. */
int pyslot_read(struct pyreader *reader, uint64_t type, enum pyslot slot, uint64_t *function);
/* Whether both types have the same function in the slot, or both have none. */
bool pyslot_is_same(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot);
/*
 * Whether the type's slot behaves like that of the base. A class may have another function in the
 * slot than its base class without overriding a method; so each class between type and base is
 * searched for the slot's methods.
 */
bool pyslot_is_kept(struct pyreader *reader, uint64_t type, uint64_t base, enum pyslot slot);
/* Returns the type's last base class, which is `object`; 0: unreadable. */
uint64_t pyslot_root(struct pyreader *reader, uint64_t type);

#endif
