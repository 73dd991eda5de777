#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pynumber.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/buffer.h"

#define PRECISION_MAXIMUM 17

/* The number digits * 10^exponent. */
struct decimal {
	uint64_t digits;
	int exponent;
};

/*
 * Rounds to half precision, ties to even: 11 significant bits; below 2**-14 subnormal (steps of
 * 2**-24).
 */
static double nearest_half(double number)
{
	int exponent;

	frexp(number, &exponent);
	if (exponent < -13)
		exponent = -13;
	double steps = ldexp(number, 11 - exponent);
	uint64_t whole = (uint64_t)steps;
	double rest = steps - (double)whole;
	if (rest > 0.5 || (rest == 0.5 && whole % 2))
		whole++;
	return ldexp((double)whole, exponent - 11);
}

/* True if decimal parses to number in this width; neither is negative. */
static bool reads_back(const struct decimal *decimal, double number, enum pyfloat_width width)
{
	char text[48];

	/* No decimal point, so the locale does not matter. */
	snprintf(text, sizeof(text), "%" PRIu64 "e%d", decimal->digits, decimal->exponent);
	switch (width) {
	case PYFLOAT_HALF:
		return nearest_half(strtod(text, NULL)) == number;
	case PYFLOAT_SINGLE:
		return (double)strtof(text, NULL) == number;
	case PYFLOAT_DOUBLE:
		break;
	}
	return strtod(text, NULL) == number;
}

/* The nearest decimal with precision digits. */
static struct decimal round_to(double number, int precision)
{
	struct decimal decimal = { 0, 0 };
	char text[48];
	const char *at;

	snprintf(text, sizeof(text), "%.*e", precision - 1, number);
	for (at = text; *at && *at != 'e'; at++) {
		if (*at >= '0' && *at <= '9')
			decimal.digits = decimal.digits * 10 + (uint64_t)(*at - '0');
	}
	if (*at)
		decimal.exponent = (int)strtol(at + 1, NULL, 10) - (precision - 1);
	return decimal;
}

static struct decimal shortest(double number, enum pyfloat_width width)
{
	struct decimal decimal = { 0, 0 };

	for (int i = 1; i <= PRECISION_MAXIMUM; i++) {
		decimal = round_to(number, i);
		if (reads_back(&decimal, number, width))
			return decimal;
		/*
		 * Above a power of two floats lie twice as far apart as below
		 * it: the next decimal up may do where the nearest does not.
		 */
		decimal.digits++;
		if (i < PRECISION_MAXIMUM && reads_back(&decimal, number, width))
			return decimal;
	}
	return round_to(number, PRECISION_MAXIMUM);
}

/* float_repr_style 'short', as in format_float_short in Python/pystrtod.c. */
static void pyfloat_put_decimal(struct buffer *out, const struct decimal *decimal, bool has_point)
{
	char digits[24];
	int count, point;

	count = snprintf(digits, sizeof(digits), "%" PRIu64, decimal->digits);
	point = count + decimal->exponent;
	while (count > 1 && digits[count - 1] == '0')
		count--;
	if (point > 16 || point < -3) {
		buffer_append(out, digits, 1);
		if (count > 1)
			buffer_printf(out, ".%.*s", count - 1, digits + 1);
		buffer_printf(out, "e%c%02d", point > 0 ? '+' : '-', abs(point - 1));
		return;
	}
	if (point <= 0) {
		buffer_printf(out, "0.%.*s%.*s", -point, "000", count, digits);
		return;
	}
	for (int i = 0; i < point; i++)
		buffer_append_char(out, i < count ? digits[i] : '0');
	if (count > point)
		buffer_printf(out, ".%.*s", count - point, digits + point);
	else if (has_point)
		buffer_append_string(out, ".0");
}

static void pyfloat_put_number(struct buffer *out, double number, enum pyfloat_width width,
			       bool has_point)
{
	struct decimal decimal = { 0, 0 };

	if (isnan(number)) {
		buffer_append_string(out, "nan");
		return;
	}
	if (signbit(number))
		buffer_append_char(out, '-');
	if (isinf(number)) {
		buffer_append_string(out, "inf");
		return;
	}
	if (number != 0)
		decimal = shortest(fabs(number), width);
	pyfloat_put_decimal(out, &decimal, has_point);
}

void pyfloat_put(struct buffer *out, double number, enum pyfloat_width width)
{
	pyfloat_put_number(out, number, width, true);
}

double pyfloat_half(uint16_t bits)
{
	int exponent = bits >> 10 & 0x1f;
	double fraction = bits & 0x3ff;
	double number;

	if (exponent == 0x1f)
		number = fraction != 0 ? NAN : INFINITY;
	else if (exponent)
		number = ldexp(fraction + 1024, exponent - 25);
	else
		number = ldexp(fraction, -24);
	return bits & 0x8000 ? -number : number;
}

void pyfloat_write(struct pywriter *writer, uint64_t address)
{
	uint64_t at = address + (uint64_t)writer->reader->python->offsets.float_val;
	double number;

	if (pyreader_read(writer->reader, at, &number, sizeof(number)))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else
		pyfloat_put(writer->out, number, PYFLOAT_DOUBLE);
}

/* As in complex_repr in Objects/complexobject.c. */
void pycomplex_put(struct buffer *out, const double *parts, enum pyfloat_width width)
{
	bool has_real = parts[0] != 0 || signbit(parts[0]);

	if (has_real) {
		buffer_append_char(out, '(');
		pyfloat_put_number(out, parts[0], width, false);
		if (isnan(parts[1]) || !signbit(parts[1]))
			buffer_append_char(out, '+');
	}
	pyfloat_put_number(out, parts[1], width, false);
	buffer_append_string(out, has_real ? "j)" : "j");
}

void pycomplex_write(struct pywriter *writer, uint64_t address)
{
	uint64_t at = address + PYREADER_HEAD;
	double parts[2];

	if (pyreader_read(writer->reader, at, parts, sizeof(parts)))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else
		pycomplex_put(writer->out, parts, PYFLOAT_DOUBLE);
}
