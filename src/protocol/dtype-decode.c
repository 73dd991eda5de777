/*
 * A small float becomes a float32 in two steps: its exponent and mantissa are moved to where a
 * float32 has these bits, then the result is multiplied by the power of two that corrects the
 * exponent's bias. Both steps are exact, for subnormal numbers, too.
 */
#include "protocol/dtype-decode.h"

#include <math.h>
#include <string.h>

#include "banned.h"

#define INFINITE_BITS UINT32_C(0x7f800000)
#define NAN_BITS UINT32_C(0x7fc00000)

static float dtype_decode_to_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Takes the bits of a float32 and returns the bits of that float32 multiplied by power. */
static uint32_t scale(uint32_t bits, float power)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	value *= power;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

void narrow_bool(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = bytes[i] != 0;
}

void narrow_int8(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (int8_t)bytes[i];
}

void narrow_uint8(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = bytes[i];
}

void narrow_int16(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++) {
		int16_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		out[i] = value;
	}
}

void narrow_uint16(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++) {
		uint16_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		out[i] = value;
	}
}

void decode_int32(const uint8_t *bytes, size_t count, double *out)
{
	for (size_t i = 0; i < count; i++) {
		int32_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		out[i] = value;
	}
}

void decode_uint32(const uint8_t *bytes, size_t count, double *out)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		out[i] = value;
	}
}

void decode_int64(const uint8_t *bytes, size_t count, double *out)
{
	for (size_t i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		out[i] = (double)value;
	}
}

void decode_uint64(const uint8_t *bytes, size_t count, double *out)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		out[i] = (double)value;
	}
}

void decode_time(const uint8_t *bytes, size_t count, double *out)
{
	for (size_t i = 0; i < count; i++) {
		int64_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		out[i] = value == INT64_MIN ? NAN : (double)value;
	}
}

/* float16: five bits of exponent and ten of mantissa. */
static float half(uint32_t bits)
{
	uint32_t rest = bits & 0x7fff;
	uint32_t value = scale(rest << 13, 0x1p112f);

	value |= rest >= 0x7c00 ? INFINITE_BITS : 0;
	return dtype_decode_to_float(value | (bits & 0x8000) << 16);
}

void narrow_float16(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++) {
		uint16_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		out[i] = half(value);
	}
}

void narrow_bfloat16(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++) {
		uint16_t value;

		memcpy(&value, bytes + i * sizeof(value), sizeof(value));
		out[i] = dtype_decode_to_float((uint32_t)value << 16);
	}
}

void narrow_float32(const uint8_t *bytes, size_t count, float *out)
{
	memcpy(out, bytes, count * sizeof(*out));
}

void decode_float64(const uint8_t *bytes, size_t count, double *out)
{
	memcpy(out, bytes, count * sizeof(*out));
}

/*
 * Decodes x87's 80-bit float. A non-zero exponent with a mantissa whose explicit leading bit is 0,
 * which the processor refuses as invalid, becomes NaN.
 */
static double extended(const uint8_t *bytes)
{
	uint64_t mantissa;
	uint16_t head;
	double value;
	int exponent;

	memcpy(&mantissa, bytes, sizeof(mantissa));
	memcpy(&head, bytes + sizeof(mantissa), sizeof(head));
	exponent = head & 0x7fff;
	if (exponent && !(mantissa >> 63))
		value = NAN;
	else if (exponent == 0x7fff)
		value = mantissa << 1 ? NAN : INFINITY;
	else
		value = ldexp((double)mantissa, (exponent ? exponent : 1) - 16383 - 63);
	return head >> 15 ? -value : value;
}

void decode_longdouble(const uint8_t *bytes, size_t count, double *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = extended(bytes + i * 16);
}

void narrow_e5m2(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = half((uint32_t)bytes[i] << 8);
}

/* Four bits of exponent, no infinity; one NaN for each sign. */
void narrow_e4m3fn(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t rest = bytes[i] & 0x7fu;
		uint32_t value = scale(rest << 20, 0x1p120f);

		value |= rest == 0x7f ? NAN_BITS : 0;
		out[i] = dtype_decode_to_float(value | (bytes[i] & 0x80u) << 24);
	}
}

/* Formats without infinities; the pattern of negative zero is the only NaN. */
static float without_zero(uint32_t byte, int shift, float power)
{
	uint32_t value = scale((byte & 0x7f) << shift, power);

	value |= byte == 0x80 ? NAN_BITS : 0;
	return dtype_decode_to_float(value | (byte & 0x80) << 24);
}

void narrow_e5m2fnuz(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = without_zero(bytes[i], 21, 0x1p111f);
}

void narrow_e4m3fnuz(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = without_zero(bytes[i], 20, 0x1p119f);
}

/* Eight bits of exponent, no sign, no mantissa: a power of two; 0 becomes a subnormal float32. */
void narrow_e8m0fnu(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t bits = bytes[i] == 0 ? UINT32_C(1) << 22 : (uint32_t)bytes[i] << 23;

		out[i] = dtype_decode_to_float(bytes[i] == 0xff ? NAN_BITS : bits);
	}
}

/*
 * Formats whose greatest exponent means infinity or NaN; least is the smallest bit pattern with
 * that exponent.
 */
static float with_infinity(uint32_t byte, int shift, float power, uint32_t least)
{
	uint32_t rest = byte & 0x7f;
	uint32_t value = scale(rest << shift, power);

	value |= rest >= least ? INFINITE_BITS : 0;
	return dtype_decode_to_float(value | (byte & 0x80) << 24);
}

void narrow_e3m4(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = with_infinity(bytes[i], 19, 0x1p124f, 0x70);
}

void narrow_e4m3(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = with_infinity(bytes[i], 20, 0x1p120f, 0x78);
}

void narrow_e4m3b11fnuz(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = without_zero(bytes[i], 20, 0x1p116f);
}

/* Formats smaller than a byte, without infinities and NaN; sign is the mask of the highest bit. */
static float without_infinity(uint32_t byte, uint32_t sign, int shift, float power)
{
	uint32_t value = scale((byte & (sign - 1)) << shift, power);

	return dtype_decode_to_float(byte & sign ? value | UINT32_C(1) << 31 : value);
}

void narrow_e2m3fn(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = without_infinity(bytes[i], 0x20, 20, 0x1p126f);
}

void narrow_e3m2fn(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = without_infinity(bytes[i], 0x20, 21, 0x1p124f);
}

void narrow_e2m1fn(const uint8_t *bytes, size_t count, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = without_infinity(bytes[i], 0x08, 22, 0x1p126f);
}

/* Integers smaller than a byte; sign is the mask of the highest bit. */
static void narrow_signed(const uint8_t *bytes, size_t count, int sign, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (float)((bytes[i] & (sign - 1)) - (bytes[i] & sign));
}

static void narrow_unsigned(const uint8_t *bytes, size_t count, int mask, float *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (float)(bytes[i] & mask);
}

void narrow_int1(const uint8_t *bytes, size_t count, float *out)
{
	narrow_signed(bytes, count, 0x1, out);
}

void narrow_int2(const uint8_t *bytes, size_t count, float *out)
{
	narrow_signed(bytes, count, 0x2, out);
}

void narrow_int4(const uint8_t *bytes, size_t count, float *out)
{
	narrow_signed(bytes, count, 0x8, out);
}

void narrow_uint1(const uint8_t *bytes, size_t count, float *out)
{
	narrow_unsigned(bytes, count, 0x1, out);
}

void narrow_uint2(const uint8_t *bytes, size_t count, float *out)
{
	narrow_unsigned(bytes, count, 0x3, out);
}

void narrow_uint4(const uint8_t *bytes, size_t count, float *out)
{
	narrow_unsigned(bytes, count, 0xf, out);
}

void narrow_bcomplex32(const uint8_t *bytes, size_t count, float *out)
{
	narrow_bfloat16(bytes, count * 2, out);
}

void narrow_complex32(const uint8_t *bytes, size_t count, float *out)
{
	narrow_float16(bytes, count * 2, out);
}

void narrow_complex64(const uint8_t *bytes, size_t count, float *out)
{
	narrow_float32(bytes, count * 2, out);
}

void decode_floats(const float *values, size_t count, double *out)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (double)values[i];
}

void decode_complex128(const uint8_t *bytes, size_t count, double *out)
{
	decode_float64(bytes, count * 2, out);
}

void decode_clongdouble(const uint8_t *bytes, size_t count, double *out)
{
	decode_longdouble(bytes, count * 2, out);
}
