/*
 * statistics: counts, bounds, mean and deviation of elements, added part by part. Plain values,
 * nothing is owned. Threads may add different parts, which are merged later: merged in the same
 * order, the result is the same to the last bit.
 *
 * The sum of some thousand elements is added to the total with its rounding error (Neumaier);
 * squares are taken of the distances to each part's mean and merged by Chan's rule. So mean and
 * deviation keep their digits over any number of elements. A value too large for a double becomes
 * infinite, as in numpy.
 *
 * A part's mean is unknown before the part was summed. So the distances are taken to the center of
 * the part before, and the squares are corrected: by the count times the squared distance of mean
 * and center. If too few digits would remain (the part's numbers are far from those before), the
 * part is summed again.
 */
#ifndef BACKENDS_TENSOR_STATISTICS_H
#define BACKENDS_TENSOR_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/tensor/kernel.h"

struct dtype;
struct tensor_statistics;

/* Elements that are summed at a time: they fit into the first-level caches. */
#define STATISTICS_PART KERNEL_PART

struct statistics {
	const struct kernel *kernel;
	int64_t count;
	int64_t nan_count;
	int64_t infinity_count;
	int64_t zero_count;
	int64_t finite_count; /* 0 for complex types */
	double sum;	      /* of finite elements; complex: of squared magnitudes */
	double lost;	      /* rounding error of sum */
	double origin;	      /* a number near the elements */
	double mean;	      /* mean of the finite elements, minus origin */
	double squares;	      /* sum of squared distances to the mean */
	double center;	      /* for the next part */
	double low;
	double high;
	/* Bounds of 64-bit integers, which doubles would round. */
	int64_t signed_low;
	int64_t signed_high;
	uint64_t unsigned_low;
	uint64_t unsigned_high;
};

/* kernel (kernel.h) is borrowed. */
void statistics_init(struct statistics *statistics, const struct kernel *kernel);
/* Adds elements of a numeric dtype, little-endian. */
void statistics_add(struct statistics *statistics, const struct dtype *dtype, const uint8_t *bytes,
		    int64_t count);
void statistics_merge(struct statistics *statistics, const struct statistics *part);
/* Writes the statistics into told, which is empty before. */
void statistics_tell(const struct statistics *statistics, const struct dtype *dtype,
		     struct tensor_statistics *told);

#endif
