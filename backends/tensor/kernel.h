/*
 * kernel: what is done with each of some thousand doubles, in loops that
 * compilers turn into instructions on several at once. Compiled for speed, as
 * dtype-decode.
 */
#ifndef BACKENDS_TENSOR_KERNEL_H
#define BACKENDS_TENSOR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct kernel_sums {
	double sum;
	double low;
	double high;
	int64_t zero_count;
};

/* How many are NaN or infinite. */
int64_t kernel_odd(const double *values, size_t count);
/* Of finite ones; none: low is infinite, high minus infinite. */
void kernel_sum(const double *values, size_t count, struct kernel_sums *sums);
/* The sum of the squares of their distance to center. */
double kernel_squares(const double *values, size_t count, double center);
/* Widen low and high to hold these. */
void kernel_signed(const uint8_t *bytes, size_t count, int64_t *low,
		   int64_t *high);
void kernel_unsigned(const uint8_t *bytes, size_t count, uint64_t *low,
		     uint64_t *high);
/* Signed ones, of which the least (NaT) is passed over. */
void kernel_times(const uint8_t *bytes, size_t count, int64_t *low,
		  int64_t *high);

#endif
