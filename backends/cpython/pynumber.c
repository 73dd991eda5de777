#include "backends/cpython/pynumber.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/array.h"
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

/* True if decimal, parsed as a float of this width, equals number. Neither may be negative. */
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
		 * At a power of two the gap to the next greater float is twice the gap to the next
		 * smaller one, so the next greater decimal may read back where the nearest decimal
		 * does not.
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

/* Bits in a digit of an int (PyLong_SHIFT of every 64-bit build); the lowest digit comes first. */
#define SHIFT 30
/* CPython's limit for conversion to decimal (sys.set_int_max_str_digits). */
#define DECIMALS_MAXIMUM 4300
#define DIGITS_MAXIMUM (DECIMALS_MAXIMUM * 10 / 3 / SHIFT + 2)
/* A limb holds nine decimal digits. */
#define LIMB 1000000000u
#define LIMBS_MAXIMUM (DIGITS_MAXIMUM * SHIFT / 29 + 2)

struct integer {
	bool is_negative;
	int64_t digit_count;
	uint32_t digits[DIGITS_MAXIMUM]; /* only filled if digit_count is at most DIGITS_MAXIMUM */
	uint32_t top;
};

/* Up to 3.11 ob_size has the sign; later lv_tag is count << 3 | sign. */
static int read_size(struct pyreader *reader, uint64_t address, struct integer *integer)
{
	const struct offsets *at = &reader->python->offsets;
	int64_t tag;

	if (pyreader_read(reader, address + (uint64_t)at->long_tag, &tag, sizeof(tag)) ||
	    tag == INT64_MIN)
		return -1;
	if (reader->python->minor < 12) {
		integer->is_negative = tag < 0;
		integer->digit_count = tag < 0 ? -tag : tag;
	} else {
		integer->is_negative = (tag & 3) == 2;
		integer->digit_count = (tag & 3) == 1 ? 0 : tag >> 3;
	}
	/* A larger int would not fit into any memory: malformed. */
	if (integer->digit_count < 0 || integer->digit_count > UINT32_MAX)
		return -1;
	return 0;
}

static int integer_read(struct pyreader *reader, uint64_t address, struct integer *integer)
{
	uint64_t digits = address + (uint64_t)reader->python->offsets.long_digit;
	int64_t count;

	if (!pytype_has(reader, address, PYTYPE_INTEGER) || read_size(reader, address, integer))
		return -1;
	count = integer->digit_count;
	if (!count)
		return 0;
	if (pyreader_read(reader, digits + 4 * (uint64_t)(count - 1), &integer->top,
			  sizeof(integer->top)) ||
	    !integer->top || integer->top >> SHIFT)
		return -1;
	if (count > DIGITS_MAXIMUM)
		return 0;
	if (pyreader_read(reader, digits, integer->digits, 4 * (size_t)count))
		return -1;
	for (int64_t i = 0; i < count; i++) {
		if (integer->digits[i] >> SHIFT)
			return -1;
	}
	return 0;
}

int pyobject_integer(struct pyreader *reader, uint64_t address, int64_t *value)
{
	struct integer integer;
	uint64_t magnitude = 0;

	if (integer_read(reader, address, &integer))
		return -1;
	/* Two digits are 60 bits; an int64_t has room for three bits of a third digit. */
	if (integer.digit_count > 3 || (integer.digit_count == 3 && integer.top > 7))
		return -1;
	for (int64_t i = integer.digit_count; i-- > 0;)
		magnitude = magnitude << SHIFT | integer.digits[i];
	*value = integer.is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return 0;
}

int64_t pyinteger_digits(struct pyreader *reader, uint64_t address, bool *is_negative,
			 uint32_t *digits, size_t maximum)
{
	struct integer integer;
	uint64_t first = address + (uint64_t)reader->python->offsets.long_digit;

	if (!pytype_has(reader, address, PYTYPE_INTEGER) || read_size(reader, address, &integer) ||
	    integer.digit_count > (int64_t)maximum ||
	    (integer.digit_count &&
	     pyreader_read(reader, first, digits, 4 * (size_t)integer.digit_count)))
		return -1;
	for (int64_t i = 0; i < integer.digit_count; i++)
		if (digits[i] >> SHIFT)
			return -1;
	if (integer.digit_count && !digits[integer.digit_count - 1])
		return -1;
	*is_negative = integer.is_negative;
	return integer.digit_count;
}

static int64_t count_bits(int64_t digit_count, uint32_t top)
{
	int64_t bits = (digit_count - 1) * SHIFT;

	for (; top; top >>= 1)
		bits++;
	return bits;
}

static void pyinteger_put_decimal(struct buffer *out, bool is_negative, const uint32_t *digits,
				  int64_t digit_count)
{
	uint32_t limbs[LIMBS_MAXIMUM] = { 0 };
	size_t count = 1;

	for (int64_t i = digit_count; i-- > 0;) {
		uint64_t carry = digits[i];

		for (size_t at = 0; at < count; at++) {
			carry += (uint64_t)limbs[at] << SHIFT;
			limbs[at] = (uint32_t)(carry % LIMB);
			carry /= LIMB;
		}
		for (; carry; carry /= LIMB)
			limbs[count++] = (uint32_t)(carry % LIMB);
	}
	if (is_negative)
		buffer_append_char(out, '-');
	buffer_printf(out, "%" PRIu32, limbs[count - 1]);
	for (size_t at = count - 1; at-- > 0;)
		buffer_printf(out, "%09" PRIu32, limbs[at]);
}

/* Returns the number of decimal digits of an int with this number of bits, or one more. */
static int64_t count_decimals(int64_t bits)
{
	return bits * 30103 / 100000 + 1;
}

void pyinteger_put(struct buffer *out, bool is_negative, const uint32_t *digits,
		   int64_t digit_count)
{
	uint32_t top = digit_count ? digits[digit_count - 1] : 0;
	int64_t bits = count_bits(digit_count, top);

	if (!digit_count)
		buffer_append_char(out, '0');
	else if (count_decimals(bits) > DECIMALS_MAXIMUM)
		buffer_printf(out, "<int of %" PRId64 " bits>", bits);
	else
		pyinteger_put_decimal(out, is_negative, digits, digit_count);
}

void pyinteger_write(struct pywriter *writer, uint64_t address)
{
	struct integer integer;
	int64_t bits, decimals;

	if (integer_read(writer->reader, address, &integer)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!integer.digit_count) {
		pywriter_text(writer, "0");
		return;
	}
	bits = count_bits(integer.digit_count, integer.top);
	decimals = count_decimals(bits);
	/*
	 * A shortened number would look like another number, so the number of bits is written
	 * instead.
	 */
	if (decimals > DECIMALS_MAXIMUM ||
	    (decimals > 64 && (size_t)decimals > pywriter_left(writer)))
		buffer_printf(writer->out, "<int of %" PRId64 " bits>", bits);
	else
		pyinteger_put_decimal(writer->out, integer.is_negative, integer.digits,
				      integer.digit_count);
}

void pyboolean_write(struct pywriter *writer, uint64_t address)
{
	int64_t value;

	if (pyobject_integer(writer->reader, address, &value) || value < 0 || value > 1)
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else
		pywriter_text(writer, value ? "True" : "False");
}

/*
 * numpy's scalars hold their value directly behind the object's head (numpy/arrayscalars.h), equal
 * in numpy 1.x and 2.x.
 */
#define BYTES_MAXIMUM 16

static void put_bool(struct buffer *out, const uint8_t *bytes)
{
	buffer_append_string(out, bytes[0] ? "True" : "False");
}

#define INTEGER(name, type, format, as)                                                            \
	static void put_##name(struct buffer *out, const uint8_t *bytes)                           \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		memcpy(&value, bytes, sizeof(value));                                              \
		buffer_printf(out, "%" format, (as)value);                                         \
	}

INTEGER(int8, int8_t, PRId64, int64_t)
INTEGER(int16, int16_t, PRId64, int64_t)
INTEGER(int32, int32_t, PRId64, int64_t)
INTEGER(int64, int64_t, PRId64, int64_t)
INTEGER(uint8, uint8_t, PRIu64, uint64_t)
INTEGER(uint16, uint16_t, PRIu64, uint64_t)
INTEGER(uint32, uint32_t, PRIu64, uint64_t)
INTEGER(uint64, uint64_t, PRIu64, uint64_t)

static void put_half(struct buffer *out, const uint8_t *bytes)
{
	uint16_t bits;

	memcpy(&bits, bytes, sizeof(bits));
	pyfloat_put(out, pyfloat_half(bits), PYFLOAT_HALF);
}

static void put_single(struct buffer *out, const uint8_t *bytes)
{
	float value;

	memcpy(&value, bytes, sizeof(value));
	pyfloat_put(out, (double)value, PYFLOAT_SINGLE);
}

static void put_complex64(struct buffer *out, const uint8_t *bytes)
{
	float values[2];
	double parts[2];

	memcpy(values, bytes, sizeof(values));
	parts[0] = (double)values[0];
	parts[1] = (double)values[1];
	pycomplex_put(out, parts, PYFLOAT_SINGLE);
}

static void put_complex128(struct buffer *out, const uint8_t *bytes)
{
	double parts[2];

	memcpy(parts, bytes, sizeof(parts));
	pycomplex_put(out, parts, PYFLOAT_DOUBLE);
}

/* Units of time by their number in numpy (numpy/ndarraytypes.h). */
static const struct unit {
	const char *name;
	int64_t seconds;   /* seconds in one unit; 0: the unit is shorter than a second */
	int64_t in_second; /* units in one second; 0: the unit is longer than a second */
	int digits;
} units[] = {
	[2] = { "W", 604800, 0, 0 },   [4] = { "D", 86400, 0, 0 },
	[5] = { "h", 3600, 0, 0 },     [6] = { "m", 60, 0, 0 },
	[7] = { "s", 1, 0, 0 },	       [8] = { "ms", 0, 1000, 3 },
	[9] = { "us", 0, 1000000, 6 }, [10] = { "ns", 0, 1000000000, 9 },
};

/* Reads a count of units; returns the unit, NULL: unknown unit. */
static const struct unit *pyscalar_read_time(const uint8_t *bytes, int64_t *count)
{
	int32_t number, times;

	memcpy(count, bytes, sizeof(*count));
	memcpy(&number, bytes + 8, sizeof(number));
	memcpy(&times, bytes + 12, sizeof(times));
	if (number < 0 || (size_t)number >= ARRAY_LENGTH(units) || times != 1 ||
	    !units[number].name)
		return NULL;
	return &units[number];
}

static void put_timedelta(struct buffer *out, const uint8_t *bytes)
{
	int64_t count;
	const struct unit *unit = pyscalar_read_time(bytes, &count);

	if (!unit)
		buffer_append_string(out, PYWRITER_UNKNOWN);
	else if (count == INT64_MIN)
		buffer_append_string(out, "NaT");
	else
		buffer_printf(out, "%" PRId64 " %s", count, unit->name);
}

static void put_moment(struct buffer *out, const struct unit *unit, int64_t seconds,
		       int64_t fraction)
{
	time_t time = (time_t)seconds;
	struct tm is;

	if (!gmtime_r(&time, &is)) {
		buffer_append_string(out, PYWRITER_UNKNOWN);
		return;
	}
	buffer_printf(out, "%04d-%02d-%02d", is.tm_year + 1900, is.tm_mon + 1, is.tm_mday);
	if (unit->seconds < 86400)
		buffer_printf(out, "T%02d", is.tm_hour);
	if (unit->seconds < 3600)
		buffer_printf(out, ":%02d", is.tm_min);
	if (unit->seconds < 60)
		buffer_printf(out, ":%02d", is.tm_sec);
	if (unit->digits)
		buffer_printf(out, ".%0*" PRId64, unit->digits, fraction);
}

static void put_datetime(struct buffer *out, const uint8_t *bytes)
{
	int64_t count;
	const struct unit *unit = pyscalar_read_time(bytes, &count);
	int64_t seconds, fraction = 0;

	if (!unit) {
		buffer_append_string(out, PYWRITER_UNKNOWN);
		return;
	}
	if (count == INT64_MIN) {
		buffer_append_string(out, "NaT");
		return;
	}
	if (unit->seconds) {
		if (count > INT64_MAX / unit->seconds || count < INT64_MIN / unit->seconds) {
			buffer_append_string(out, PYWRITER_UNKNOWN);
			return;
		}
		seconds = count * unit->seconds;
	} else {
		seconds = count / unit->in_second;
		fraction = count % unit->in_second;
		if (fraction < 0) {
			fraction += unit->in_second;
			seconds--;
		}
	}
	put_moment(out, unit, seconds, fraction);
}

/* clang-format off */
static const struct {
	const char *name;
	size_t size;
	void (*put)(struct buffer *out, const uint8_t *bytes);
} scalars[] = {
	{ "numpy.bool_", 1, put_bool },
	{ "numpy.bool", 1, put_bool },
	{ "numpy.int8", 1, put_int8 },
	{ "numpy.int16", 2, put_int16 },
	{ "numpy.int32", 4, put_int32 },
	{ "numpy.int64", 8, put_int64 },
	{ "numpy.longlong", 8, put_int64 },
	{ "numpy.uint8", 1, put_uint8 },
	{ "numpy.uint16", 2, put_uint16 },
	{ "numpy.uint32", 4, put_uint32 },
	{ "numpy.uint64", 8, put_uint64 },
	{ "numpy.ulonglong", 8, put_uint64 },
	{ "numpy.float16", 2, put_half },
	{ "numpy.float32", 4, put_single },
	{ "numpy.complex64", 8, put_complex64 },
	{ "numpy.complex128", 16, put_complex128 },
	{ "numpy.datetime64", 16, put_datetime },
	{ "numpy.timedelta64", 16, put_timedelta },
};
/* clang-format on */

void pyscalar_write(struct pywriter *writer, uint64_t address)
{
	uint8_t bytes[BYTES_MAXIMUM];
	struct pytype type;

	if (!pytype_of(writer->reader, address, &type) && type.kind) {
		for (size_t i = 0; i < ARRAY_LENGTH(scalars); i++) {
			if (strcmp(scalars[i].name, type.kind->name) != 0 ||
			    pyreader_read(writer->reader, address + PYREADER_HEAD, bytes,
					  scalars[i].size))
				continue;
			scalars[i].put(writer->out, bytes);
			return;
		}
	}
	pywriter_text(writer, PYWRITER_UNKNOWN);
}
