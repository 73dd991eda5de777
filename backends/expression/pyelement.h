/*
 * pyelement: single elements of tensors and arrays that lie in memory, and
 * numpy's scalars, as numbers.
 *
 * Libraries compare in the type of the element: a float32 equals 0.1 where
 * Python's 0.1 is rounded to it first. So an element is compared only with
 * what both types can hold; otherwise .item() is asked for, which is Python's
 * own number.
 */
#ifndef BACKENDS_EXPRESSION_PYELEMENT_H
#define BACKENDS_EXPRESSION_PYELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct pyelement;
struct pyevaluation;
struct pyexpression_place;
struct pyreader;
struct pytensor;
struct pyvalue;

/* Of bfloat16, which struct.pack has no letter for. */
#define PYELEMENT_BFLOAT16 'E'

/* The element that "numpy.float32" is; false: no such scalar. */
bool pyelement_of_scalar(const char *type_name, struct pyelement *element);
/* The element named "float32"; false: none that is read as a number. */
bool pyelement_of_dtype(const char *name, struct pyelement *element);
/* Bytes of one. */
int pyelement_size(const struct pyelement *element);
/* Sets value's number from the element at address; -1 and a sentence. */
int pyelement_load(struct pyevaluation *evaluation, uint64_t address, struct pyvalue *value);
/* Sets it from bytes. */
void pyelement_set(struct pyevaluation *evaluation, const void *bytes, struct pyvalue *value);
/* Appends its number as its type prints it: "0.1", "True". */
void pyelement_write(const struct pyvalue *value, struct buffer *text);
/* The same of bytes in a place with that format. */
void pyelement_write_bytes(char format, const void *bytes, struct buffer *text);
/*
 * Where an item of a bytearray or array.array lies, and what it is; -1 and a
 * sentence.
 */
int pyelement_of_buffer(struct pyevaluation *evaluation, const struct pyvalue *buffer,
			int64_t number, struct pyelement *element, uint64_t *address);
/* The element's number as Python's own. */
void pyelement_make_plain(struct pyvalue *value);
/* Whether its class is the library's own, whose behaviour is known. */
bool pyelement_is_plain(struct pyreader *reader, const struct pyvalue *tensor);
/* What it is, of a plain one or a part of it; -1 and a sentence. */
int pyelement_open(struct pyevaluation *evaluation, const struct pyvalue *value,
		   struct pytensor *tensor);
/* Size of its first dimension; -1: it has none, or cannot be read. */
int64_t pyelement_length(struct pyreader *reader, const struct pyvalue *tensor);
/*
 * Where the element with all these indices lies (count 0: the only one); -1
 * and a sentence. place's format says what it is.
 */
int pyelement_place(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		    const struct pyvalue *indices, size_t count, struct pyelement *element,
		    uint64_t *address);
/* x[indices]; -1 and a sentence. */
int pyelement_index(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		    const struct pyvalue *indices, size_t count, struct pyvalue *value);
/* x.item(), of a tensor, array or element; -1 and a sentence. */
int pyelement_item(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		   struct pyvalue *value);
/*
 * shape, ndim, dtype, grad; 1: value is set, 0: not one of these, -1 and a
 * sentence.
 */
int pyelement_attribute(struct pyevaluation *evaluation, const struct pyvalue *tensor,
			const char *name, struct pyvalue *value);
/*
 * How the element compares to another number: < 0, 0, > 0 in *order; 2 in
 * *order: not at all (NaN). -1 and a sentence: the library rounds first.
 */
int pyelement_compare(struct pyevaluation *evaluation, const struct pyvalue *element,
		      const struct pyvalue *other, int *order);

#endif
