#include "backends/tensor/kernel.h"

#include "banned.h"

#ifndef KERNEL
#define KERNEL kernel_plain
#endif

extern const struct kernel KERNEL;

/* Counted in the width of what is looked at, for parts of some thousand. */
static void sum_float(const float *values, size_t count,
		      struct kernel_sums *sums)
{
	float low = values[0];
	float high = values[0];
	int32_t zeros = 0;
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		float value = values[i];

		sum += (double)value;
		low = value < low ? value : low;
		high = value > high ? value : high;
		zeros += value == 0;
	}
	*sums = (struct kernel_sums){ sum, (double)low, (double)high, zeros };
}

static void sum_double(const double *values, size_t count,
		       struct kernel_sums *sums)
{
	double low = values[0];
	double high = values[0];
	int64_t zeros = 0;
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		double value = values[i];

		sum += value;
		low = value < low ? value : low;
		high = value > high ? value : high;
		zeros += value == 0;
	}
	*sums = (struct kernel_sums){ sum, low, high, zeros };
}

static double squares_float(const float *values, size_t count, double center)
{
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		double distance = (double)values[i] - center;

		squares += distance * distance;
	}
	return squares;
}

static double squares_double(const double *values, size_t count, double center)
{
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		double distance = values[i] - center;

		squares += distance * distance;
	}
	return squares;
}

const struct kernel KERNEL = {
	.sum_float = sum_float,
	.sum_double = sum_double,
	.squares_float = squares_float,
	.squares_double = squares_double,
};
