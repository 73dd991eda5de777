/*
 * single-elements: reads single elements of a tensor: those of a slice as numbers, and consecutive
 * ones as bytes.
 */
#ifndef BACKENDS_TENSOR_SINGLE_ELEMENTS_H
#define BACKENDS_TENSOR_SINGLE_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct error;
struct tensor_layout;

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
