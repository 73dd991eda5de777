/*
 * shuffle: units of 1, 2, 4, 8 or 16 bytes, put into another order. Compiled
 * for speed, as dtype-decode.
 */
#ifndef BACKENDS_TENSOR_SHUFFLE_H
#define BACKENDS_TENSOR_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Picks the units of a rectangle, the last dimension fastest, into a row. No
 * size is 0; strides are in bytes, from first on.
 */
void shuffle_gather(const uint8_t *first, int dimension_count, const int64_t *shape,
		    const int64_t *strides, int unit_size, uint8_t *out);
/* Turns the bytes of each unit around. */
void shuffle_swap(uint8_t *bytes, size_t count, int unit_size);

#endif
