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

struct extreme_search {
	const struct kernel *kernel; /* borrowed */
	enum scan_query_find what;
	int64_t after;		   /* an element up to there is not told */
	struct tensor_number best; /* of all, whether it is told or not */
	int64_t index;		   /* -1: none */
};

void extreme_search_init(struct extreme_search *find, const struct kernel *kernel,
			 enum scan_query_find what, int64_t after);
/* Elements that begin with that flat index. */
void extreme_search_add(struct extreme_search *find, const struct dtype *dtype,
			const uint8_t *bytes, int64_t count, int64_t index);
void extreme_search_merge(struct extreme_search *find, const struct extreme_search *part);

#endif
