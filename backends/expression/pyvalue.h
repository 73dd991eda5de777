/*
 * pyvalue: what an expression comes to while it is compared from outside: an
 * object of the process, or something that was computed here (address 0).
 *
 * An object has the kind of its nearest builtin base. A class of the program
 * may have put something else in the place of what the base does; pyslot.h
 * tells, and that is refused.
 *
 * What a value refers to lives as long as its pyevaluation.
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
	PYVALUE_OBJECT, /* none of these */
	PYVALUE_NONE,
	PYVALUE_BOOLEAN, /* integer, too */
	PYVALUE_INTEGER,
	PYVALUE_FLOAT,
	PYVALUE_STRING,
	PYVALUE_BYTES,
	PYVALUE_TUPLE, /* items when computed, and so have list and set */
	PYVALUE_LIST,
	PYVALUE_SET, /* frozenset as well */
	PYVALUE_DICT,
	PYVALUE_RANGE,
	PYVALUE_DEQUE,
	PYVALUE_BUFFER,	 /* bytearray, array.array */
	PYVALUE_TENSOR,	 /* torch's */
	PYVALUE_ARRAY,	 /* numpy's */
	PYVALUE_SERIES,	 /* a column of pandas' DataFrame; computed */
	PYVALUE_ELEMENT, /* of one of them, or a scalar of numpy */
};

/* An element's type, as struct.pack names it: "f", and how it is called. */
struct pyelement {
	char format;
	const char *name; /* "float32"; static */
	bool is_torch;
};

struct pyvalue {
	enum pyvalue_kind kind;
	uint64_t address; /* 0: computed */
	uint64_t type;	  /* of the object */
	uint64_t base;	  /* the builtin type that gave it its kind */
	struct pybig integer;
	double number;		    /* of a float, or an element that is one */
	const uint32_t *characters; /* of a computed str or bytes */
	const struct pyvalue *items;
	size_t count; /* of characters or items */
	struct pyelement element;
	const struct pytensor *view; /* of a tensor that is made here; NULL */
	uint64_t whole;		     /* the object that it is a part of */
	bool is_unseen;		     /* of its gradient, which Python never saw */
	int64_t column;		     /* of a Series, in the whole */
};

/* One evaluation: what it reads, and what it has allocated. */
struct pyevaluation {
	struct pyreader *reader;
	const struct pyobject_frame *frame;
	struct error *error;
	int depth; /* of comparisons, or compiled modules, within others */
	void **owned;
	size_t owned_count;
	size_t owned_capacity;
	size_t owned_bytes;
};

void pyevaluation_clear(struct pyevaluation *evaluation);
/* Memory that is freed with the evaluation. */
void *pyevaluation_allocate(struct pyevaluation *evaluation, size_t size);
/* Before a copy whose size the expression decides: -1 and a sentence when all
 * that the evaluation has would be more than 64 MiB. */
int pyevaluation_check_room(struct pyevaluation *evaluation, size_t size);

/* The object at address as a value; -1 and a sentence. */
int pyvalue_load(struct pyevaluation *evaluation, uint64_t address, struct pyvalue *value);
void pyvalue_set_integer(struct pyevaluation *evaluation, struct pyvalue *value, int64_t integer);
void pyvalue_set_float(struct pyvalue *value, double number);
void pyvalue_set_boolean(struct pyevaluation *evaluation, struct pyvalue *value, bool truth);
/* int or bool: the integer counts. */
bool pyvalue_is_integer(const struct pyvalue *value);
/* "int", "train.Net": for a sentence; lives with the evaluation. */
const char *pyvalue_type_name(struct pyevaluation *evaluation, const struct pyvalue *value);
/* The same of the builtin type that gave it its kind. */
const char *pyvalue_base_name(struct pyevaluation *evaluation, const struct pyvalue *value);
/* What bool() would say: 1, 0, or -1 and a sentence. */
int pyvalue_truth(struct pyevaluation *evaluation, const struct pyvalue *value);
/* What len() would say; -1 and a sentence. */
int64_t pyvalue_length(struct pyevaluation *evaluation, const struct pyvalue *value);
/* The characters of any str, or the bytes; 0, or -1 and a sentence. */
int pyvalue_characters(struct pyevaluation *evaluation, const struct pyvalue *value,
		       const uint32_t **characters, size_t *count);
/* Item number (from 0 on) of a tuple, list, deque or range that has it. */
int pyvalue_item(struct pyevaluation *evaluation, const struct pyvalue *value, int64_t number,
		 struct pyvalue *item);
/* As a variable shows it: appends its text and the name of its type. */
void pyvalue_write(struct pyevaluation *evaluation, const struct pyvalue *value,
		   struct buffer *text);

#endif
