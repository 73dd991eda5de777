/*
 * Several sums side by side, so that they need not wait for each other: the
 * order of additions is what the code says, on any compiler.
 */
#include "backends/tensor/kernel.h"

#include <math.h>
#include <string.h>

#include "banned.h"

#define LANES 8
#define EXPONENT (UINT64_C(0x7ff) << 52)

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

int64_t kernel_odd(const double *values, size_t count)
{
	int64_t odd = 0;

	for (size_t i = 0; i < count; i++)
		odd += (bits_of(values[i]) & EXPONENT) == EXPONENT;
	return odd;
}

static double add_lanes(const double *lanes)
{
	double sum = 0;

	for (int lane = 0; lane < LANES; lane++)
		sum += lanes[lane];
	return sum;
}

static double least(double one, double other)
{
	return one < other ? one : other;
}

static double greatest(double one, double other)
{
	return one > other ? one : other;
}

void kernel_sum(const double *values, size_t count, struct kernel_sums *sums)
{
	double sum[LANES] = { 0 };
	double low[LANES];
	double high[LANES];
	int64_t zeros = 0;
	size_t i;

	for (int lane = 0; lane < LANES; lane++) {
		low[lane] = INFINITY;
		high[lane] = -INFINITY;
	}
	for (i = 0; i + LANES <= count; i += LANES) {
		for (int lane = 0; lane < LANES; lane++) {
			double value = values[i + (size_t)lane];

			sum[lane] += value;
			low[lane] = least(value, low[lane]);
			high[lane] = greatest(value, high[lane]);
		}
	}
	for (; i < count; i++) {
		sum[0] += values[i];
		low[0] = least(values[i], low[0]);
		high[0] = greatest(values[i], high[0]);
	}
	for (i = 0; i < count; i++)
		zeros += values[i] == 0;
	for (int lane = 1; lane < LANES; lane++) {
		low[0] = least(low[lane], low[0]);
		high[0] = greatest(high[lane], high[0]);
	}
	*sums = (struct kernel_sums){ add_lanes(sum), low[0], high[0], zeros };
}

double kernel_squares(const double *values, size_t count, double center)
{
	double squares[LANES] = { 0 };
	size_t i;

	for (i = 0; i + LANES <= count; i += LANES) {
		for (int lane = 0; lane < LANES; lane++) {
			double distance = values[i + (size_t)lane] - center;

			squares[lane] += distance * distance;
		}
	}
	for (; i < count; i++)
		squares[0] += (values[i] - center) * (values[i] - center);
	return add_lanes(squares);
}

void kernel_signed(const uint8_t *bytes, size_t count, int64_t *low,
		   int64_t *high)
{
	int64_t lowest = *low;
	int64_t highest = *high;

	for (size_t i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		lowest = value < lowest ? value : lowest;
		highest = value > highest ? value : highest;
	}
	*low = lowest;
	*high = highest;
}

void kernel_unsigned(const uint8_t *bytes, size_t count, uint64_t *low,
		     uint64_t *high)
{
	uint64_t lowest = *low;
	uint64_t highest = *high;

	for (size_t i = 0; i < count; i++) {
		uint64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		lowest = value < lowest ? value : lowest;
		highest = value > highest ? value : highest;
	}
	*low = lowest;
	*high = highest;
}

void kernel_times(const uint8_t *bytes, size_t count, int64_t *low,
		  int64_t *high)
{
	for (size_t i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		if (value == INT64_MIN)
			continue;
		*low = value < *low ? value : *low;
		*high = value > *high ? value : *high;
	}
}
