#include "backends/tensor/scan-ranges.h"

#include <stdlib.h>

#include "banned.h"
#include "backends/tensor/scan-query.h"
#include "backends/tensor/scan.h"
#include "base/array.h"

static void scan_ranges_add_part(struct scan_ranges *ranges, int64_t start, int64_t count)
{
	ARRAY_GROW(ranges->parts, ranges->count, ranges->capacity);
	ranges->parts[ranges->count++] = (struct scan_part){
		.start = start,
		.count = count,
	};
}

void scan_ranges_add(struct scan_ranges *ranges, const struct elements *elements, int64_t start,
		     int64_t count)
{
	int64_t most = SCAN_RANGES_PART / elements->unit_size;
	int64_t step;

	if (elements->unit_count == 0)
		return;
	/* An expanded tensor (stride 0) may be larger than any memory. */
	if (most < elements->unit_count / SCAN_RANGES_MANY)
		most = elements->unit_count / SCAN_RANGES_MANY;
	step = elements_step(elements, most);
	start *= elements->item_units;
	count *= elements->item_units;
	while (count > 0) {
		int64_t part = step - start % step;

		if (part > count)
			part = count;
		scan_ranges_add_part(ranges, start, part);
		start += part;
		count -= part;
	}
}

void scan_ranges_add_sample(struct scan_ranges *ranges, const struct elements *elements)
{
	int64_t count = elements->unit_count / elements->item_units;
	int64_t room = count - SCAN_QUERY_SAMPLE_ELEMENTS;
	int64_t steps = SCAN_QUERY_SAMPLE_BLOCKS - 1;

	for (int64_t i = 0; i <= steps; i++) {
		/* Computes i * room / steps without a product that overflows. */
		int64_t start = room / steps * i + room % steps * i / steps;

		scan_ranges_add_part(ranges, start * elements->item_units,
				     SCAN_QUERY_SAMPLE_ELEMENTS * elements->item_units);
	}
}

void scan_ranges_clear(struct scan_ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		scan_part_clear(&ranges->parts[i]);
	free(ranges->parts);
	*ranges = (struct scan_ranges){ .parts = NULL };
}

int64_t scan_ranges_element_count(const struct scan_ranges *ranges, const struct elements *elements)
{
	int64_t units = 0;

	for (size_t i = 0; i < ranges->count; i++)
		units += ranges->parts[i].count;
	return ranges->count > 0 ? units / elements->item_units : 0;
}

size_t scan_ranges_take(const struct scan_ranges *ranges, const struct elements *elements,
			size_t first)
{
	int64_t bytes = 0;
	size_t half = (ranges->count - first + 1) / 2;
	size_t count = 0;

	while (count < half && bytes < SCAN_RANGES_PART) {
		bytes += ranges->parts[first + count].count * elements->unit_size;
		count++;
	}
	return count;
}
