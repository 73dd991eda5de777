#include "backends/tensor/scan-phases.h"

#include <math.h>

#include "backends/tensor/elements.h"
#include "backends/tensor/kernel.h"
#include "backends/tensor/scan-query.h"
#include "backends/tensor/scan.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/pack.h"
#include "protocol/dtype.h"
#include "protocol/tensor.h"

/* Minimum bytes of elements for which the search of the best kernel is worth its time. */
#define KERNEL_MINIMUM ((int64_t)1 << 20)

static bool has_statistics(const struct scan_phases *phases)
{
	return phases->query.statistics != SCAN_QUERY_NO_STATISTICS &&
	       dtype_is_number(phases->layout.dtype);
}

int scan_phases_init(struct scan_phases *phases, const struct tensor_layout *layout,
		     const struct tensor_query *query, struct error *error)
{
	*phases = (struct scan_phases){
		.layout = *layout,
		.query = *query,
		.result.found = -1,
		.phase = PHASE_PLACES,
		.kernel = &kernel_plain,
	};
	tensor_init(&phases->result.told);
	if (tensor_layout_check(layout, error) < 0)
		return -1;
	/*
	 * All values of `after` behind the last element mean the same; a clipped `after` cannot
	 * overflow.
	 */
	if (query->after > tensor_layout_element_count(layout))
		phases->query.after = tensor_layout_element_count(layout);
	/*
	 * Reading /proc/cpuinfo takes as long as some thousand elements, so small tensors do
	 * without.
	 */
	if (has_statistics(phases) && scan_phases_total(phases) > KERNEL_MINIMUM)
		phases->kernel = kernel_best();
	return tensor_query_check(query, layout, error);
}

void scan_phases_clear(struct scan_phases *phases)
{
	tensor_result_clear(&phases->result);
	scan_ranges_clear(&phases->ranges);
}

static bool scan_phases_has_hash(const struct scan_phases *phases)
{
	return (phases->query.has_hash || phases->query.block_count > 0) &&
	       phases->layout.dtype->class != DTYPE_OBJECT &&
	       tensor_query_is_whole(&phases->query, &phases->layout);
}

static bool has_histogram(const struct scan_phases *phases)
{
	return phases->query.bins > 0 && has_statistics(phases) &&
	       phases->layout.dtype->class != DTYPE_COMPLEX;
}

/* Each function prepares its phase; false: the query does not need that phase. */

static bool prepare_places(struct scan_phases *phases)
{
	return phases->query.has_slice || phases->query.has_data;
}

static void prepare_elements(struct scan_phases *phases)
{
	struct tensor_layout mask;

	elements_init(&phases->scan.elements, &phases->layout);
	phases->scan.has_mask = phases->layout.has_mask;
	if (!phases->scan.has_mask)
		return;
	mask = tensor_layout_mask(&phases->layout);
	elements_init(&phases->scan.mask, &mask);
}

/*
 * Adds parts for all elements, or for a sample; may_sort: the result does not depend on the
 * order.
 */
static void prepare_ranges(struct scan_phases *phases, bool may_sort)
{
	const struct tensor_layout *layout = &phases->layout;
	struct elements *elements = &phases->scan.elements;

	prepare_elements(phases);
	if (!tensor_query_is_whole(&phases->query, layout)) {
		scan_ranges_add_sample(&phases->ranges, elements);
		return;
	}
	/*
	 * Units of one element must stay together, and the mask has strides of its own: do not
	 * sort.
	 */
	phases->is_sorted =
		may_sort && !phases->is_ordered && elements->item_units == 1 && !layout->has_mask;
	if (phases->is_sorted)
		elements_sort(elements);
	scan_ranges_add(&phases->ranges, elements, 0, tensor_layout_element_count(layout));
}

static bool prepare_scan(struct scan_phases *phases)
{
	int64_t count = tensor_layout_element_count(&phases->layout);

	phases->scan.has_statistics = has_statistics(phases);
	phases->scan.has_hash = scan_phases_has_hash(phases);
	if (!phases->scan.has_statistics && !phases->scan.has_hash)
		return false;
	prepare_ranges(phases, !phases->scan.has_hash);
	if (phases->query.block_count > 0)
		phases->scan.block_units =
			scan_query_block_elements(count, phases->query.block_count) *
			phases->scan.elements.item_units;
	return true;
}

static double real_of(const struct tensor_number *number)
{
	if (number->kind == TENSOR_NUMBER_REAL)
		return number->real;
	return number->kind == TENSOR_NUMBER_UNSIGNED ? (double)(uint64_t)number->integer
						      : (double)number->integer;
}

static bool prepare_histogram(struct scan_phases *phases)
{
	const struct tensor_statistics *statistics = &phases->result.told.statistics;
	struct tensor_histogram *histogram = &phases->result.told.histogram;

	if (!has_histogram(phases) || statistics->minimum.kind == TENSOR_NUMBER_UNKNOWN)
		return false;
	histogram->low = real_of(&statistics->minimum);
	histogram->high = real_of(&statistics->maximum);
	histogram->count = (size_t)phases->query.bins;
	phases->scan.histogram = (struct histogram_bounds){
		.low = histogram->low,
		.high = histogram->high,
		.bin_count = phases->query.bins,
	};
	prepare_ranges(phases, true);
	return true;
}

/*
 * Adds the parts in the order in which the next NaN is searched: from the element behind `after` to
 * the end, then from the start.
 */
static void prepare_round(struct scan_phases *phases)
{
	int64_t count = tensor_layout_element_count(&phases->layout);
	int64_t start = phases->query.after + 1;

	if (start >= count)
		start = 0;
	scan_ranges_add(&phases->ranges, &phases->scan.elements, start, count - start);
	scan_ranges_add(&phases->ranges, &phases->scan.elements, 0, start);
}

static bool prepare_find(struct scan_phases *phases)
{
	if (phases->query.find == SCAN_QUERY_FIND_NOTHING)
		return false;
	phases->scan.find = phases->query.find;
	phases->scan.after = phases->query.after;
	prepare_elements(phases);
	if (phases->query.find != SCAN_QUERY_FIND_NAN) {
		scan_ranges_add(&phases->ranges, &phases->scan.elements, 0,
				tensor_layout_element_count(&phases->layout));
		return true;
	}
	phases->scan.after = -1;
	prepare_round(phases);
	return true;
}

static bool (*const prepare[])(struct scan_phases *) = {
	[PHASE_PLACES] = prepare_places,
	[PHASE_SCAN] = prepare_scan,
	[PHASE_HISTOGRAM] = prepare_histogram,
	[PHASE_FIND] = prepare_find,
};

static bool scan_phases_begin(struct scan_phases *phases)
{
	scan_ranges_clear(&phases->ranges);
	phases->is_sorted = false;
	phases->scan = (struct scan){
		.dtype = phases->layout.dtype,
		.kernel = phases->kernel,
		.block_units = INT64_MAX,
		.stop = &phases->stop,
		.done = &phases->done,
	};
	return prepare[phases->phase](phases);
}

enum phase scan_phases_next(struct scan_phases *phases)
{
	while (phases->phase != PHASE_END && !scan_phases_begin(phases))
		phases->phase++;
	return phases->phase;
}

int64_t scan_phases_total(const struct scan_phases *phases)
{
	bool is_whole = tensor_query_is_whole(&phases->query, &phases->layout);
	int64_t bytes = tensor_layout_byte_count(&phases->layout);
	int64_t scan = is_whole ? bytes
				: phases->layout.item_size * SCAN_QUERY_SAMPLE_BLOCKS *
					  SCAN_QUERY_SAMPLE_ELEMENTS;
	int64_t total = 0;

	if (has_statistics(phases) || scan_phases_has_hash(phases))
		total += scan;
	if (has_histogram(phases))
		total += scan;
	if (phases->query.find != SCAN_QUERY_FIND_NOTHING)
		total += bytes;
	return total;
}

int scan_phases_read_places(struct scan_phases *phases, struct error *error)
{
	struct tensor_result *result = &phases->result;
	const struct tensor_query *query = &phases->query;

	if (query->has_slice) {
		result->slice = query->slice;
		if (single_elements_slice(&phases->layout, &result->slice, error) < 0)
			return -1;
	}
	if (!query->has_data)
		return 0;
	result->data = single_elements_data(&phases->layout, query->data_start, query->data_count,
					    &result->data_length, error);
	return result->data ? 0 : -1;
}

void scan_phases_fold(struct scan_phases *phases)
{
	struct tensor *told = &phases->result.told;
	int64_t count = tensor_layout_element_count(&phases->layout);

	if (phases->scan.has_statistics)
		fold_statistics(&phases->scan, &phases->ranges, count, told);
	if (phases->scan.has_hash)
		fold_hashes(&phases->scan, &phases->ranges, count, phases->query.block_count, told);
	if (phases->scan.find != SCAN_QUERY_FIND_NOTHING)
		phases->result.found = fold_find(&phases->scan, &phases->ranges);
}

bool scan_phases_again(struct scan_phases *phases)
{
	if (!phases->is_sorted || atomic_load(&phases->stop))
		return false;
	phases->is_ordered = true;
	return true;
}

bool scan_phases_is_found(const struct scan_phases *phases)
{
	return phases->scan.find == SCAN_QUERY_FIND_NAN &&
	       fold_find(&phases->scan, &phases->ranges) >= 0;
}

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

/* Combines `all` with the hash of the bytes that follow the bytes of `all`. */
static void fold_append_hash(struct scan_hash *all, const struct scan_hash *hash)
{
	all->crc = crc_combine(all->crc, hash->crc, hash->length);
	all->length += hash->length;
	all->mask = crc_combine(all->mask, hash->mask, hash->mask_length);
	all->mask_length += hash->mask_length;
	all->masked_count += hash->masked_count;
}

/*
 * Returns the final hash. If no element is masked, this is the hash of the values alone, as without
 * a mask.
 */
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
