/*
 * extreme-search: the first element that is the least, the greatest, or no finite
 * number. Plain values, nothing is owned. Parts may be sought through by
 * different threads, and put together in their order.
 */
#ifndef BACKENDS_TENSOR_EXTREME_SEARCH_H
#define BACKENDS_TENSOR_EXTREME_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/tensor/scan-query.h"
#include "protocol/tensornumber.h"

struct dtype;
struct kernel;

struct find {
	const struct kernel *kernel; /* borrowed */
	enum wish_find what;
	int64_t after;		   /* an element up to there is not told */
	struct tensor_number best; /* of all, whether it is told or not */
	int64_t index;		   /* -1: none */
};

void find_init(struct find *find, const struct kernel *kernel, enum wish_find what, int64_t after);
/* Elements that begin with that flat index. */
void find_add(struct find *find, const struct dtype *dtype, const uint8_t *bytes, int64_t count,
	      int64_t index);
void find_merge(struct find *find, const struct find *part);

#endif
