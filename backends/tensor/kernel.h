/*
 * kernel: what is done with each of some thousand numbers, in loops that
 * compilers turn into instructions on several at once. kernel.c is compiled
 * for speed, several times: for any processor of the kind, and for those that
 * have wider instructions.
 *
 * Sums may be added in any order. What is NaN or infinite makes sum so, and
 * then the rest means nothing.
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

/* count is not 0. */
struct kernel {
	void (*sum_float)(const float *values, size_t count,
			  struct kernel_sums *sums);
	void (*sum_double)(const double *values, size_t count,
			   struct kernel_sums *sums);
	/* The sum of the squares of their distance to center. */
	double (*squares_float)(const float *values, size_t count,
				double center);
	double (*squares_double)(const double *values, size_t count,
				 double center);
};

/* Runs anywhere. The others are there only if the compiler knew how. */
extern const struct kernel kernel_plain;
extern const struct kernel kernel_avx2;
extern const struct kernel kernel_avx512;
/*
 * The fastest one that this processor runs, as /proc/cpuinfo says: to be asked
 * once for many elements.
 */
const struct kernel *kernel_best(void);

#endif
