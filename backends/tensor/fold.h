/*
 * fold: merges the results of a scan's parts, in the order of the parts, into the answer for the
 * tensor.
 */
#ifndef BACKENDS_TENSOR_FOLD_H
#define BACKENDS_TENSOR_FOLD_H

#include <stdint.h>

struct scan_ranges;
struct scan;
struct tensor;

/* Sets told's statistics, and the share of element_count elements that were read. */
void fold_statistics(const struct scan *scan, const struct scan_ranges *ranges,
		     int64_t element_count, struct tensor *told);
/* Sets told's hash of all elements, and of each block if block_count is not 0. */
void fold_hashes(const struct scan *scan, const struct scan_ranges *ranges, int64_t element_count,
		 int block_count, struct tensor *told);
/* Returns the flat index of the element that was found, or -1. */
int64_t fold_find(const struct scan *scan, const struct scan_ranges *ranges);

#endif
