#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pynumber.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

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

/* The number of decimal digits, or one more. */
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
	/* A cut number would look like another number. */
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
