/*
 * kernel: what is done with each of some thousand numbers, in loops that
 * compilers turn into instructions on several at once. kernel.c is compiled
 * for speed, several times: for any processor of the kind, and for those that
 * have wider instructions.
 *
 * Sums may be added in any order, so the last digits differ between kernels.
 * What is NaN or infinite makes sum so, and then the rest means nothing: who
 * finds that asks for the finite ones alone, which takes longer.
 */
#ifndef BACKENDS_TENSOR_KERNEL_H
#define BACKENDS_TENSOR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* What there are loops for. */
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
	int64_t count;	   /* of what the rest is of: of all, or of the finite */
	int64_t nan_count; /* where these are left out */
	double center;	   /* the one asked for, but of the smallest integers */
	double sum;	   /* of the distances to it */
	double squares;
	double low;
	double high;
	int64_t zero_count;
	/* Of 64-bit integers; of all else these bound nothing. */
	int64_t signed_low;
	int64_t signed_high;
	uint64_t unsigned_low;
	uint64_t unsigned_high;
};

/* Elements of one call, at most; at least one. */
#define KERNEL_PART 4096

/* bytes need no alignment. */
typedef void kernel_sum(const uint8_t *bytes, size_t count, double center,
			struct kernel_sums *sums);

struct kernel {
	kernel_sum *sum[KERNEL_TYPES]; /* none of KERNEL_NONE */
	/* Leaves out what is not finite. Of floats only. */
	kernel_sum *sum_finite[KERNEL_TYPES];
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
/* That and all slower ones, kernel_plain the last; NULL: there are fewer. */
const struct kernel *kernel_at(size_t index);

#endif
