/*
 * histogram: how often a finite element lies in each of as many equal parts
 * from low to high. What lies beyond (written since these were found) counts
 * with the nearest; if low is high, all count with the first.
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

/* Elements of a real type, little-endian. */
void histogram_add(const struct histogram_bounds *bounds, const struct dtype *dtype,
		   const uint8_t *bytes, int64_t count, int64_t *bins);

#endif
