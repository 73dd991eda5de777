/*
 * elements: reads the values of a tensor from the process's memory into a contiguous array,
 * little-endian and in the order of their indices, whatever the tensor's strides and byte order
 * are.
 *
 * Elements consist of units, which are byte-swapped, read and hashed as a whole: a float is one
 * unit, a complex number two, a str one per character, a void one per byte. So no element is too
 * large.
 *
 * Contiguous elements are read at once. Of other elements, all that are near each other in memory
 * are fetched together and then put into the order of their indices. The memory for this is
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

/* Plain values; several threads may read through the same struct. */
struct elements {
	pid_t pid;
	uint64_t address;
	int unit_size; /* bytes: 1, 2, 4, 8 or 16 */
	bool is_swapped;
	uint8_t bits;	    /* valid bits of each byte; other bits are read as 0 */
	int64_t item_units; /* units of one element */
	int64_t unit_count; /* units of all elements */
	/* Dimensions of size 1 are left out; contiguous dimensions are merged into one. */
	int dimension_count;
	int64_t shape[ELEMENTS_DIMENSIONS];
	int64_t strides[ELEMENTS_DIMENSIONS]; /* bytes */
};

/* Initialises from a layout that tensor_layout_check() accepted. */
void elements_init(struct elements *elements, const struct tensor_layout *layout);
/*
 * Changes the order to that of memory, which is the fastest: for results that do not depend on the
 * order.
 */
void elements_sort(struct elements *elements);
/* A good number of units to read at a time, at most `maximum`; whole elements if they fit. */
int64_t elements_step(const struct elements *elements, int64_t maximum);
/*
 * Reads `count` units from `start` on. Returns the number of units read; if fewer, *error names the
 * first unreadable element and the reason.
 */
int64_t elements_read(const struct elements *elements, int64_t start, int64_t count, void *out,
		      struct error *error);

/*
 * Reads single elements of a tensor: those of a slice as numbers, and consecutive
 * ones as bytes.
 */

/*
 * Fills in the numbers of a slice that lies within the layout and has no numbers yet; unreadable
 * elements stay unknown. Returns 0, or -1 with *error set: no element is readable.
 */
int single_elements_slice(const struct tensor_layout *layout, struct tensor_slice *slice,
			  struct error *error);
/*
 * Reads elements start to start + count. Returns their bytes, which the caller frees; NULL: *error
 * is set.
 */
uint8_t *single_elements_data(const struct tensor_layout *layout, int64_t start, int64_t count,
			      size_t *length, struct error *error);

#endif
