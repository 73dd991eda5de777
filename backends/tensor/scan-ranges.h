/* scan-ranges: the parts into which a scan is divided. The caller owns the array. */
#ifndef BACKENDS_TENSOR_SCAN_RANGES_H
#define BACKENDS_TENSOR_SCAN_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elements;
struct scan_part;

struct scan_ranges {
	struct scan_part *parts;
	size_t count;
	size_t capacity;
};

/* Bytes of a part: a thread processes them in some milliseconds. */
#define SCAN_RANGES_PART ((int64_t)16 << 20)

/* If there would be more parts than this number, the parts are larger. */
#define SCAN_RANGES_MANY 16384

/* Appends the parts of elements start to start + count. */
void scan_ranges_add(struct scan_ranges *ranges, const struct elements *elements, int64_t start,
		     int64_t count);
/* Appends the parts of a sample (scan-query.h). */
void scan_ranges_add_sample(struct scan_ranges *ranges, const struct elements *elements);
void scan_ranges_clear(struct scan_ranges *ranges);
/* Number of elements in all parts. */
int64_t scan_ranges_element_count(const struct scan_ranges *ranges,
				  const struct elements *elements);
/*
 * How many parts, from `first` on, a thread processes next: about SCAN_RANGES_PART bytes, and at
 * most half of the remaining parts.
 */
size_t scan_ranges_take(const struct scan_ranges *ranges, const struct elements *elements,
			size_t first);

#endif
