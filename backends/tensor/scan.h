/*
 * scan: processes parts of a tensor's elements. Each thread processes one part at a time; the
 * results are merged in the order of the parts, so they do not depend on which thread has processed
 * which part.
 */
#ifndef BACKENDS_TENSOR_SCAN_H
#define BACKENDS_TENSOR_SCAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/tensor/elements.h"
#include "backends/tensor/statistics.h"
#include "base/error.h"

struct dtype;
struct elements;
struct kernel;
struct scan_part;

/* What a scan computes. Constant while threads process parts, except *stop and *done. */
struct scan {
	struct elements elements;
	bool has_mask;
	struct elements mask; /* one byte per element; 0: the element is not masked */
	const struct dtype *dtype;
	const struct kernel *kernel;
	bool has_statistics;
	bool has_hash;
	int64_t block_units;		   /* number of units of a block with its own hash;
					    * INT64_MAX: no blocks */
	struct histogram_bounds histogram; /* bin_count 0: no histogram */
	enum scan_query_find find;
	int64_t after;
	atomic_bool *stop;  /* another thread sets it to make scan_run() stop early */
	atomic_llong *done; /* bytes read so far */
};

/* The hash of consecutive bytes within one block; masked elements are hashed as 0. */
struct scan_hash {
	uint32_t crc;
	int64_t length;
	int64_t masked_count;
	uint32_t mask; /* CRC of a byte per element, which is 1 if the element is masked */
	int64_t mask_length;
};

struct scan_part {
	int64_t start; /* first unit */
	int64_t count;
	bool is_failed;
	bool is_done;		      /* set by the caller: no thread works on the part any more */
	struct statistics statistics; /* statistics of the elements that are not masked */
	int64_t masked_count;
	struct scan_hash *hashes; /* one per block, in order */
	size_t hash_count;
	size_t hash_capacity;
	struct extreme_search find;
};

/* Bytes that are read at a time; this number fits into the second-level cache. */
#define SCAN_CHUNK ((int64_t)512 << 10)

/*
 * Processes the part. Adds its elements to the histogram in bins (NULL: no histogram). On failure
 * sets part->is_failed and error. May be called on any thread.
 */
void scan_run(const struct scan *scan, struct scan_part *part, int64_t *bins, struct error *error);
void scan_part_clear(struct scan_part *part);

/* scan_ranges: the parts into which a scan is divided. The caller owns the array. */

struct scan_ranges {
	struct scan_part *parts;
	size_t count;
	size_t capacity;
};

/* Bytes of a part; a thread processes them in some milliseconds. */
#define SCAN_RANGES_PART ((int64_t)16 << 20)

/* If there would be more than this number of parts, the parts are made larger. */
#define SCAN_RANGES_MANY 16384

/* Appends the parts of the elements from start on and before start + count. */
void scan_ranges_add(struct scan_ranges *ranges, const struct elements *elements, int64_t start,
		     int64_t count);
/* Appends the parts of a sample (scan-query.h). */
void scan_ranges_add_sample(struct scan_ranges *ranges, const struct elements *elements);
void scan_ranges_clear(struct scan_ranges *ranges);
/* Returns the number of elements in all parts. */
int64_t scan_ranges_element_count(const struct scan_ranges *ranges,
				  const struct elements *elements);
/*
 * Returns how many parts, from `first` on, a thread is to process next: about SCAN_RANGES_PART
 * bytes, and at most half of the remaining parts.
 */
size_t scan_ranges_take(const struct scan_ranges *ranges, const struct elements *elements,
			size_t first);

#endif
