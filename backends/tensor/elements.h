/*
 * elements: the values of a tensor in the order of their indices, read from
 * the process's memory into one row, little-endian, whatever strides and byte
 * order they lie with.
 *
 * They are counted in units here: what is turned around together, and is read
 * and hashed as such: one for a float, two for a complex number, each
 * character of a str, each byte of a void. So no element is too large.
 *
 * Elements that lie in a row are read in one go. Of others all that lie near
 * each other are fetched at once, in the order in which they lie, and put into
 * the order of their indices here. What is fetched at a time is bounded.
 */
#ifndef BACKENDS_TENSOR_ELEMENTS_H
#define BACKENDS_TENSOR_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/cpython/tensor-layout.h"

struct error;

#define ELEMENTS_DIMENSIONS (TENSOR_DIMENSIONS + 1)

/* Plain values; threads may read by the same one at once. */
struct elements {
	pid_t pid;
	uint64_t address;
	int unit_size; /* 1, 2, 4, 8 or 16 */
	bool is_swapped;
	uint8_t bits;	    /* of each byte that count; the others are read as 0 */
	int64_t item_units; /* of one element */
	int64_t unit_count; /* of all */
	/* Without those of size 1; what lies in a row is one dimension. */
	int dimension_count;
	int64_t shape[ELEMENTS_DIMENSIONS];
	int64_t strides[ELEMENTS_DIMENSIONS]; /* bytes */
};

/* Of a layout that was checked. */
void elements_init(struct elements *elements, const struct tensor_layout *layout);
/*
 * The same values in the order in which they lie, which is the fastest one:
 * for what does not depend on the order.
 */
void elements_sort(struct elements *elements);
/* Units that are well read at a time, whole elements where they fit. */
int64_t elements_step(const struct elements *elements, int64_t maximum);
/*
 * Reads so many units from start on. Returns how many it could read: if fewer,
 * the sentence says which element cannot be, and why.
 */
int64_t elements_read(const struct elements *elements, int64_t start, int64_t count, void *out,
		      struct error *error);

#endif
