/*
 * scan: goes through a part of a tensor's elements, and does with each what
 * is wanted. Threads do one part each at a time; the parts are put together
 * in their order, so the result does not depend on who did what.
 */
#ifndef BACKENDS_TENSOR_SCAN_H
#define BACKENDS_TENSOR_SCAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/tensor/elements.h"
#include "backends/tensor/extreme-search.h"
#include "backends/tensor/histogram.h"
#include "backends/tensor/statistics.h"
#include "base/error.h"

struct dtype;
struct kernel;

/* What is done: it stays as it is while parts are done, but for the last. */
struct scan {
	struct elements elements;
	bool has_mask;
	struct elements mask; /* a byte for each of them; 0: it counts */
	const struct dtype *dtype;
	const struct kernel *kernel;
	bool has_statistics;
	bool has_hash;
	int64_t block_units;		   /* each so many are hashed alone; INT64_MAX: all */
	struct histogram_bounds histogram; /* no bins: not wanted */
	enum scan_query_find find;
	int64_t after;
	atomic_bool *stop;  /* others set it: what was begun is left */
	atomic_llong *done; /* bytes */
};

/* The hash of some bytes that lie in one block; masked ones are 0 in it. */
struct scan_hash {
	uint32_t crc;
	int64_t length;
	int64_t masked_count;
	uint32_t mask; /* of a byte for each element: 1 where it is masked */
	int64_t mask_length;
};

struct scan_part {
	int64_t start; /* units */
	int64_t count;
	bool is_failed;
	bool is_done;		      /* no thread works on it any more; not set here */
	struct statistics statistics; /* of what is not masked */
	int64_t masked_count;
	struct scan_hash *hashes; /* of blocks, in their order */
	size_t hash_count;
	size_t hash_capacity;
	struct extreme_search find;
};

/* Bytes that are fetched at a time: they stay in the second cache. */
#define SCAN_CHUNK ((int64_t)512 << 10)

/*
 * Fills in what is wanted of the part; bins (or NULL) are added to. When it
 * fails the part says so, and error why. Any thread may.
 */
void scan_run(const struct scan *scan, struct scan_part *part, int64_t *bins, struct error *error);
void scan_part_clear(struct scan_part *part);

#endif
