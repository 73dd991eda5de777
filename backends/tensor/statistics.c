#include "backends/tensor/statistics.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "backends/tensor/kernel.h"
#include "banned.h"
#include "base/array.h"
#include "protocol/dtype.h"
#include "protocol/tensor.h"

/* The dtypes whose bytes a kernel reads directly. */
static const struct {
	const char *name;
	enum kernel_type type;
} types[] = {
	{ "float32", KERNEL_FLOAT32 }, { "bfloat16", KERNEL_BFLOAT16 },
	{ "float16", KERNEL_FLOAT16 }, { "float64", KERNEL_FLOAT64 },
	{ "int64", KERNEL_INT64 },     { "int32", KERNEL_INT32 },
	{ "int16", KERNEL_INT16 },     { "int8", KERNEL_INT8 },
	{ "uint64", KERNEL_UINT64 },   { "uint32", KERNEL_UINT32 },
	{ "uint16", KERNEL_UINT16 },   { "uint8", KERNEL_UINT8 },
	{ "bool", KERNEL_BOOLEAN },
};

static enum kernel_type statistics_type_of(const struct dtype *dtype)
{
	for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
		if (strcmp(types[i].name, dtype->name) == 0)
			return types[i].type;
	return KERNEL_NONE;
}

void statistics_init(struct statistics *statistics, const struct kernel *kernel)
{
	*statistics = (struct statistics){
		.kernel = kernel,
		.low = INFINITY,
		.high = -INFINITY,
		.signed_low = INT64_MAX,
		.signed_high = INT64_MIN,
		.unsigned_low = UINT64_MAX,
	};
}

/* Neumaier's sum: the rounding error is kept in lost. */
static void add_sum(struct statistics *statistics, double value)
{
	double sum = statistics->sum + value;

	if (!isfinite(sum))
		statistics->lost = 0;
	else if (fabs(statistics->sum) >= fabs(value))
		statistics->lost += (statistics->sum - sum) + value;
	else
		statistics->lost += (value - sum) + statistics->sum;
	statistics->sum = sum;
}

/*
 * Chan, Golub, LeVeque: merges the squares of two parts about the mean of both. The part's mean is
 * center + offset; two numbers, because one double would have fewer digits.
 */
static void add_squares(struct statistics *statistics, int64_t count, double center, double offset,
			double squares)
{
	int64_t all = statistics->finite_count + count;
	double share = (double)count / (double)all;
	double distance;

	if (statistics->finite_count == 0)
		statistics->origin = center;
	distance = center - statistics->origin + offset - statistics->mean;
	statistics->squares +=
		squares + distance * distance * share * (double)statistics->finite_count;
	statistics->mean += distance * share;
	statistics->finite_count = all;
}

/*
 * Returns the sum of squared distances to the mean, computed from the sum of squared distances to
 * the center.
 */
static double squares_about_mean(const struct kernel_sums *sums)
{
	double left = sums->squares - sums->sum / (double)sums->count * sums->sum;

	/* NaN (infinity minus infinity): the squares were too large for a double. */
	if (isnan(left))
		return INFINITY;
	return left > 0 ? left : 0;
}

/*
 * True if the center is so far from the mean that the subtraction in squares_about_mean() cancels
 * more than 6 of the 53 bits of the squares.
 */
static bool is_far(const struct kernel_sums *sums)
{
	double left = sums->squares - sums->sum / (double)sums->count * sums->sum;

	return isfinite(sums->sum) && !(left >= sums->squares / 64);
}

static void merge_bounds(struct statistics *statistics, double low, double high)
{
	statistics->low = low < statistics->low ? low : statistics->low;
	statistics->high = high > statistics->high ? high : statistics->high;
}

static void merge_integers(struct statistics *statistics, int64_t signed_low, int64_t signed_high,
			   uint64_t unsigned_low, uint64_t unsigned_high)
{
	if (signed_low < statistics->signed_low)
		statistics->signed_low = signed_low;
	if (signed_high > statistics->signed_high)
		statistics->signed_high = signed_high;
	if (unsigned_low < statistics->unsigned_low)
		statistics->unsigned_low = unsigned_low;
	if (unsigned_high > statistics->unsigned_high)
		statistics->unsigned_high = unsigned_high;
}

/* Adds the kernel's sums over finite elements. */
static void add_sums(struct statistics *statistics, const struct kernel_sums *sums)
{
	double count = (double)sums->count;

	statistics->zero_count += sums->zero_count;
	merge_bounds(statistics, sums->low, sums->high);
	merge_integers(statistics, sums->signed_low, sums->signed_high, sums->unsigned_low,
		       sums->unsigned_high);
	add_sum(statistics, sums->center * count);
	add_sum(statistics, sums->sum);
	add_squares(statistics, sums->count, sums->center, sums->sum / count,
		    squares_about_mean(sums));
}

/* For a part whose elements are the same finite number: makes mean and squares exact. */
static void statistics_settle(struct statistics *statistics, struct kernel_sums *sums)
{
	statistics->center = sums->low;
	sums->center = sums->low;
	sums->sum = 0;
	sums->squares = 0;
}

/*
 * Sums a part about a center near its mean. A mean computed about a far center may be inexact, so
 * the part is summed again, at most twice.
 */
static void sum_part(struct statistics *statistics, kernel_sum *sum, const uint8_t *bytes,
		     size_t count, struct kernel_sums *sums)
{
	sum(bytes, count, statistics->center, sums);
	if (sums->count == 0)
		return;
	if (isfinite(sums->sum) && sums->low == sums->high)
		statistics_settle(statistics, sums);
	for (int i = 0; i < 2 && is_far(sums); i++) {
		statistics->center = sums->center + sums->sum / (double)sums->count;
		sum(bytes, count, statistics->center, sums);
	}
}

/* A finite sum proves that all elements are finite. */
static void add_known(struct statistics *statistics, enum kernel_type type, const uint8_t *bytes,
		      size_t count)
{
	const struct kernel *kernel = statistics->kernel;
	struct kernel_sums sums;

	sum_part(statistics, kernel->sum[type], bytes, count, &sums);
	if (!isfinite(sums.sum)) {
		/*
		 * If this sum is not finite either, the sum of the finite elements is too large for
		 * a double.
		 */
		statistics->center = 0;
		sum_part(statistics, kernel->sum_finite[type], bytes, count, &sums);
		statistics->nan_count += sums.nan_count;
		statistics->infinity_count += (int64_t)count - sums.count - sums.nan_count;
	}
	if (sums.count > 0)
		add_sums(statistics, &sums);
}

static void add_complex(struct statistics *statistics, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double real = values[2 * i];
		double imaginary = values[2 * i + 1];
		bool is_nan = isnan(real) || isnan(imaginary);
		bool is_infinite = isinf(real) || isinf(imaginary);

		statistics->nan_count += is_nan;
		statistics->infinity_count += is_infinite;
		statistics->zero_count += real == 0 && imaginary == 0;
		if (!is_nan && !is_infinite)
			add_sum(statistics, real * real + imaginary * imaginary);
	}
}

/* Adds the bounds of times, which doubles would round; skips NaT (INT64_MIN). */
static void add_times(struct statistics *statistics, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		if (value != INT64_MIN)
			merge_integers(statistics, value, value, UINT64_MAX, 0);
	}
}

static void add_decoded(struct statistics *statistics, const struct dtype *dtype,
			const uint8_t *bytes, size_t count)
{
	double values[2 * STATISTICS_PART];

	dtype_decode(dtype, bytes, count, values);
	if (dtype->class == DTYPE_COMPLEX)
		add_complex(statistics, values, count);
	else
		add_known(statistics, KERNEL_FLOAT64, (const uint8_t *)values, count);
	if (dtype->class == DTYPE_TIME)
		add_times(statistics, bytes, count);
}

void statistics_add(struct statistics *statistics, const struct dtype *dtype, const uint8_t *bytes,
		    int64_t count)
{
	enum kernel_type type = statistics_type_of(dtype);
	int64_t done = 0;

	while (done < count) {
		int64_t left = count - done;
		size_t part = left < STATISTICS_PART ? (size_t)left : STATISTICS_PART;
		const uint8_t *from = bytes + done * dtype->size;

		if (type == KERNEL_NONE)
			add_decoded(statistics, dtype, from, part);
		else
			add_known(statistics, type, from, part);
		done += (int64_t)part;
	}
	statistics->count += count;
}

void statistics_merge(struct statistics *statistics, const struct statistics *part)
{
	statistics->count += part->count;
	statistics->nan_count += part->nan_count;
	statistics->infinity_count += part->infinity_count;
	statistics->zero_count += part->zero_count;
	add_sum(statistics, part->sum);
	statistics->lost += part->lost;
	if (part->finite_count > 0)
		add_squares(statistics, part->finite_count, part->origin, part->mean,
			    part->squares);
	merge_bounds(statistics, part->low, part->high);
	merge_integers(statistics, part->signed_low, part->signed_high, part->unsigned_low,
		       part->unsigned_high);
}

/* Writes a minimum or maximum in the kind of number that the dtype has. */
static void tell_bound(const struct dtype *dtype, double real, int64_t signed_bound,
		       uint64_t unsigned_bound, struct tensor_number *told)
{
	told->kind = TENSOR_NUMBER_INTEGER;
	if (!dtype_is_integer(dtype)) {
		told->kind = TENSOR_NUMBER_REAL;
		told->real = real;
	} else if (dtype->size < 8) {
		told->integer = (int64_t)real;
	} else if (dtype->class == DTYPE_UNSIGNED) {
		told->integer = (int64_t)unsigned_bound;
		if (told->integer < 0)
			told->kind = TENSOR_NUMBER_UNSIGNED;
	} else {
		told->integer = signed_bound;
	}
}

/* NaN means that the squares were too large for a double. */
static double root(double squares)
{
	return isnan(squares) ? INFINITY : sqrt(squares);
}

static void statistics_tell_real(const struct statistics *statistics, const struct dtype *dtype,
				 struct tensor_statistics *told)
{
	double count = (double)statistics->finite_count;

	tell_bound(dtype, statistics->low, statistics->signed_low, statistics->unsigned_low,
		   &told->minimum);
	tell_bound(dtype, statistics->high, statistics->signed_high, statistics->unsigned_high,
		   &told->maximum);
	told->mean = (statistics->sum + statistics->lost) / count;
	told->deviation = root(statistics->squares / count);
	/* All elements are equal: mean and deviation are exact. */
	if (statistics->low == statistics->high && isfinite(told->mean)) {
		told->mean = statistics->low;
		told->deviation = 0;
	}
}

static double norm(const struct statistics *statistics, const struct dtype *dtype)
{
	double sum = statistics->sum + statistics->lost;
	double count = (double)statistics->finite_count;

	if (statistics->nan_count > 0)
		return NAN;
	if (statistics->infinity_count > 0)
		return INFINITY;
	if (dtype->class == DTYPE_COMPLEX)
		return root(sum);
	return count > 0 ? root(statistics->squares + sum / count * sum) : 0;
}

void statistics_tell(const struct statistics *statistics, const struct dtype *dtype,
		     struct tensor_statistics *told)
{
	*told = (struct tensor_statistics){
		.mean = NAN,
		.deviation = NAN,
		.norm = norm(statistics, dtype),
		.has_norm = true,
		.count = statistics->count,
		.nan_count = statistics->nan_count,
		.infinity_count = statistics->infinity_count,
		.zero_count = statistics->zero_count,
	};
	if (statistics->finite_count > 0)
		statistics_tell_real(statistics, dtype, told);
}

/* Computes with halved values: the difference of two doubles may be too large for a double. */
static void histogram_add_values(const struct histogram_bounds *bounds, const double *values,
				 size_t count, int64_t *bins)
{
	double low = bounds->low / 2;
	double width = bounds->high / 2 - low;
	double scale = width > 0 ? bounds->bin_count / width : 0;
	double last = bounds->bin_count - 1;

	/* low and high are so near to each other that the scale overflows. */
	if (!isfinite(scale))
		scale = 0;
	for (size_t i = 0; i < count; i++) {
		double place = (values[i] / 2 - low) * scale;

		if (!isfinite(values[i]))
			continue;
		place = place > 0 ? place : 0;
		bins[(size_t)(place < last ? place : last)]++;
	}
}

void histogram_add(const struct histogram_bounds *bounds, const struct dtype *dtype,
		   const uint8_t *bytes, int64_t count, int64_t *bins)
{
	double values[STATISTICS_PART];

	while (count > 0) {
		int64_t part = count < STATISTICS_PART ? count : STATISTICS_PART;

		dtype_decode(dtype, bytes, (size_t)part, values);
		histogram_add_values(bounds, values, (size_t)part, bins);
		bytes += part * dtype->size;
		count -= part;
	}
}

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
