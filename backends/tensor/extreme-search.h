/*
 * extreme-search: finds the first element that is the minimum, the maximum, or not finite. Plain
 * values, nothing is owned. Threads may search different parts, which are merged in order.
 */
#ifndef BACKENDS_TENSOR_EXTREME_SEARCH_H
#define BACKENDS_TENSOR_EXTREME_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/tensor/scan-query.h"
#include "protocol/tensor.h"

struct dtype;
struct kernel;

struct extreme_search {
	const struct kernel *kernel; /* borrowed */
	enum scan_query_find what;
	int64_t after;		   /* index up to which elements are not reported */
	struct tensor_number best; /* minimum or maximum of all elements */
	int64_t index;		   /* flat index of the element found; -1: none */
};

void extreme_search_init(struct extreme_search *find, const struct kernel *kernel,
			 enum scan_query_find what, int64_t after);
/* Searches `count` elements, the first of which has that flat index. */
void extreme_search_add(struct extreme_search *find, const struct dtype *dtype,
			const uint8_t *bytes, int64_t count, int64_t index);
void extreme_search_merge(struct extreme_search *find, const struct extreme_search *part);

#endif
