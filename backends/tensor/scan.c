#include "backends/tensor/scan.h"

#include <stdlib.h>
#include <string.h>

#include "backends/tensor/scan-query.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/pack.h"
#include "protocol/dtype.h"

/*
 * Elements that are not contiguous are read in larger chunks, which contain more neighbours in
 * memory.
 */
#define CHUNK_APART ((int64_t)4 << 20)

void scan_part_clear(struct scan_part *part)
{
	free(part->hashes);
	*part = (struct scan_part){ .hashes = NULL };
}

static void end_block(struct scan_part *part)
{
	ARRAY_GROW(part->hashes, part->hash_count, part->hash_capacity);
	part->hashes[part->hash_count++] = (struct scan_hash){ .crc = 0 };
}

/* Adds the mask bytes of `count` elements to the hash. */
static void hash_mask(struct scan_hash *hash, const uint8_t *mask, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		hash->masked_count += mask[i];
	hash->mask = crc_add(hash->mask, mask, (size_t)count);
	hash->mask_length += count;
}

/* Hashes count units from `unit` on. mask: one byte for each element of these units, or NULL. */
static void hash(const struct scan *scan, struct scan_part *part, const uint8_t *bytes,
		 const uint8_t *mask, int64_t unit, int64_t count)
{
	while (count > 0) {
		int64_t left = scan->block_units - unit % scan->block_units;
		int64_t units = count < left ? count : left;
		int64_t length = units * scan->elements.unit_size;
		struct scan_hash *last;

		if (part->hash_count == 0 || (unit % scan->block_units == 0 && unit > part->start))
			end_block(part);
		last = &part->hashes[part->hash_count - 1];
		last->crc = crc_add(last->crc, bytes, (size_t)length);
		last->length += length;
		if (mask) {
			int64_t items = units / scan->elements.item_units;

			hash_mask(last, mask, items);
			mask += items;
		}
		bytes += length;
		unit += units;
		count -= units;
	}
}

/* Adds values to the statistics and the histogram, which do not depend on an element's index. */
static void scan_add_values(const struct scan *scan, struct scan_part *part, int64_t *bins,
			    const uint8_t *bytes, int64_t count)
{
	if (scan->has_statistics)
		statistics_add(&part->statistics, scan->dtype, bytes, count);
	if (bins)
		histogram_add(&scan->histogram, scan->dtype, bytes, count, bins);
}

static void scan_add(const struct scan *scan, struct scan_part *part, int64_t *bins,
		     const uint8_t *bytes, int64_t unit, int64_t units)
{
	int64_t index = unit / scan->elements.item_units;
	int64_t count = units / scan->elements.item_units;

	scan_add_values(scan, part, bins, bytes, count);
	if (scan->has_hash)
		hash(scan, part, bytes, NULL, unit, units);
	if (scan->find != SCAN_QUERY_FIND_NOTHING)
		extreme_search_add(&part->find, scan->dtype, bytes, count, index);
}

/* Changes each byte of the mask to 0, or 1 if masked; returns the number of masked elements. */
static int64_t settle_mask(uint8_t *mask, int64_t count)
{
	int64_t masked = 0;

	for (int64_t i = 0; i < count; i++) {
		mask[i] = mask[i] != 0;
		masked += mask[i];
	}
	return masked;
}

/*
 * Processes whole elements with one mask byte each. Masked elements are set to 0 for the hash; then
 * the unmasked elements are moved together for statistics and histogram.
 */
static void add_masked(const struct scan *scan, struct scan_part *part, int64_t *bins,
		       uint8_t *bytes, uint8_t *mask, int64_t unit, int64_t units)
{
	size_t size = (size_t)(scan->elements.item_units * scan->elements.unit_size);
	int64_t index = unit / scan->elements.item_units;
	int64_t count = units / scan->elements.item_units;
	int64_t kept = 0;

	part->masked_count += settle_mask(mask, count);
	for (int64_t i = 0; i < count; i++)
		if (mask[i])
			memset(bytes + (size_t)i * size, 0, size);
	if (scan->has_hash)
		hash(scan, part, bytes, mask, unit, units);
	for (int64_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && mask[end] == mask[i];)
			end++;
		if (mask[i])
			continue;
		if (scan->find != SCAN_QUERY_FIND_NOTHING)
			extreme_search_add(&part->find, scan->dtype, bytes + (size_t)i * size,
					   end - i, index + i);
		memmove(bytes + (size_t)kept * size, bytes + (size_t)i * size,
			(size_t)(end - i) * size);
		kept += end - i;
	}
	scan_add_values(scan, part, bins, bytes, kept);
}

/* Returns the number of units in one chunk; whole elements if they fit into a chunk. */
static int64_t chunk_units(const struct scan *scan)
{
	const struct elements *elements = &scan->elements;
	bool is_row = elements->dimension_count <= 1;
	int64_t bytes = is_row ? SCAN_CHUNK : CHUNK_APART;

	return elements_step(elements, bytes / elements->unit_size);
}

/* Reads and processes one chunk; false: an element is unreadable, or the scan was stopped. */
static bool run_chunk(const struct scan *scan, struct scan_part *part, int64_t *bins,
		      uint8_t *bytes, uint8_t *mask, int64_t start, int64_t units,
		      struct error *error)
{
	const struct elements *elements = &scan->elements;
	int64_t item = elements->item_units;

	if (atomic_load(scan->stop) || elements_read(elements, start, units, bytes, error) < units)
		return false;
	if (!scan->has_mask) {
		scan_add(scan, part, bins, bytes, start, units);
		return true;
	}
	if (elements_read(&scan->mask, start / item, units / item, mask, error) < units / item)
		return false;
	add_masked(scan, part, bins, bytes, mask, start, units);
	return true;
}

void scan_run(const struct scan *scan, struct scan_part *part, int64_t *bins, struct error *error)
{
	const struct elements *elements = &scan->elements;
	int64_t step = chunk_units(scan);
	uint8_t *mask = NULL;
	uint8_t *bytes;

	if (step > part->count)
		step = part->count;
	bytes = xmalloc((size_t)(step * elements->unit_size));
	if (scan->has_mask)
		mask = xmalloc((size_t)(step / elements->item_units));
	statistics_init(&part->statistics, scan->kernel);
	extreme_search_init(&part->find, scan->kernel, scan->find, scan->after);
	for (int64_t done = 0; done < part->count && !part->is_failed;) {
		int64_t start = part->start + done;
		int64_t left = part->count - done;
		/* Chunks begin where rows begin, so that few rows are cut. */
		int64_t units = step < part->count ? step - start % step : step;

		if (units > left)
			units = left;
		part->is_failed = !run_chunk(scan, part, bins, bytes, mask, start, units, error);
		if (part->is_failed)
			break;
		done += units;
		atomic_fetch_add(scan->done, units * elements->unit_size);
	}
	free(mask);
	free(bytes);
}

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
	/*
	 * An expanded tensor (stride 0) may be larger than any memory: limit the number of parts.
	 */
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
