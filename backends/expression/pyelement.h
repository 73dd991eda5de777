/*
 * pyelement: single elements of tensors and arrays in CPU memory, and numpy's scalars, as numbers.
 *
 * Libraries compare in the element's type: a float32 element can equal 0.1 because 0.1 is first
 * rounded to float32. So an element is compared only with numbers that both types represent
 * exactly; for other numbers the error suggests .item(), which returns a number of Python.
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

/* pyelement.format of bfloat16, for which the struct module has no letter. */
#define PYELEMENT_BFLOAT16 'E'

/* Sets *element from a type name like "numpy.float32". Returns false if the type is not a scalar of
 * numpy. */
bool pyelement_of_scalar(const char *type_name, struct pyelement *element);
/*
 * Sets *element from a dtype like "float32". Returns false if elements of the dtype cannot be read
 * as numbers.
 */
bool pyelement_of_dtype(const char *name, struct pyelement *element);
/* Returns the size of an element in bytes; 0: unknown format. */
int pyelement_size(const struct pyelement *element);
/* Sets the number of *value from the element at address. Returns 0, or -1 with evaluation->error
 * set. */
int pyelement_load(struct pyevaluation *evaluation, uint64_t address, struct pyvalue *value);
/* Sets the number of *value from bytes in the format value->element.format. */
void pyelement_set(struct pyevaluation *evaluation, const void *bytes, struct pyvalue *value);
/* Appends the number as its library prints it: "0.1", "True". */
void pyelement_write(const struct pyvalue *value, struct buffer *text);
/* Appends the number that the bytes have in the given format (a letter of the struct module). */
void pyelement_write_bytes(char format, const void *bytes, struct buffer *text);
/*
 * Finds the address and type of item `number` of a bytearray or array.array. Returns 0, or -1 with
 * evaluation->error set.
 */
int pyelement_of_buffer(struct pyevaluation *evaluation, const struct pyvalue *buffer,
			int64_t number, struct pyelement *element, uint64_t *address);
/* Converts the element to Python's int, float or bool with the same number. */
void pyelement_make_plain(struct pyvalue *value);
/* Whether the tensor's class is torch's or numpy's own, not a subclass. */
bool pyelement_is_plain(struct pyreader *reader, const struct pyvalue *tensor);
/* Reads the description of a tensor, array or view. Returns 0, or -1 with evaluation->error set
 * (for a subclass, for instance). */
int pyelement_open(struct pyevaluation *evaluation, const struct pyvalue *value,
		   struct pytensor *tensor);
/* Returns the size of the first dimension; -1: no dimensions, or unreadable. */
int64_t pyelement_length(struct pyreader *reader, const struct pyvalue *tensor);
/*
 * Finds the address and type of the element at the indices; count 0: the tensor has only one
 * element. Returns 0, or -1 with evaluation->error set.
 */
int pyelement_place(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		    const struct pyvalue *indices, size_t count, struct pyelement *element,
		    uint64_t *address);
/* Evaluates x[indices]. Returns 0, or -1 with evaluation->error set. */
int pyelement_index(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		    const struct pyvalue *indices, size_t count, struct pyvalue *value);
/* Evaluates x.item() of a tensor, array or element. Returns 0, or -1 with evaluation->error set. */
int pyelement_item(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		   struct pyvalue *value);
/*
 * Evaluates shape, ndim, dtype, grad and the names of pyview_attribute(). Returns 1 if value is
 * set, 0 if it is another name, -1 with evaluation->error set.
 */
int pyelement_attribute(struct pyevaluation *evaluation, const struct pyvalue *tensor,
			const char *name, struct pyvalue *value);
/*
 * Compares the element with another number: sets *order to < 0, 0, > 0, or 2 (NaN). Returns 0, or
 * -1 with evaluation->error set if the library would round before it compares.
 */
int pyelement_compare(struct pyevaluation *evaluation, const struct pyvalue *element,
		      const struct pyvalue *other, int *order);

#endif
