#include "backends/tensor/scan.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/crc.h"
#include "protocol/dtype.h"

/* Of elements that do not lie in a row more are needed, to be near others. */
#define CHUNK_APART ((int64_t)4 << 20)

void scan_part_clear(struct scan_part *part)
{
	free(part->hashes);
	*part = (struct scan_part){ .hashes = NULL };
}

static void end_block(struct scan_part *part)
{
	ARRAY_GROW(part->hashes, part->hash_count, part->hash_capacity);
	part->hashes[part->hash_count++] = (struct scan_hash){ 0, 0 };
}

/* Units from that one on. */
static void hash(const struct scan *scan, struct scan_part *part,
		 const uint8_t *bytes, int64_t unit, int64_t count)
{
	while (count > 0) {
		int64_t left = scan->block_units - unit % scan->block_units;
		int64_t units = count < left ? count : left;
		int64_t length = units * scan->elements.unit_size;
		struct scan_hash *last;

		if (part->hash_count == 0 ||
		    (unit % scan->block_units == 0 && unit > part->start))
			end_block(part);
		last = &part->hashes[part->hash_count - 1];
		last->crc = crc_add(last->crc, bytes, (size_t)length);
		last->length += length;
		bytes += length;
		unit += units;
		count -= units;
	}
}

static void add(const struct scan *scan, struct scan_part *part, int64_t *bins,
		const uint8_t *bytes, int64_t unit, int64_t units)
{
	int64_t index = unit / scan->elements.item_units;
	int64_t count = units / scan->elements.item_units;

	if (scan->has_statistics)
		statistics_add(&part->statistics, scan->dtype, bytes, count);
	if (scan->has_hash)
		hash(scan, part, bytes, unit, units);
	if (bins)
		histogram_add(&scan->histogram, scan->dtype, bytes, count,
			      bins);
	if (scan->find != WISH_FIND_NOTHING)
		find_add(&part->find, scan->dtype, bytes, count, index);
}

/* Units of one chunk, whole elements where there is anything to count. */
static int64_t chunk_units(const struct scan *scan)
{
	const struct elements *elements = &scan->elements;
	bool is_row = elements->dimension_count <= 1;
	int64_t bytes = is_row ? SCAN_CHUNK : CHUNK_APART;

	return elements_step(elements, bytes / elements->unit_size);
}

void scan_run(const struct scan *scan, struct scan_part *part, int64_t *bins,
	      struct error *error)
{
	const struct elements *elements = &scan->elements;
	int64_t step = chunk_units(scan);
	uint8_t *bytes;

	if (step > part->count)
		step = part->count;
	bytes = xmalloc((size_t)(step * elements->unit_size));
	statistics_init(&part->statistics, scan->kernel);
	find_init(&part->find, scan->kernel, scan->find, scan->after);
	for (int64_t done = 0; done < part->count && !part->is_failed;) {
		int64_t start = part->start + done;
		int64_t left = part->count - done;
		/* Chunks begin where rows do, that few are cut. */
		int64_t units = step < part->count ? step - start % step : step;

		if (units > left)
			units = left;
		part->is_failed = atomic_load(scan->stop) ||
				  elements_read(elements, start, units, bytes,
						error) < units;
		if (part->is_failed)
			break;
		add(scan, part, bins, bytes, start, units);
		done += units;
		atomic_fetch_add(scan->done, units * elements->unit_size);
	}
	free(bytes);
}
