/*
 * dtype: numbers as formats define them, worked out here from sign, exponent
 * and mantissa, and not as dtype-decode does it.
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

#include "base/array.h"
#include "protocol/dtype.h"
#include "protocol/tensor.h"

static const struct format {
	const char *name;
	int bits;
	int mantissa;
	int bias;
	bool has_infinity; /* the greatest exponent is of these and NaN */
	uint32_t nan;	   /* else: the one NaN, */
	uint32_t other;	   /* and the other one */
} formats[] = {
	{ "float16", 16, 10, 15, true, 0, 0 },
	{ "bfloat16", 16, 7, 127, true, 0, 0 },
	{ "float8_e5m2", 8, 2, 15, true, 0, 0 },
	{ "float8_e4m3fn", 8, 3, 7, false, 0x7f, 0xff },
	{ "float8_e5m2fnuz", 8, 2, 16, false, 0x80, 0x80 },
	{ "float8_e4m3fnuz", 8, 3, 8, false, 0x80, 0x80 },
	{ "float8_e3m4", 8, 4, 3, true, 0, 0 },
	{ "float8_e4m3", 8, 3, 7, true, 0, 0 },
	{ "float8_e4m3b11fnuz", 8, 3, 11, false, 0x80, 0x80 },
	{ "float6_e2m3fn", 6, 3, 1, false, UINT32_MAX, UINT32_MAX },
	{ "float6_e3m2fn", 6, 2, 3, false, UINT32_MAX, UINT32_MAX },
	{ "float4_e2m1fn", 4, 1, 1, false, UINT32_MAX, UINT32_MAX },
};

static double value_of(const struct format *format, uint32_t bits)
{
	int exponents = format->bits - 1 - format->mantissa;
	uint32_t mantissa = bits & ((1u << format->mantissa) - 1);
	int exponent = (int)(bits >> format->mantissa) & ((1 << exponents) - 1);
	double sign = bits >> (format->bits - 1) ? -1 : 1;

	if (format->has_infinity && exponent == (1 << exponents) - 1)
		return mantissa ? NAN : sign * INFINITY;
	if (!format->has_infinity && (bits == format->nan || bits == format->other))
		return NAN;
	if (exponent == 0)
		return sign * ldexp(mantissa, 1 - format->bias - format->mantissa);
	return sign * ldexp(mantissa + (1u << format->mantissa),
			    exponent - format->bias - format->mantissa);
}

static void assert_same(double one, double other)
{
	if (isnan(one) || isnan(other))
		assert_true(isnan(one) && isnan(other));
	else
		assert_true(one == other && signbit(one) == signbit(other));
}

static void small_floats_are_what_their_bits_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) {
		const struct dtype *dtype = dtype_find(formats[i].name);

		assert_non_null(dtype);
		assert_int_equal(dtype->size, (formats[i].bits + 7) / 8);
		for (uint32_t bits = 0; bits < 1u << formats[i].bits; bits++) {
			double value;

			dtype_decode(dtype, (const uint8_t *)&bits, 1, &value);
			assert_same(value, value_of(&formats[i], bits));
		}
	}
}

/* What stands above the bits of a number of less than a byte is no part of
 * it. */
static void parts_of_a_byte(void **state)
{
	static const struct {
		const char *name;
		uint8_t byte;
		int64_t value;
	} rows[] = {
		{ "ml_dtypes.int4", 0x07, 7 },	 { "ml_dtypes.int4", 0x08, -8 },
		{ "ml_dtypes.int4", 0xff, -1 },	 { "ml_dtypes.int4", 0xf3, 3 },
		{ "ml_dtypes.uint4", 0xfe, 14 }, { "ml_dtypes.int2", 0x02, -2 },
		{ "ml_dtypes.int2", 0xfd, 1 },	 { "ml_dtypes.uint2", 0xff, 3 },
		{ "ml_dtypes.int1", 0x01, -1 },	 { "ml_dtypes.int1", 0xfe, 0 },
		{ "ml_dtypes.uint1", 0xff, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		const struct dtype *dtype = dtype_find(rows[i].name);
		struct tensor_number number;
		double value;

		assert_non_null(dtype);
		dtype_decode(dtype, &rows[i].byte, 1, &value);
		assert_true(value == (double)rows[i].value);
		dtype_number(dtype, &rows[i].byte, 1, &number);
		assert_int_equal(number.kind, TENSOR_NUMBER_INTEGER);
		assert_int_equal(number.integer, rows[i].value);
		assert_int_not_equal(dtype_bits(dtype), UINT8_MAX);
	}
	assert_int_equal(dtype_bits(dtype_find("uint8")), UINT8_MAX);
	/* torch has types of these names, whose bytes are its user's. */
	assert_int_equal(dtype_find("int4")->class, DTYPE_OPAQUE);
}

static void powers_of_two_alone(void **state)
{
	const struct dtype *dtype = dtype_find("float8_e8m0fnu");
	double value;

	(void)state;
	for (int bits = 0; bits < 255; bits++) {
		uint8_t byte = (uint8_t)bits;

		dtype_decode(dtype, &byte, 1, &value);
		assert_same(value, ldexp(1, bits - 127));
	}
	dtype_decode(dtype, (const uint8_t *)"\xff", 1, &value);
	assert_true(isnan(value));
}

/* As Python's struct.pack() and numpy's tobytes() write them. */
static const struct example {
	const char *name;
	const char *bytes;
	size_t length;
	double real;
	double imaginary;
} examples[] = {
	{ "float32", "\x00\x00\xc0\xbf", 4, -1.5, 0 },
	{ "float64", "\x9a\x99\x99\x99\x99\x99\xb9\x3f", 8, 0.1, 0 },
	{ "longdouble", "\0\0\0\0\0\0\0\xc0\xff\xbf\0\0\0\0\0\0", 16, -1.5, 0 },
	{ "float128", "\0\0\0\0\0\0\0\x80\xff\x7f\1\2\3\4\5\6", 16, INFINITY, 0 },
	{ "longdouble", "\1\0\0\0\0\0\0\x80\xff\x7f\0\0\0\0\0\0", 16, NAN, 0 },
	/* No leading bit: processors take it for no number. */
	{ "longdouble", "\1\0\0\0\0\0\0\0\xff\x3f\0\0\0\0\0\0", 16, NAN, 0 },
	{ "complex64", "\0\0\x80\x3f\0\0\0\xc0", 8, 1, -2 },
	{ "complex32", "\x00\x3c\x00\xc0", 4, 1, -2 },
	{ "complex128", "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\x7f", 16, 1, INFINITY },
};

static void floats_and_complex_numbers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(examples); i++) {
		const struct example *example = &examples[i];
		const struct dtype *dtype = dtype_find(example->name);
		struct tensor_number number;

		assert_int_equal(dtype->size, example->length);
		dtype_number(dtype, (const uint8_t *)example->bytes, example->length, &number);
		assert_same(number.real, example->real);
		assert_same(number.imaginary, example->imaginary);
		assert_int_equal(number.kind, dtype->class == DTYPE_COMPLEX ? TENSOR_NUMBER_COMPLEX
									    : TENSOR_NUMBER_REAL);
	}
}

static const struct {
	const char *name;
	const char *bytes;
	enum tensor_number_kind kind;
	int64_t value;
} integers[] = {
	{ "int8", "\x80", TENSOR_NUMBER_INTEGER, -128 },
	{ "uint8", "\xff", TENSOR_NUMBER_INTEGER, 255 },
	{ "int16", "\xfe\xff", TENSOR_NUMBER_INTEGER, -2 },
	{ "uint16", "\xfe\xff", TENSOR_NUMBER_INTEGER, 65534 },
	{ "int32", "\0\0\0\x80", TENSOR_NUMBER_INTEGER, INT32_MIN },
	{ "uint32", "\0\0\0\x80", TENSOR_NUMBER_INTEGER, 0x80000000 },
	{ "int64", "\1\0\0\0\0\0\0\x80", TENSOR_NUMBER_INTEGER, INT64_MIN + 1 },
	{ "uint64", "\xff\xff\xff\xff\xff\xff\xff\xff", TENSOR_NUMBER_UNSIGNED, -1 },
	{ "uint64", "\5\0\0\0\0\0\0\0", TENSOR_NUMBER_INTEGER, 5 },
	{ "bool", "\2", TENSOR_NUMBER_BOOLEAN, 1 },
	{ "bool", "\0", TENSOR_NUMBER_BOOLEAN, 0 },
	{ "datetime64[ns]", "\1\0\0\0\0\0\0\0", TENSOR_NUMBER_INTEGER, 1 },
	{ "timedelta64", "\0\0\0\0\0\0\0\x80", TENSOR_NUMBER_REAL, INT64_MIN },
};

static void integers_are_exact(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(integers); i++) {
		const struct dtype *dtype = dtype_find(integers[i].name);
		struct tensor_number number;

		dtype_number(dtype, (const uint8_t *)integers[i].bytes, (size_t)dtype->size,
			     &number);
		assert_int_equal(number.kind, integers[i].kind);
		assert_int_equal(number.integer, integers[i].value);
	}
}

static const struct {
	const char *name;
	const char *bytes;
	size_t length;
	const char *text; /* NULL: unknown */
} texts[] = {
	{ "str3", "a\0\0\0\xe4\0\0\0\0\0\0\0", 12, "a\xc3\xa4" },
	{ "str", "\0\xf6\1\0", 4, "\xf0\x9f\x98\x80" },
	{ "str1", "\xff\xff\xff\xff", 4, "\xef\xbf\xbd" },
	{ "bytes4", "a'\1\0", 4, "b'a\\x27\\x01'" },
	{ "void2", "\xab\x01", 2, "0xab01" },
	{ "object", "\1\2\3\4\5\6\7\0", 8, NULL },
};

static void what_is_no_number_is_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		const struct dtype *dtype = dtype_find(texts[i].name);
		struct tensor_number number;

		assert_false(dtype_is_number(dtype));
		dtype_number(dtype, (const uint8_t *)texts[i].bytes, texts[i].length, &number);
		if (texts[i].text)
			assert_string_equal(number.text, texts[i].text);
		else
			assert_int_equal(number.kind, TENSOR_NUMBER_UNKNOWN);
		tensor_number_clear(&number);
	}
}

static void names(void **state)
{
	(void)state;
	assert_ptr_equal(dtype_find(">float32"), dtype_find("float32"));
	assert_true(dtype_is_swapped_name(">float32"));
	assert_false(dtype_is_swapped_name("<float32"));
	assert_null(dtype_find("float32x"));
	assert_null(dtype_find("float"));
	assert_null(dtype_find("strange"));
	assert_null(dtype_find(""));
	assert_int_equal(dtype_find("quint4x2")->class, DTYPE_PACKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_floats_are_what_their_bits_say),
		cmocka_unit_test(parts_of_a_byte),
		cmocka_unit_test(powers_of_two_alone),
		cmocka_unit_test(floats_and_complex_numbers),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(what_is_no_number_is_text),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
