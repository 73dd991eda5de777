/*
 * shuffle: copies units of 1, 2, 4, 8 or 16 bytes into another order. Compiled for speed, like
 * dtype-decode.
 */
#ifndef BACKENDS_TENSOR_SHUFFLE_H
#define BACKENDS_TENSOR_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Copies the units of an array of several dimensions one after the other to out, in the order of
 * their indices (the last dimension varies fastest). No size may be 0; strides are in bytes;
 * `first` is the unit whose indices are all 0.
 */
void shuffle_gather(const uint8_t *first, int dimension_count, const int64_t *shape,
		    const int64_t *strides, int unit_size, uint8_t *out);
/* Reverses the bytes of each unit. */
void shuffle_swap(uint8_t *bytes, size_t count, int unit_size);

#endif
