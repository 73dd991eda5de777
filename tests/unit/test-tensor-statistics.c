/*
 * tensor-statistics: of numbers that are hard to sum, by each kernel that this
 * processor runs, beside two passes in long double over the same elements.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"

#include "backends/tensor/kernel.h"
#include "backends/tensor/statistics.h"
#include "base/array.h"
#include "protocol/dtype.h"
#include "protocol/tensor.h"

/* Some parts, and one that is not full. */
#define COUNT (4 * KERNEL_PART + 1234)
#define SIZE_MAXIMUM 8

static uint8_t room[COUNT * SIZE_MAXIMUM + 1];
/* Where nothing is aligned. */
static uint8_t *const bytes = room + 1;
static double doubles[COUNT];

/* The same numbers in every run, -1 to 1. */
static double noise(size_t i)
{
	uint64_t state = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	state = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	state = (state ^ state >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)(int64_t)(state ^ state >> 31) * 0x1p-63;
}

static double near_zero(size_t i)
{
	return noise(i);
}

static double far_and_narrow(size_t i)
{
	return 1e6 + noise(i);
}

static double very_far(size_t i)
{
	return 1e9 + 0.3 + 1e-5 * noise(i);
}

static double jump(size_t i)
{
	return (i < 6000 ? 5e4 : -3e-3) + 1e-2 * noise(i);
}

static double jump_to_far(size_t i)
{
	return (i < 9000 ? 0 : 5e4) + 1e-2 * noise(i);
}

/* Each part lies elsewhere than the one before. */
static double alternate(size_t i)
{
	return (i / KERNEL_PART % 2 ? 1e5 : -7e4) + noise(i);
}

static double grow(size_t i)
{
	return (double)i * 11;
}

static double constant(size_t i)
{
	(void)i;
	return 0.1;
}

static double nearly_constant(size_t i)
{
	return i == 5000 ? 0.1 : 0.10001;
}

static double outlier(size_t i)
{
	return i == 7000 ? 1e18 : noise(i);
}

static double zeros(size_t i)
{
	return i % 3 ? 0 : i % 2 ? -0.0 : noise(i);
}

static double (*const patterns[])(size_t) = {
	near_zero, far_and_narrow, very_far,	    jump,    jump_to_far, alternate,
	grow,	   constant,	   nearly_constant, outlier, zeros,
};

static void put(const struct dtype *dtype, size_t i, double value)
{
	float narrow = (float)value;
	int64_t integer = (int64_t)fmax(fmin(value, 0x1p62), -0x1p62);
	uint8_t *to = bytes + i * (size_t)dtype->size;

	if (strcmp(dtype->name, "float64") == 0)
		memcpy(to, &value, sizeof(value));
	else if (strcmp(dtype->name, "float32") == 0)
		memcpy(to, &narrow, sizeof(narrow));
	else if (strcmp(dtype->name, "bfloat16") == 0)
		memcpy(to, (uint8_t *)&narrow + 2, 2);
	else
		memcpy(to, &integer, (size_t)dtype->size);
}

/* Bits, of which no number is made: 0 to 31 that are a number to float16. */
static void put_bits(const struct dtype *dtype, unsigned exponents)
{
	for (size_t i = 0; i < COUNT * (size_t)dtype->size / 2; i++) {
		uint16_t bits = (uint16_t)(int)(noise(i) * 0x8000);

		if ((bits >> 10 & 31) >= exponents)
			bits &= 0x83ff;
		memcpy(bytes + 2 * i, &bits, sizeof(bits));
	}
}

static void assert_near(long double value, long double truth, long double noise_level,
			const char *what)
{
	if (fabsl(value - truth) > 1e-11L * fabsl(truth) + noise_level)
		fail_msg("%s is %.17Lg and not %.17Lg", what, value, truth);
}

/* Two passes, over what dtype_decode() gives; by distances to one of them. */
static void assert_true_statistics(const struct dtype *dtype, const struct tensor_statistics *told)
{
	long double base = 0;
	long double sum = 0;
	long double size = 0;
	long double magnitude = 0;
	long double squares = 0;
	long double all = 0;
	int64_t zero_count = 0;

	dtype_decode(dtype, bytes, COUNT, doubles);
	for (size_t i = 0; i < COUNT; i++) {
		if (!isfinite(doubles[i]))
			continue;
		base = size == 0 ? doubles[i] : base;
		size++;
		sum += doubles[i] - base;
		magnitude += fabs(doubles[i]);
		all += (long double)doubles[i] * doubles[i];
		zero_count += doubles[i] == 0;
	}
	for (size_t i = 0; i < COUNT; i++)
		if (isfinite(doubles[i]))
			squares +=
				(doubles[i] - base - sum / size) * (doubles[i] - base - sum / size);
	assert_int_equal(told->zero_count, zero_count);
	assert_near(told->mean, base + sum / size, 1e-17L * magnitude / size, "mean");
	assert_near(told->deviation, sqrtl(squares / size), 0, "deviation");
	if (told->nan_count + told->infinity_count == 0)
		assert_near(told->norm, sqrtl(all), 0, "norm");
}

/* In two halves, which are put together. */
static void count_all(const struct kernel *kernel, const struct dtype *dtype,
		      struct tensor_statistics *told)
{
	struct statistics first;
	struct statistics second;
	int64_t half = COUNT / 2;

	statistics_init(&first, kernel);
	statistics_init(&second, kernel);
	statistics_add(&first, dtype, bytes, half);
	statistics_add(&second, dtype, bytes + half * dtype->size, COUNT - half);
	statistics_merge(&first, &second);
	statistics_tell(&first, dtype, told);
}

static bool is_same_number(const struct tensor_number *one, const struct tensor_number *other)
{
	return one->kind == other->kind && one->integer == other->integer &&
	       one->real == other->real;
}

static void check(const struct dtype *dtype)
{
	struct tensor_statistics plain;

	count_all(&kernel_plain, dtype, &plain);
	for (size_t i = 0; kernel_at(i); i++) {
		struct tensor_statistics told;

		count_all(kernel_at(i), dtype, &told);
		assert_true_statistics(dtype, &told);
		assert_true(is_same_number(&told.minimum, &plain.minimum));
		assert_true(is_same_number(&told.maximum, &plain.maximum));
		assert_int_equal(told.nan_count, plain.nan_count);
		assert_int_equal(told.infinity_count, plain.infinity_count);
	}
}

/* The first three are floats. */
static const char *const names[] = {
	"float64", "float32", "bfloat16", "int64",  "int32", "int16",
	"int8",	   "uint64",  "uint32",	  "uint16", "uint8", "bool",
};

static void hard_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		const struct dtype *dtype = dtype_find(names[i]);

		for (size_t j = 0; j < ARRAY_LENGTH(patterns); j++) {
			for (size_t k = 0; k < COUNT; k++)
				put(dtype, k, patterns[j](k));
			check(dtype);
		}
	}
}

/* Subnormal ones among them, and then NaN and infinities as well. */
static void halves_of_all_bits(void **state)
{
	const struct dtype *dtype = dtype_find("float16");

	(void)state;
	put_bits(dtype, 31);
	check(dtype);
	put_bits(dtype, 1);
	check(dtype);
	put_bits(dtype, 32);
	check(dtype);
}

static void some_are_not_finite(void **state)
{

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct dtype *dtype = dtype_find(names[i]);
		struct tensor_statistics told;

		for (size_t j = 0; j < COUNT; j++)
			put(dtype, j, j / KERNEL_PART == 3 ? NAN : far_and_narrow(j));
		put(dtype, 0, NAN);
		put(dtype, 5000, INFINITY);
		put(dtype, 5001, -INFINITY);
		put(dtype, COUNT - 1, -NAN);
		check(dtype);
		for (size_t j = 0; kernel_at(j); j++) {
			count_all(kernel_at(j), dtype, &told);
			assert_int_equal(told.nan_count, KERNEL_PART + 2);
			assert_int_equal(told.infinity_count, 2);
			assert_true(isnan(told.norm));
		}
	}
}

static double mean_of_first(const struct kernel *kernel, int count)
{
	const struct dtype *dtype = dtype_find("float32");
	struct statistics statistics;
	struct tensor_statistics told;

	statistics_init(&statistics, kernel);
	statistics_add(&statistics, dtype, bytes, count);
	statistics_tell(&statistics, dtype, &told);
	return told.mean;
}

/* What has a sum that is exact has it, of whatever count. */
static void whole_numbers_are_exact(void **state)
{
	const struct dtype *dtype = dtype_find("float32");
	double sum = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		double value = 90000 + rint(20 * noise((size_t)i));

		put(dtype, (size_t)i, value);
		sum += value;
		for (size_t j = 0; i >= 1900 && kernel_at(j); j++)
			assert_true(mean_of_first(kernel_at(j), i + 1) == sum / (i + 1));
	}
	for (size_t i = 0; i < COUNT; i++)
		put(dtype, i, (double)i - (COUNT - 1) / 2.0);
	for (size_t i = 0; kernel_at(i); i++)
		assert_true(mean_of_first(kernel_at(i), COUNT) == 0);
}

static void too_large_is_infinite(void **state)
{
	const struct dtype *dtype = dtype_find("float64");
	struct tensor_statistics told;

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		put(dtype, i, i % 2 ? 1e300 : -2e300);
	for (size_t i = 0; kernel_at(i); i++) {
		count_all(kernel_at(i), dtype, &told);
		assert_near(told.mean, -5e299L, 0, "mean");
		assert_true(isinf(told.deviation) && isinf(told.norm));
	}
	for (size_t i = 0; i < COUNT; i++)
		put(dtype, i, 1.5e308);
	for (size_t i = 0; kernel_at(i); i++) {
		count_all(kernel_at(i), dtype, &told);
		assert_true(isinf(told.mean) && isinf(told.deviation));
		assert_true(told.maximum.real == 1.5e308);
		assert_int_equal(told.infinity_count, 0);
	}
}

/* Above what doubles hold, and beside the least one, which NaT is. */
static void bounds_of_large_integers(void **state)
{
	static const int64_t least = INT64_MIN;
	static const int64_t next = INT64_MIN + 1;
	static const int64_t most = INT64_MAX;
	struct tensor_statistics told;

	(void)state;
	memset(room, 0, sizeof(room));
	memcpy(bytes + 8000, &next, 8);
	memcpy(bytes + 48000, &most, 8);
	for (size_t i = 0; kernel_at(i); i++) {
		count_all(kernel_at(i), dtype_find("int64"), &told);
		assert_int_equal(told.minimum.integer, next);
		assert_int_equal(told.maximum.integer, most);
		assert_int_equal(told.zero_count, COUNT - 2);
		count_all(kernel_at(i), dtype_find("uint64"), &told);
		assert_int_equal(told.minimum.integer, 0);
		assert_int_equal(told.maximum.kind, TENSOR_NUMBER_UNSIGNED);
		assert_int_equal(told.maximum.integer, next);
	}
	memcpy(bytes + 16000, &least, 8);
	for (size_t i = 0; kernel_at(i); i++) {
		count_all(kernel_at(i), dtype_find("int64"), &told);
		assert_int_equal(told.minimum.integer, least);
		count_all(kernel_at(i), dtype_find("datetime64"), &told);
		assert_int_equal(told.minimum.integer, next);
		assert_int_equal(told.nan_count, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hard_numbers),		 cmocka_unit_test(halves_of_all_bits),
		cmocka_unit_test(some_are_not_finite),	 cmocka_unit_test(whole_numbers_are_exact),
		cmocka_unit_test(too_large_is_infinite), cmocka_unit_test(bounds_of_large_integers),
	};

	return cmocka_run_group_tests_name("tensor-statistics", tests, NULL, NULL);
}
