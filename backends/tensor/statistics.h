/*
 * statistics: counts, bounds, mean and deviation of elements, which are added part by part. The
 * structs have only plain values and own no memory. Threads may add different parts, which are
 * merged later; if parts are always merged in the same order, the result is the same to the last
 * bit.
 *
 * The elements are summed in pieces of some thousand, and each sum is added to the total with its
 * rounding error (Neumaier). Squares are those of the distances to the mean of each piece, and are
 * merged by Chan's rule. So mean and deviation stay precise over any number of elements. A value
 * too large for a double becomes infinite, as in numpy.
 *
 * The mean of a piece is unknown before the piece is summed. So the distances are those to the
 * center of the piece before, and the sum of squares is corrected by the count times the squared
 * distance between mean and center. If too few digits would remain (the numbers of the piece are
 * far from those before), the piece is summed again.
 */
#ifndef BACKENDS_TENSOR_STATISTICS_H
#define BACKENDS_TENSOR_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/tensor/kernel.h"
#include "backends/tensor/scan-query.h"
#include "protocol/tensor.h"

struct dtype;
struct kernel;
struct tensor_statistics;

/* Elements that are summed at a time; they fit into the first-level cache. */
#define STATISTICS_PART KERNEL_PART

struct statistics {
	const struct kernel *kernel;
	int64_t count;
	int64_t nan_count;
	int64_t infinity_count;
	int64_t zero_count;
	int64_t finite_count; /* 0 for complex types */
	double sum;	      /* sum of the finite elements; complex: of the squared magnitudes */
	double lost;	      /* rounding error of sum */
	double origin;	      /* a number near the elements */
	double mean;	      /* mean of the finite elements, minus origin */
	double squares;	      /* sum of the squared distances to the mean */
	double center;	      /* center for the next piece */
	double low;
	double high;
	/* Minimum and maximum of 64-bit integers, which a double would round. */
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
/* Writes the statistics to *told, which must be empty. */
void statistics_tell(const struct statistics *statistics, const struct dtype *dtype,
		     struct tensor_statistics *told);

/*
 * histogram: counts the finite elements in each of bin_count equal bins from low to high. A value
 * outside (which the process has written after low and high were found) counts in the nearest bin;
 * if low equals high, all values count in the first bin.
 */

struct histogram_bounds {
	double low;
	double high;
	int bin_count;
};

/* Adds elements of a real dtype, little-endian, to bins. */
void histogram_add(const struct histogram_bounds *bounds, const struct dtype *dtype,
		   const uint8_t *bytes, int64_t count, int64_t *bins);

/*
 * extreme_search: finds the first element that is the minimum, the maximum, or not finite. The
 * struct owns no memory. Threads may search different parts, which are merged in order.
 */

struct extreme_search {
	const struct kernel *kernel; /* borrowed */
	enum scan_query_find what;
	int64_t after;		   /* elements up to this index are not reported */
	struct tensor_number best; /* minimum or maximum of all elements */
	int64_t index;		   /* flat index of the found element; -1: none */
};

void extreme_search_init(struct extreme_search *find, const struct kernel *kernel,
			 enum scan_query_find what, int64_t after);
/* Searches `count` elements, the first of which has the flat index `index`. */
void extreme_search_add(struct extreme_search *find, const struct dtype *dtype,
			const uint8_t *bytes, int64_t count, int64_t index);
void extreme_search_merge(struct extreme_search *find, const struct extreme_search *part);

#endif
