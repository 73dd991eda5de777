/*
 * elements: reads the values of a tensor from the process's memory into a contiguous array,
 * little-endian and in the order of their indices, whatever the tensor's strides and byte order
 * are.
 *
 * Elements consist of units, which are byte-swapped, read and hashed as a whole: a float is one
 * unit, a complex number two, a str one per character, a void one per byte. So elements of any size
 * can be processed.
 *
 * Contiguous elements are read at once. Other elements that are near each other in memory are
 * fetched together and then put into the order of their indices; the memory needed for that is
 * bounded.
 */
#ifndef BACKENDS_TENSOR_ELEMENTS_H
#define BACKENDS_TENSOR_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/cpython/tensor-layout.h"
#include "protocol/tensor.h"

struct error;
struct tensor_layout;

#define ELEMENTS_DIMENSIONS (TENSOR_DIMENSIONS + 1)

/* Has only plain values, so several threads may read through the same struct. */
struct elements {
	pid_t pid;
	uint64_t address;
	int unit_size; /* bytes: 1, 2, 4, 8 or 16 */
	bool is_swapped;
	uint8_t bits;	    /* mask of the valid bits of each byte; other bits are read as 0 */
	int64_t item_units; /* units of one element */
	int64_t unit_count; /* units of all elements */
	/* Dimensions of size 1 are left out; contiguous dimensions are merged into one. */
	int dimension_count;
	int64_t shape[ELEMENTS_DIMENSIONS];
	int64_t strides[ELEMENTS_DIMENSIONS]; /* bytes */
};

/* Initialises from a layout that tensor_layout_check() has accepted. */
void elements_init(struct elements *elements, const struct tensor_layout *layout);
/*
 * Changes the order of the elements to that in memory, in which they are read fastest. For results
 * that do not depend on the order.
 */
void elements_sort(struct elements *elements);
/* Returns an efficient number of units to read at a time, at most `maximum`; these are whole
 * elements if possible. */
int64_t elements_step(const struct elements *elements, int64_t maximum);
/*
 * Reads `count` units from `start` on. Returns the number of units read; if they are fewer than
 * `count`, error names the first unreadable element and the reason.
 */
int64_t elements_read(const struct elements *elements, int64_t start, int64_t count, void *out,
		      struct error *error);

/*
 * single_elements: reads single elements of a tensor: the elements of a slice as numbers, and
 * consecutive elements as bytes.
 */

/*
 * Fills in the numbers of a slice, which must lie within the layout and have no numbers yet;
 * unreadable elements stay unknown. Returns 0, or -1 and sets error if no element is readable.
 */
int single_elements_slice(const struct tensor_layout *layout, struct tensor_slice *slice,
			  struct error *error);
/*
 * Reads the elements from start on and before start + count. Returns their bytes, which the caller
 * frees, or NULL and sets error.
 */
uint8_t *single_elements_data(const struct tensor_layout *layout, int64_t start, int64_t count,
			      size_t *length, struct error *error);

#endif
