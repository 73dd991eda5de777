#include "backends/tensor/extreme-search.h"

#include <math.h>

#include "backends/tensor/statistics.h"
#include "banned.h"
#include "protocol/dtype.h"

void extreme_search_init(struct extreme_search *find, const struct kernel *kernel,
			 enum scan_query_find what, int64_t after)
{
	*find = (struct extreme_search){
		.kernel = kernel,
		.what = what,
		.after = after,
		.index = -1,
	};
}

static bool is_less(const struct tensor_number *one, const struct tensor_number *other)
{
	bool is_large = one->kind == TENSOR_NUMBER_UNSIGNED;
	bool is_other_large = other->kind == TENSOR_NUMBER_UNSIGNED;

	if (one->kind == TENSOR_NUMBER_REAL)
		return one->real < other->real;
	if (is_large != is_other_large)
		return is_other_large;
	return is_large ? (uint64_t)one->integer < (uint64_t)other->integer
			: one->integer < other->integer;
}

static bool extreme_search_is_better(const struct extreme_search *find,
				     const struct tensor_number *one,
				     const struct tensor_number *other)
{
	if (one->kind == TENSOR_NUMBER_UNKNOWN || other->kind == TENSOR_NUMBER_UNKNOWN)
		return one->kind != TENSOR_NUMBER_UNKNOWN;
	return find->what == SCAN_QUERY_FIND_MINIMUM ? is_less(one, other) : is_less(other, one);
}

static bool is_it(const struct extreme_search *find, const struct dtype *dtype,
		  const uint8_t *bytes)
{
	struct tensor_number number;
	bool is_finite;

	dtype_number(dtype, bytes, (size_t)dtype->size, &number);
	is_finite = !(number.kind == TENSOR_NUMBER_REAL || number.kind == TENSOR_NUMBER_COMPLEX) ||
		    (isfinite(number.real) && isfinite(number.imaginary));
	if (find->what == SCAN_QUERY_FIND_NAN)
		return !is_finite;
	if (number.kind == TENSOR_NUMBER_BOOLEAN)
		number.kind = TENSOR_NUMBER_INTEGER;
	return is_finite && !extreme_search_is_better(find, &number, &find->best) &&
	       !extreme_search_is_better(find, &find->best, &number);
}

static void seek(struct extreme_search *find, const struct dtype *dtype, const uint8_t *bytes,
		 int64_t count, int64_t index)
{
	int64_t first = find->after < index ? 0 : find->after - index + 1;

	for (int64_t i = first; i < count; i++) {
		if (is_it(find, dtype, bytes + i * dtype->size)) {
			find->index = index + i;
			return;
		}
	}
}

/*
 * Searches the element's index only if the part's statistics show that the part has such an
 * element.
 */
static void extreme_search_add_part(struct extreme_search *find, const struct dtype *dtype,
				    const uint8_t *bytes, int64_t count, int64_t index)
{
	struct tensor_statistics told;
	struct statistics statistics;
	const struct tensor_number *best;

	statistics_init(&statistics, find->kernel);
	statistics_add(&statistics, dtype, bytes, count);
	statistics_tell(&statistics, dtype, &told);
	if (find->what == SCAN_QUERY_FIND_NAN) {
		if (find->index < 0 && told.nan_count + told.infinity_count > 0)
			seek(find, dtype, bytes, count, index);
		return;
	}
	best = find->what == SCAN_QUERY_FIND_MINIMUM ? &told.minimum : &told.maximum;
	if (extreme_search_is_better(find, best, &find->best)) {
		find->best = *best;
		find->index = -1;
	} else if (extreme_search_is_better(find, &find->best, best)) {
		return;
	}
	if (find->index < 0)
		seek(find, dtype, bytes, count, index);
}

void extreme_search_add(struct extreme_search *find, const struct dtype *dtype,
			const uint8_t *bytes, int64_t count, int64_t index)
{
	while (count > 0) {
		int64_t part = count < STATISTICS_PART ? count : STATISTICS_PART;

		extreme_search_add_part(find, dtype, bytes, part, index);
		bytes += part * dtype->size;
		index += part;
		count -= part;
	}
}

void extreme_search_merge(struct extreme_search *find, const struct extreme_search *part)
{
	if (find->what == SCAN_QUERY_FIND_NAN) {
		if (find->index < 0)
			find->index = part->index;
		return;
	}
	if (extreme_search_is_better(find, &part->best, &find->best)) {
		find->best = part->best;
		find->index = part->index;
	} else if (find->index < 0 && !extreme_search_is_better(find, &find->best, &part->best)) {
		find->index = part->index;
	}
}
