/*
 * Each loop computes all sums in one pass, because the bytes come from beyond the first-level
 * cache. Elements are loaded by memcpy(3), which becomes one instruction and needs no alignment.
 */
#include "backends/tensor/kernel.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#include "banned.h"

#ifndef KERNEL
#define KERNEL kernel_plain
#endif

extern const struct kernel KERNEL;

/* A loader for a type that C has. */
#define LOAD(name, type)                                                                           \
	static type load_##name(const uint8_t *bytes, size_t i)                                    \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		memcpy(&value, bytes + i * sizeof(value), sizeof(value));                          \
		return value;                                                                      \
	}

LOAD(float64, double)
LOAD(float32, float)
LOAD(int64, int64_t)
LOAD(int32, int32_t)
LOAD(int16, int16_t)
LOAD(int8, int8_t)
LOAD(uint64, uint64_t)
LOAD(uint32, uint32_t)
LOAD(uint16, uint16_t)
LOAD(uint8, uint8_t)

static int load_boolean(const uint8_t *bytes, size_t i)
{
	return bytes[i] != 0;
}

static float kernel_to_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t to_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float load_bfloat16(const uint8_t *bytes, size_t i)
{
	return kernel_to_float((uint32_t)load_uint16(bytes, i) << 16);
}

/*
 * Shifts exponent and mantissa to their places in a float, and adds the difference of the exponent
 * biases (112). The least exponent (zero, subnormal) gets float's implicit bit, whose value is then
 * subtracted: so no slow subnormal float occurs. The greatest exponent (NaN, infinity) becomes the
 * greatest exponent of float.
 */
static float load_float16(const uint8_t *bytes, size_t i)
{
	uint32_t half = load_uint16(bytes, i);
	uint32_t rest = (half & 0x7fff) << 13;
	uint32_t bits = rest + (112u << 23);
	uint32_t small = to_bits(kernel_to_float(rest + (113u << 23)) - 0x1p-14f);

	bits = rest < 1u << 23 ? small : bits;
	bits += rest >= 31u << 23 ? 112u << 23 : 0;
	return kernel_to_float(bits | (half & 0x8000) << 16);
}

/*
 * Without AVX-512DQ's instruction for the conversion, converting two halves is faster. The sum of
 * the halves is rounded only once, like the value.
 */
static double real_int64(int64_t value)
{
#ifdef __AVX512DQ__
	return (double)value;
#else
	return (double)(int32_t)(value >> 32) * 0x1p32 + (double)(uint32_t)value;
#endif
}

static double real_uint64(uint64_t value)
{
#ifdef __AVX512DQ__
	return (double)value;
#else
	return (double)(uint32_t)(value >> 32) * 0x1p32 + (double)(uint32_t)value;
#endif
}

#define REAL(value) ((double)(value))

/* How each type stores its bounds. */

static void kernel_tell_real(struct kernel_sums *sums, double low, double high)
{
	sums->low = low;
	sums->high = high;
}

static void tell_float(struct kernel_sums *sums, float low, float high)
{
	kernel_tell_real(sums, (double)low, (double)high);
}

static void tell_signed(struct kernel_sums *sums, int64_t low, int64_t high)
{
	kernel_tell_real(sums, (double)low, (double)high);
	sums->signed_low = low;
	sums->signed_high = high;
}

static void tell_unsigned(struct kernel_sums *sums, uint64_t low, uint64_t high)
{
	kernel_tell_real(sums, (double)low, (double)high);
	sums->unsigned_low = low;
	sums->unsigned_high = high;
}

static const struct kernel_sums empty = {
	.signed_low = INT64_MAX,
	.signed_high = INT64_MIN,
	.unsigned_low = UINT64_MAX,
};

/*
 * type: the type in which values are compared; counter: an integer type as wide as type, so that no
 * vector is widened; real: converts a value to double; tell: stores the bounds.
 */
#define SUM(name, type, counter, real, tell)                                                       \
	static void sum_##name(const uint8_t *bytes, size_t count, double center,                  \
			       struct kernel_sums *sums)                                           \
	{                                                                                          \
		type low = load_##name(bytes, 0);                                                  \
		type high = low;                                                                   \
		counter zeros = 0;                                                                 \
		double sum = 0;                                                                    \
		double squares = 0;                                                                \
                                                                                                   \
		for (size_t i = 0; i < count; i++) {                                               \
			type value = load_##name(bytes, i);                                        \
			double distance = real(value) - center;                                    \
                                                                                                   \
			sum += distance;                                                           \
			squares += distance * distance;                                            \
			low = value < low ? value : low;                                           \
			high = value > high ? value : high;                                        \
			zeros += value == 0;                                                       \
		}                                                                                  \
		*sums = empty;                                                                     \
		sums->count = (int64_t)count;                                                      \
		sums->center = center;                                                             \
		sums->sum = sum;                                                                   \
		sums->squares = squares;                                                           \
		sums->zero_count = zeros;                                                          \
		tell(sums, low, high);                                                             \
	}

/* float holds 16-bit integers exactly, and is as wide as the counter int32_t. */
SUM(float64, double, int64_t, REAL, kernel_tell_real)
SUM(float32, float, int32_t, REAL, tell_float)
SUM(bfloat16, float, int32_t, REAL, tell_float)
SUM(float16, float, int32_t, REAL, tell_float)
SUM(int64, int64_t, int64_t, real_int64, tell_signed)
SUM(int32, int32_t, int32_t, REAL, kernel_tell_real)
SUM(int16, float, int32_t, REAL, tell_float)
SUM(uint64, uint64_t, int64_t, real_uint64, tell_unsigned)
SUM(uint32, uint32_t, int32_t, REAL, kernel_tell_real)
SUM(uint16, float, int32_t, REAL, tell_float)

/* Tests for NaN by integer bits, because kernel.c is compiled as if there were no NaN. */

static int32_t bits_float(float value)
{
	return (int32_t)to_bits(value);
}

static int64_t bits_double(double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float of_float(int32_t bits)
{
	return kernel_to_float((uint32_t)bits);
}

static double of_double(int64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

#define MOST_float INT32_MAX
#define MOST_double INT64_MAX
#define INFINITE_float (255 << 23)
#define INFINITE_double (INT64_C(2047) << 52)

/*
 * Like SUM, over the finite elements. Any other element is replaced, by masks and without a branch:
 * by 0 in the sums, and by the bound's start value in the bounds.
 */
#define SUM_FINITE(name, type, bits_type, tell)                                                    \
	static void finite_##name(const uint8_t *bytes, size_t count, double center,               \
				  struct kernel_sums *sums)                                        \
	{                                                                                          \
		const bits_type most = INFINITE_##type - 1;                                        \
		const bits_type least = most | (-MOST_##type - 1);                                 \
		type low = of_##type(most);                                                        \
		type high = of_##type(least);                                                      \
		bits_type zeros = 0;                                                               \
		bits_type finite = 0;                                                              \
		bits_type nans = 0;                                                                \
		double sum = 0;                                                                    \
		double squares = 0;                                                                \
                                                                                                   \
		for (size_t i = 0; i < count; i++) {                                               \
			bits_type bits = bits_##type(load_##name(bytes, i));                       \
			bits_type size = bits & MOST_##type;                                       \
			bits_type is_in = -(bits_type)(size <= most);                              \
			bits_type kept = bits & is_in;                                             \
			type lower = of_##type(kept | (most & ~is_in));                            \
			type higher = of_##type(kept | (least & ~is_in));                          \
			double distance = (double)of_##type(kept) - center;                        \
                                                                                                   \
			distance = of_double(bits_double(distance) & is_in);                       \
			sum += distance;                                                           \
			squares += distance * distance;                                            \
			low = lower < low ? lower : low;                                           \
			high = higher > high ? higher : high;                                      \
			zeros += size == 0;                                                        \
			finite -= is_in;                                                           \
			nans += size > most + 1;                                                   \
		}                                                                                  \
		*sums = empty;                                                                     \
		sums->count = finite;                                                              \
		sums->nan_count = nans;                                                            \
		sums->center = center;                                                             \
		sums->sum = sum;                                                                   \
		sums->squares = squares;                                                           \
		sums->zero_count = zeros;                                                          \
		tell(sums, low, high);                                                             \
	}

SUM_FINITE(float64, double, int64_t, kernel_tell_real)
SUM_FINITE(float32, float, int32_t, tell_float)
SUM_FINITE(bfloat16, float, int32_t, tell_float)
SUM_FINITE(float16, float, int32_t, tell_float)

/*
 * 8-bit integers: the sums are exact in 32 bits. The center is not the caller's, but an integer
 * near the mean, so that no later step loses digits.
 */
static_assert(KERNEL_PART <= INT32_MAX / (255 * 255), "squares fit");

static void tell_small(struct kernel_sums *sums, int64_t count, int64_t sum, int64_t squares)
{
	int64_t center = sum / count;

	sums->count = count;
	sums->center = (double)center;
	sums->sum = (double)(sum - count * center);
	sums->squares = (double)(squares - 2 * center * sum + count * center * center);
}

#define SUM_SMALL(name)                                                                            \
	static void sum_##name(const uint8_t *bytes, size_t count, double center,                  \
			       struct kernel_sums *sums)                                           \
	{                                                                                          \
		int low = load_##name(bytes, 0);                                                   \
		int high = low;                                                                    \
		int zeros = 0;                                                                     \
		int sum = 0;                                                                       \
		int squares = 0;                                                                   \
                                                                                                   \
		(void)center;                                                                      \
		for (size_t i = 0; i < count; i++) {                                               \
			int value = load_##name(bytes, i);                                         \
                                                                                                   \
			sum += value;                                                              \
			squares += value * value;                                                  \
			low = value < low ? value : low;                                           \
			high = value > high ? value : high;                                        \
			zeros += value == 0;                                                       \
		}                                                                                  \
		*sums = empty;                                                                     \
		sums->zero_count = zeros;                                                          \
		tell_small(sums, (int64_t)count, sum, squares);                                    \
		kernel_tell_real(sums, low, high);                                                 \
	}

SUM_SMALL(int8)
SUM_SMALL(uint8)
SUM_SMALL(boolean)

const struct kernel KERNEL = {
	.sum = {
		[KERNEL_FLOAT64] = sum_float64,
		[KERNEL_FLOAT32] = sum_float32,
		[KERNEL_BFLOAT16] = sum_bfloat16,
		[KERNEL_FLOAT16] = sum_float16,
		[KERNEL_INT64] = sum_int64,
		[KERNEL_INT32] = sum_int32,
		[KERNEL_INT16] = sum_int16,
		[KERNEL_INT8] = sum_int8,
		[KERNEL_UINT64] = sum_uint64,
		[KERNEL_UINT32] = sum_uint32,
		[KERNEL_UINT16] = sum_uint16,
		[KERNEL_UINT8] = sum_uint8,
		[KERNEL_BOOLEAN] = sum_boolean,
	},
	.sum_finite = {
		[KERNEL_FLOAT64] = finite_float64,
		[KERNEL_FLOAT32] = finite_float32,
		[KERNEL_BFLOAT16] = finite_bfloat16,
		[KERNEL_FLOAT16] = finite_float16,
	},
};
