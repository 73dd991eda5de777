#include "backends/tensor/statistics.h"

#include <math.h>
#include <string.h>

#include "backends/tensor/kernel.h"
#include "banned.h"
#include "protocol/dtype.h"
#include "protocol/tensor.h"

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

/* Neumaier: what the smaller one lost is kept beside. */
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

/* Chan, Golub, LeVeque: the squares of two parts, about the mean of both. */
static void add_squares(struct statistics *statistics, int64_t count,
			double mean, double squares)
{
	int64_t all = statistics->finite_count + count;
	double distance = mean - statistics->mean;
	double share = (double)count / (double)all;

	statistics->squares +=
		squares +
		distance * distance * share * (double)statistics->finite_count;
	statistics->mean += distance * share;
	statistics->finite_count = all;
}

/* What the kernel found in some finite ones. */
static void add_sums(struct statistics *statistics,
		     const struct kernel_sums *sums, size_t count,
		     double squares)
{
	statistics->zero_count += sums->zero_count;
	statistics->low = fmin(statistics->low, sums->low);
	statistics->high = fmax(statistics->high, sums->high);
	add_sum(statistics, sums->sum);
	add_squares(statistics, (int64_t)count, sums->sum / (double)count,
		    squares);
}

/* Leaves the finite ones, and counts the others. */
static size_t sift(struct statistics *statistics, double *values, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (isfinite(values[i]))
			values[kept++] = values[i];
		else if (isnan(values[i]))
			statistics->nan_count++;
		else
			statistics->infinity_count++;
	}
	return kept;
}

/* A sum that is finite is one of finite numbers alone. */
static void add_doubles(struct statistics *statistics, double *values,
			size_t count)
{
	const struct kernel *kernel = statistics->kernel;
	struct kernel_sums sums;

	kernel->sum_double(values, count, &sums);
	if (!isfinite(sums.sum)) {
		count = sift(statistics, values, count);
		if (count == 0)
			return;
		kernel->sum_double(values, count, &sums);
	}
	add_sums(statistics, &sums, count,
		 kernel->squares_double(values, count,
					sums.sum / (double)count));
}

static void add_floats(struct statistics *statistics, const struct dtype *dtype,
		       const uint8_t *bytes, size_t count)
{
	const struct kernel *kernel = statistics->kernel;
	float values[STATISTICS_PART];
	double doubles[STATISTICS_PART];
	struct kernel_sums sums;

	dtype->narrow(bytes, count, values);
	kernel->sum_float(values, count, &sums);
	if (isfinite(sums.sum)) {
		add_sums(statistics, &sums, count,
			 kernel->squares_float(values, count,
					       sums.sum / (double)count));
		return;
	}
	dtype_decode(dtype, bytes, count, doubles);
	add_doubles(statistics, doubles, count);
}

static void add_complex(struct statistics *statistics, const double *values,
			size_t count)
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
			add_sum(statistics,
				real * real + imaginary * imaginary);
	}
}

static void add_signed(struct statistics *statistics, const uint8_t *bytes,
		       size_t count)
{
	int64_t low = statistics->signed_low;
	int64_t high = statistics->signed_high;

	for (size_t i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	statistics->signed_low = low;
	statistics->signed_high = high;
}

static void add_unsigned(struct statistics *statistics, const uint8_t *bytes,
			 size_t count)
{
	uint64_t low = statistics->unsigned_low;
	uint64_t high = statistics->unsigned_high;

	for (size_t i = 0; i < count; i++) {
		uint64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	statistics->unsigned_low = low;
	statistics->unsigned_high = high;
}

/* Signed ones, of which the least (NaT) is passed over. */
static void add_times(struct statistics *statistics, const uint8_t *bytes,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		if (value != INT64_MIN)
			add_signed(statistics, bytes + i * sizeof(value), 1);
	}
}

/* What doubles would round. */
static void add_integers(struct statistics *statistics,
			 const struct dtype *dtype, const uint8_t *bytes,
			 size_t count)
{
	if (dtype->class == DTYPE_UNSIGNED)
		add_unsigned(statistics, bytes, count);
	else if (dtype->class == DTYPE_TIME)
		add_times(statistics, bytes, count);
	else
		add_signed(statistics, bytes, count);
}

static void add_part(struct statistics *statistics, const struct dtype *dtype,
		     const uint8_t *bytes, size_t count)
{
	double values[2 * STATISTICS_PART];

	if (dtype->narrow && dtype->class != DTYPE_COMPLEX) {
		add_floats(statistics, dtype, bytes, count);
		return;
	}
	dtype_decode(dtype, bytes, count, values);
	if (dtype->class == DTYPE_COMPLEX)
		add_complex(statistics, values, count);
	else
		add_doubles(statistics, values, count);
}

void statistics_add(struct statistics *statistics, const struct dtype *dtype,
		    const uint8_t *bytes, int64_t count)
{
	int64_t done = 0;

	while (done < count) {
		int64_t left = count - done;
		size_t part =
			left < STATISTICS_PART ? (size_t)left : STATISTICS_PART;
		const uint8_t *from = bytes + done * dtype->size;

		add_part(statistics, dtype, from, part);
		if (dtype->size == 8 && dtype_is_integer(dtype))
			add_integers(statistics, dtype, from, part);
		done += (int64_t)part;
	}
	statistics->count += count;
}

void statistics_merge(struct statistics *statistics,
		      const struct statistics *part)
{
	statistics->count += part->count;
	statistics->nan_count += part->nan_count;
	statistics->infinity_count += part->infinity_count;
	statistics->zero_count += part->zero_count;
	add_sum(statistics, part->sum);
	statistics->lost += part->lost;
	if (part->finite_count > 0)
		add_squares(statistics, part->finite_count, part->mean,
			    part->squares);
	statistics->low = fmin(statistics->low, part->low);
	statistics->high = fmax(statistics->high, part->high);
	if (part->signed_low < statistics->signed_low)
		statistics->signed_low = part->signed_low;
	if (part->signed_high > statistics->signed_high)
		statistics->signed_high = part->signed_high;
	if (part->unsigned_low < statistics->unsigned_low)
		statistics->unsigned_low = part->unsigned_low;
	if (part->unsigned_high > statistics->unsigned_high)
		statistics->unsigned_high = part->unsigned_high;
}

/* The least or the greatest, of what there is. */
static void tell_bound(const struct dtype *dtype, double real,
		       int64_t signed_bound, uint64_t unsigned_bound,
		       struct tensor_number *told)
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

/* Squares that are no number any more were too large for one. */
static double root(double squares)
{
	return isnan(squares) ? INFINITY : sqrt(squares);
}

static void tell_real(const struct statistics *statistics,
		      const struct dtype *dtype, struct tensor_statistics *told)
{
	double count = (double)statistics->finite_count;

	tell_bound(dtype, statistics->low, statistics->signed_low,
		   statistics->unsigned_low, &told->minimum);
	tell_bound(dtype, statistics->high, statistics->signed_high,
		   statistics->unsigned_high, &told->maximum);
	told->mean = (statistics->sum + statistics->lost) / count;
	told->deviation = root(statistics->squares / count);
	/* All are the same: nothing is lost to rounding. */
	if (statistics->low == statistics->high && isfinite(told->mean)) {
		told->mean = statistics->low;
		told->deviation = 0;
	}
}

static double norm(const struct statistics *statistics,
		   const struct dtype *dtype)
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

void statistics_tell(const struct statistics *statistics,
		     const struct dtype *dtype, struct tensor_statistics *told)
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
		tell_real(statistics, dtype, told);
}
