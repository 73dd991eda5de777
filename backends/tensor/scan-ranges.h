/*
 * scan-ranges: the parts that a scan is done in. An array of them, owned by who
 * asked for it.
 */
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

/* Bytes of a part: a thread is busy with it for some milliseconds. */
#define SCAN_RANGES_PART ((int64_t)16 << 20)

/* Of more bytes than that many parts have the parts are larger. */
#define SCAN_RANGES_MANY 16384

/* Appends parts of the elements start to start + count. */
void scan_ranges_add(struct scan_ranges *ranges, const struct elements *elements, int64_t start,
		     int64_t count);
/* Those of a sample (scan-query.h). */
void scan_ranges_add_sample(struct scan_ranges *ranges, const struct elements *elements);
void scan_ranges_clear(struct scan_ranges *ranges);
/* Elements that they hold. */
int64_t scan_ranges_element_count(const struct scan_ranges *ranges,
				  const struct elements *elements);
/*
 * How many parts from that one on a thread does in a row: not many bytes, and
 * no more than its share of what is left.
 */
size_t scan_ranges_take(const struct scan_ranges *ranges, const struct elements *elements,
			size_t first);

#endif
