/*
 * statistics: of elements as they come, part by part. Plain values, nothing is
 * owned. Parts may be counted by different threads and put together: in the
 * same order the result is the same to the last bit.
 *
 * Sums are of some thousand elements each, and these are summed with what
 * rounding lost (Neumaier); squares are taken of the distance to each part's
 * mean and put together by Chan's rule. So mean and deviation keep their
 * digits over any number of elements. What is too large for a double becomes
 * infinite, as in numpy.
 *
 * A part's mean is not known before it was gone through. So its distances are
 * taken to a center that was good for the part before, and the squares are
 * corrected: by the count times the distance of mean and center, squared.
 * Where that would leave too few digits (the numbers lie elsewhere than those
 * before), the part is gone through again.
 */
#ifndef BACKENDS_TENSOR_STATISTICS_H
#define BACKENDS_TENSOR_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/tensor/kernel.h"

struct dtype;
struct tensor_statistics;

/* Elements that are counted at a time: they stay in the first caches. */
#define STATISTICS_PART KERNEL_PART

struct statistics {
	const struct kernel *kernel;
	int64_t count;
	int64_t nan_count;
	int64_t infinity_count;
	int64_t zero_count;
	int64_t finite_count; /* not of complex ones */
	double sum;	      /* of complex ones: of squared magnitudes */
	double lost;	      /* what sum lacks */
	double origin;	      /* near them */
	double mean;	      /* of the finite ones so far, less origin */
	double squares;	      /* of the distance to their mean */
	double center;	      /* for the next part */
	double low;
	double high;
	/* Of 64-bit integers, which doubles would round. */
	int64_t signed_low;
	int64_t signed_high;
	uint64_t unsigned_low;
	uint64_t unsigned_high;
};

/* By that kernel (kernel.h), which is borrowed. */
void statistics_init(struct statistics *statistics, const struct kernel *kernel);
/* Elements of a type that has numbers, little-endian. */
void statistics_add(struct statistics *statistics, const struct dtype *dtype, const uint8_t *bytes,
		    int64_t count);
void statistics_merge(struct statistics *statistics, const struct statistics *part);
/* Into ones that are empty. */
void statistics_tell(const struct statistics *statistics, const struct dtype *dtype,
		     struct tensor_statistics *told);

#endif
