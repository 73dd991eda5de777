/*
 * single-elements: single elements of a tensor: those of a slice, as numbers, and some
 * in a row, as bytes.
 */
#ifndef BACKENDS_TENSOR_SINGLE_ELEMENTS_H
#define BACKENDS_TENSOR_SINGLE_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/tensorslice.h"

struct error;
struct tensor_layout;

/*
 * Fills in the numbers of a slice that lies within the layout (it has none
 * yet); those that cannot be read stay unknown. -1: none can be.
 */
int single_elements_slice(const struct tensor_layout *layout, struct tensor_slice *slice,
			  struct error *error);
/* Elements start to start + count; the caller frees them. */
uint8_t *single_elements_data(const struct tensor_layout *layout, int64_t start, int64_t count,
			      size_t *length, struct error *error);

#endif
