/*
 * fold: puts together what was found in the parts of a scan, in their order,
 * into what is told of the tensor.
 */
#ifndef BACKENDS_TENSOR_FOLD_H
#define BACKENDS_TENSOR_FOLD_H

#include <stdint.h>

struct scan_ranges;
struct scan;
struct tensor;

/* Statistics and their share of that many elements. */
void fold_statistics(const struct scan *scan, const struct scan_ranges *ranges,
		     int64_t element_count, struct tensor *told);
/* The hash of all, and of each block if there are any. */
void fold_hashes(const struct scan *scan, const struct scan_ranges *ranges, int64_t element_count,
		 int block_count, struct tensor *told);
/* A flat index, or -1. */
int64_t fold_find(const struct scan *scan, const struct scan_ranges *ranges);

#endif
