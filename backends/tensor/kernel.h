/*
 * kernel: sums over some thousand numbers, in loops that compilers vectorise. kernel.c is compiled
 * for speed, several times: for every processor of the architecture, and for processors with wider
 * vector instructions.
 *
 * Sums may be added in any order, so the last digits differ between kernels. If an element is NaN
 * or infinite, the sum is NaN or infinite and the other results are meaningless: the caller then
 * calls sum_finite, which is slower.
 */
#ifndef BACKENDS_TENSOR_KERNEL_H
#define BACKENDS_TENSOR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Element types for which there are loops. */
enum kernel_type {
	KERNEL_NONE,
	KERNEL_FLOAT64,
	KERNEL_FLOAT32,
	KERNEL_BFLOAT16,
	KERNEL_FLOAT16,
	KERNEL_INT64,
	KERNEL_INT32,
	KERNEL_INT16,
	KERNEL_INT8,
	KERNEL_UINT64,
	KERNEL_UINT32,
	KERNEL_UINT16,
	KERNEL_UINT8,
	KERNEL_BOOLEAN,
	KERNEL_TYPES,
};

struct kernel_sums {
	int64_t count;	   /* number of elements summed: all, or (sum_finite) the finite ones */
	int64_t nan_count; /* set by sum_finite only */
	double center;	   /* the argument `center`; for 8-bit integers an integer near the mean */
	double sum;	   /* sum of the signed distances to center */
	double squares;
	double low;
	double high;
	int64_t zero_count;
	/* Minimum and maximum of 64-bit integers; unused by other types. */
	int64_t signed_low;
	int64_t signed_high;
	uint64_t unsigned_low;
	uint64_t unsigned_high;
};

/* Elements in one call, at most; at least one. */
#define KERNEL_PART 4096

/* Computes *sums for `count` elements. bytes need not be aligned. */
typedef void kernel_sum(const uint8_t *bytes, size_t count, double center,
			struct kernel_sums *sums);

struct kernel {
	kernel_sum *sum[KERNEL_TYPES]; /* NULL for KERNEL_NONE */
	/* These skip NaN and infinities; NULL for integers. */
	kernel_sum *sum_finite[KERNEL_TYPES];
};

/* kernel_plain runs on every processor. The other kernels exist only if the compiler supports their
 * instructions. */
extern const struct kernel kernel_plain;
extern const struct kernel kernel_avx2;
extern const struct kernel kernel_avx512;
/* Returns the fastest kernel that this processor can run, according to /proc/cpuinfo. Slow: to be
 * called once for many elements. */
const struct kernel *kernel_best(void);
/* Returns the kernel at `index` in the list of usable kernels, from kernel_best() (0) to
 * kernel_plain; NULL: there are fewer. */
const struct kernel *kernel_at(size_t index);

#endif
