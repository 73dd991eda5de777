/*
 * shuffle: copies units of 1, 2, 4, 8 or 16 bytes in another order. Compiled for speed, like
 * dtype-decode.
 */
#ifndef BACKENDS_TENSOR_SHUFFLE_H
#define BACKENDS_TENSOR_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies the units of a rectangle into a row, the last dimension fastest. No size is 0; strides are
 * in bytes, and `first` is the unit of index 0.
 */
void shuffle_gather(const uint8_t *first, int dimension_count, const int64_t *shape,
		    const int64_t *strides, int unit_size, uint8_t *out);
/* Reverses the bytes of each unit. */
void shuffle_swap(uint8_t *bytes, size_t count, int unit_size);

#endif
