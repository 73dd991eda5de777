#include "backends/tensor/fold.h"

#include "backends/tensor/scan-query.h"
#include "backends/tensor/scan-ranges.h"
#include "backends/tensor/scan.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "protocol/tensor.h"

void fold_statistics(const struct scan *scan, const struct scan_ranges *ranges,
		     int64_t element_count, struct tensor *told)
{
	struct statistics all;
	int64_t masked = 0;

	statistics_init(&all, scan->kernel);
	for (size_t i = 0; i < ranges->count; i++) {
		statistics_merge(&all, &ranges->parts[i].statistics);
		masked += ranges->parts[i].masked_count;
	}
	statistics_tell(&all, scan->dtype, &told->statistics);
	told->has_statistics = true;
	told->statistics.masked_count = masked;
	told->share = element_count > 0 ? (double)(all.count + masked) / (double)element_count : 1;
}

/* Appends the hash of the bytes that follow those of `all`. */
static void fold_append_hash(struct scan_hash *all, const struct scan_hash *hash)
{
	all->crc = crc_combine(all->crc, hash->crc, hash->length);
	all->length += hash->length;
	all->mask = crc_combine(all->mask, hash->mask, hash->mask_length);
	all->mask_length += hash->mask_length;
	all->masked_count += hash->masked_count;
}

/* If no element is masked, the hash is that of the values alone, as without a mask. */
static uint32_t end_hash(const struct scan_hash *all)
{
	return all->masked_count == 0 ? all->crc
				      : crc_combine(all->crc, all->mask, all->mask_length);
}

static void fold_blocks(const struct scan *scan, const struct scan_ranges *ranges,
			struct tensor *told)
{
	struct scan_hash all = { .crc = 0 };
	size_t block = 0;
	int64_t left = scan->block_units * scan->elements.unit_size;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct scan_part *part = &ranges->parts[i];

		for (size_t j = 0; j < part->hash_count; j++) {
			const struct scan_hash *hash = &part->hashes[j];

			if (left == 0) {
				all = (struct scan_hash){ .crc = 0 };
				block++;
				left = scan->block_units * scan->elements.unit_size;
			}
			fold_append_hash(&all, hash);
			told->blocks[block] = end_hash(&all);
			left -= hash->length;
		}
	}
}

void fold_hashes(const struct scan *scan, const struct scan_ranges *ranges, int64_t element_count,
		 int block_count, struct tensor *told)
{
	struct scan_hash all = { .crc = 0 };

	told->has_hash = true;
	for (size_t i = 0; i < ranges->count; i++) {
		const struct scan_part *part = &ranges->parts[i];

		for (size_t j = 0; j < part->hash_count; j++)
			fold_append_hash(&all, &part->hashes[j]);
	}
	told->hash = end_hash(&all);
	if (block_count == 0)
		return;
	told->block_elements = scan_query_block_elements(element_count, block_count);
	told->block_count =
		(size_t)((element_count + told->block_elements - 1) / told->block_elements);
	told->blocks = xcalloc(told->block_count + 1, sizeof(*told->blocks));
	fold_blocks(scan, ranges, told);
}

int64_t fold_find(const struct scan *scan, const struct scan_ranges *ranges)
{
	struct extreme_search all;

	extreme_search_init(&all, scan->kernel, scan->find, scan->after);
	for (size_t i = 0; i < ranges->count; i++)
		if (ranges->parts[i].is_done)
			extreme_search_merge(&all, &ranges->parts[i].find);
	return all.index;
}
