/*
 * histogram: counts the finite elements in each of bin_count equal bins from low to high. Values
 * outside (written after low and high were found) count in the nearest bin; if low equals high, all
 * values count in the first bin.
 */
#ifndef BACKENDS_TENSOR_HISTOGRAM_H
#define BACKENDS_TENSOR_HISTOGRAM_H

#include <stdint.h>

struct dtype;

struct histogram_bounds {
	double low;
	double high;
	int bin_count;
};

/* Adds elements of a real dtype, little-endian, to bins. */
void histogram_add(const struct histogram_bounds *bounds, const struct dtype *dtype,
		   const uint8_t *bytes, int64_t count, int64_t *bins);

#endif
