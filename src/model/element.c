#include "model/element.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "protocol/tensor.h"

/* clang-format off */
static const struct element_type types[] = {
	{ .name = "bool", .size = 1, .kind = ELEMENT_BOOLEAN, .npy = "|b1" },
	{ .name = "int8", .size = 1, .kind = ELEMENT_SIGNED, .npy = "|i1" },
	{ .name = "int16", .size = 2, .kind = ELEMENT_SIGNED, .npy = "<i2" },
	{ .name = "int32", .size = 4, .kind = ELEMENT_SIGNED, .npy = "<i4" },
	{ .name = "int64", .size = 8, .kind = ELEMENT_SIGNED, .npy = "<i8" },
	{ .name = "uint8", .size = 1, .kind = ELEMENT_UNSIGNED, .npy = "|u1" },
	{ .name = "uint16", .size = 2, .kind = ELEMENT_UNSIGNED, .npy = "<u2" },
	{ .name = "uint32", .size = 4, .kind = ELEMENT_UNSIGNED, .npy = "<u4" },
	{ .name = "uint64", .size = 8, .kind = ELEMENT_UNSIGNED, .npy = "<u8" },
	{ .name = "float32", .size = 4, .kind = ELEMENT_FLOAT, .npy = "<f4" },
	{ .name = "float64", .size = 8, .kind = ELEMENT_FLOAT, .npy = "<f8" },
	{ .name = "complex64", .size = 8, .kind = ELEMENT_COMPLEX, .npy = "<c8" },
	{ .name = "complex128", .size = 16, .kind = ELEMENT_COMPLEX, .npy = "<c16" },
	{ .name = "float16", .size = 2, .kind = ELEMENT_SMALL,
	  .bits = { 5, 10, 15, ELEMENT_IEEE }, .npy = "<f2" },
	{ .name = "bfloat16", .size = 2, .kind = ELEMENT_SMALL,
	  .bits = { 8, 7, 127, ELEMENT_IEEE } },
	{ .name = "float8_e5m2", .size = 1, .kind = ELEMENT_SMALL,
	  .bits = { 5, 2, 15, ELEMENT_IEEE } },
	{ .name = "float8_e4m3fn", .size = 1, .kind = ELEMENT_SMALL,
	  .bits = { 4, 3, 7, ELEMENT_FINITE } },
	{ .name = "float8_e5m2fnuz", .size = 1, .kind = ELEMENT_SMALL,
	  .bits = { 5, 2, 16, ELEMENT_NO_ZERO } },
	{ .name = "float8_e4m3fnuz", .size = 1, .kind = ELEMENT_SMALL,
	  .bits = { 4, 3, 8, ELEMENT_NO_ZERO } },
	{ .name = "float8_e8m0fnu", .size = 1, .kind = ELEMENT_SMALL,
	  .bits = { 8, 0, 127, ELEMENT_POWER } },
};
/* clang-format on */

const struct element_type *element_type_find(const char *dtype)
{
	if (!dtype)
		return NULL;
	/* Values come in one byte order, whatever they lie in. */
	if (*dtype != '\0' && strchr("<>=|", *dtype))
		dtype++;
	for (size_t i = 0; i < ARRAY_LENGTH(types); i++)
		if (strcmp(types[i].name, dtype) == 0)
			return &types[i];
	return NULL;
}

static uint64_t read_bits(const uint8_t *bytes, int size)
{
	uint64_t bits = 0;

	for (int i = 0; i < size && i < 8; i++)
		bits |= (uint64_t)bytes[i] << (8 * i);
	return bits;
}

static int64_t read_signed(const uint8_t *bytes, int size)
{
	uint64_t bits = read_bits(bytes, size);
	int unused = 64 - 8 * size;

	/* The sign is copied without shifts of negative numbers. */
	if (unused > 0 && bits >> (8 * size - 1))
		bits |= ~UINT64_C(0) << (64 - unused);
	return (int64_t)bits;
}

static bool is_no_number(const struct element_bits *bits, uint64_t value,
			 uint64_t magnitude)
{
	uint64_t last = (UINT64_C(1) << (bits->exponent_bits +
					 bits->mantissa_bits)) -
			1;

	switch (bits->flavour) {
	case ELEMENT_IEEE:
		break;
	case ELEMENT_FINITE:
	case ELEMENT_POWER:
		return magnitude == last;
	case ELEMENT_NO_ZERO:
		return magnitude == 0 && value != 0;
	}
	return false;
}

static double read_small(const struct element_type *type, uint64_t value)
{
	const struct element_bits *bits = &type->bits;
	bool has_sign = bits->flavour != ELEMENT_POWER;
	uint64_t sign = has_sign ? value >> (8 * type->size - 1) : 0;
	uint64_t magnitude =
		has_sign ? value & ~(UINT64_C(1) << (8 * type->size - 1))
			 : value;
	uint64_t mantissa =
		magnitude & ((UINT64_C(1) << bits->mantissa_bits) - 1);
	uint64_t top = (UINT64_C(1) << bits->exponent_bits) - 1;
	int exponent = (int)(magnitude >> bits->mantissa_bits);
	double real;

	if (is_no_number(bits, value, magnitude))
		return NAN;
	if (bits->flavour == ELEMENT_IEEE && (uint64_t)exponent == top)
		real = mantissa ? NAN : INFINITY;
	else if (exponent == 0 && has_sign)
		real = ldexp((double)mantissa,
			     1 - bits->bias - bits->mantissa_bits);
	else
		real = ldexp((double)(mantissa |
				      UINT64_C(1) << bits->mantissa_bits),
			     exponent - bits->bias - bits->mantissa_bits);
	return sign ? -real : real;
}

static double read_float(const uint8_t *bytes, int size)
{
	uint64_t bits = read_bits(bytes, size);
	uint32_t half = (uint32_t)bits;
	double real;
	float single;

	if (size == 4) {
		memcpy(&single, &half, sizeof(single));
		return (double)single;
	}
	memcpy(&real, &bits, sizeof(real));
	return real;
}

void element_read(const struct element_type *type, const uint8_t *bytes,
		  struct tensor_number *number)
{
	int size = type->size;

	*number = (struct tensor_number){ .kind = TENSOR_NUMBER_REAL };
	switch (type->kind) {
	case ELEMENT_BOOLEAN:
		number->kind = TENSOR_NUMBER_BOOLEAN;
		number->integer = bytes[0] != 0;
		break;
	case ELEMENT_SIGNED:
		number->kind = TENSOR_NUMBER_INTEGER;
		number->integer = read_signed(bytes, size);
		break;
	case ELEMENT_UNSIGNED:
		number->integer = (int64_t)read_bits(bytes, size);
		number->kind = number->integer < 0 ? TENSOR_NUMBER_UNSIGNED
						   : TENSOR_NUMBER_INTEGER;
		break;
	case ELEMENT_FLOAT:
		number->real = read_float(bytes, size);
		break;
	case ELEMENT_COMPLEX:
		number->kind = TENSOR_NUMBER_COMPLEX;
		number->real = read_float(bytes, size / 2);
		number->imaginary = read_float(bytes + size / 2, size / 2);
		break;
	case ELEMENT_SMALL:
		number->real = read_small(type, read_bits(bytes, size));
		break;
	}
}

double element_real(const struct element_type *type, const uint8_t *bytes)
{
	struct tensor_number number;

	element_read(type, bytes, &number);
	switch (number.kind) {
	case TENSOR_NUMBER_REAL:
	case TENSOR_NUMBER_COMPLEX:
		return number.real;
	case TENSOR_NUMBER_UNSIGNED:
		return (double)(uint64_t)number.integer;
	case TENSOR_NUMBER_INTEGER:
	case TENSOR_NUMBER_BOOLEAN:
		return (double)number.integer;
	case TENSOR_NUMBER_UNKNOWN:
	case TENSOR_NUMBER_TEXT:
		break;
	}
	return NAN;
}

static double distance(double a, double b)
{
	if (a == b || (isnan(a) && isnan(b)))
		return 0;
	if (!isfinite(a) || !isfinite(b))
		return NAN;
	return fabs(a - b);
}

/* Exact: two large integers may be the same double. */
static double integer_distance(const struct tensor_number *a,
			       const struct tensor_number *b, bool is_signed)
{
	uint64_t one = (uint64_t)a->integer;
	uint64_t other = (uint64_t)b->integer;
	bool is_less =
		is_signed ? a->integer < b->integer : one < other;

	return (double)(is_less ? other - one : one - other);
}

double element_distance(const struct element_type *type, const uint8_t *a,
			const uint8_t *b)
{
	struct tensor_number one;
	struct tensor_number other;
	double real;

	element_read(type, a, &one);
	element_read(type, b, &other);
	if (type->kind <= ELEMENT_UNSIGNED)
		return integer_distance(&one, &other,
					type->kind != ELEMENT_UNSIGNED);
	real = distance(one.real, other.real);
	if (type->kind != ELEMENT_COMPLEX)
		return real;
	return hypot(real, distance(one.imaginary, other.imaginary));
}
