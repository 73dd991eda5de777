#include "model/tensorformat.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "protocol/tensor.h"

/* Outside of these limits, fixed notation would show only zeros, or too many digits. */
#define FIXED_LEAST 1e-3
#define FIXED_MOST 1e6

const char *const tensor_notation_names[TENSOR_NOTATION_COUNT] = {
	[TENSOR_AUTOMATIC] = "automatic",
	[TENSOR_FIXED] = "fixed",
	[TENSOR_SCIENTIFIC] = "scientific",
	[TENSOR_HEXADECIMAL] = "hex",
};

struct tensor_format tensor_format_resolve(struct tensor_format format, double largest)
{
	if (format.notation != TENSOR_AUTOMATIC)
		return format;
	format.notation = TENSOR_FIXED;
	if (isfinite(largest) && largest > 0 && (largest < FIXED_LEAST || largest >= FIXED_MOST))
		format.notation = TENSOR_SCIENTIFIC;
	return format;
}

/* Appends "nan", "inf" or "-inf"; false: value is finite, nothing was appended. */
static bool tensorformat_append_odd(struct buffer *out, double value)
{
	if (isnan(value))
		buffer_append_string(out, "nan");
	else if (isinf(value))
		buffer_append_string(out, value < 0 ? "-inf" : "inf");
	else
		return false;
	return true;
}

static void tensorformat_append_real(struct buffer *out, double value, struct tensor_format format)
{
	if (tensorformat_append_odd(out, value))
		return;
	switch (format.notation) {
	case TENSOR_SCIENTIFIC:
		buffer_printf(out, "%.*e", format.precision, value);
		return;
	case TENSOR_HEXADECIMAL:
		buffer_printf(out, "%a", value);
		return;
	case TENSOR_AUTOMATIC:
	case TENSOR_FIXED:
	case TENSOR_NOTATION_COUNT:
		buffer_printf(out, "%.*f", format.precision, value);
		return;
	}
}

static void tensorformat_append_integer(struct buffer *out, bool is_negative, uint64_t magnitude,
					struct tensor_format format)
{
	const char *sign = is_negative ? "-" : "";

	if (format.notation == TENSOR_HEXADECIMAL)
		buffer_printf(out, "%s0x%" PRIx64, sign, magnitude);
	else
		buffer_printf(out, "%s%" PRIu64, sign, magnitude);
}

/* Appends the + before an imaginary part; negative numbers, also -0, are printed with a sign. */
static void append_sign(struct buffer *out, double imaginary)
{
	if (!signbit(imaginary) || isnan(imaginary))
		buffer_append_char(out, '+');
}

static void append_complex(struct buffer *out, const struct tensor_number *number,
			   struct tensor_format format)
{
	tensorformat_append_real(out, number->real, format);
	append_sign(out, number->imaginary);
	tensorformat_append_real(out, number->imaginary, format);
	buffer_append_char(out, 'j');
}

void tensor_text_append(struct buffer *out, const struct tensor_number *number,
			struct tensor_format format)
{
	uint64_t bits = (uint64_t)number->integer;

	switch (number->kind) {
	case TENSOR_NUMBER_UNKNOWN:
		buffer_append_char(out, '?');
		return;
	case TENSOR_NUMBER_REAL:
		tensorformat_append_real(out, number->real, format);
		return;
	case TENSOR_NUMBER_INTEGER:
		tensorformat_append_integer(out, number->integer < 0,
					    number->integer < 0 ? 0 - bits : bits, format);
		return;
	case TENSOR_NUMBER_UNSIGNED:
		tensorformat_append_integer(out, false, bits, format);
		return;
	case TENSOR_NUMBER_BOOLEAN:
		buffer_append_string(out, number->integer ? "True" : "False");
		return;
	case TENSOR_NUMBER_COMPLEX:
		append_complex(out, number, format);
		return;
	case TENSOR_NUMBER_TEXT:
		text_escape(out, number->text, strlen(number->text));
		return;
	}
}

void tensor_text_append_real(struct buffer *out, double value, int digits)
{
	if (!tensorformat_append_odd(out, value))
		buffer_printf(out, "%.*g", digits, value);
}

void tensor_text_append_short(struct buffer *out, const struct tensor_number *number, int digits)
{
	struct tensor_format format = { .notation = TENSOR_FIXED, .precision = TENSOR_PRECISION };

	switch (number->kind) {
	case TENSOR_NUMBER_REAL:
		tensor_text_append_real(out, number->real, digits);
		return;
	case TENSOR_NUMBER_COMPLEX:
		tensor_text_append_real(out, number->real, digits);
		append_sign(out, number->imaginary);
		tensor_text_append_real(out, number->imaginary, digits);
		buffer_append_char(out, 'j');
		return;
	case TENSOR_NUMBER_UNKNOWN:
	case TENSOR_NUMBER_INTEGER:
	case TENSOR_NUMBER_UNSIGNED:
	case TENSOR_NUMBER_BOOLEAN:
	case TENSOR_NUMBER_TEXT:
		tensor_text_append(out, number, format);
		return;
	}
}

int tensor_text_width(const struct tensor_number *number, struct tensor_format format)
{
	struct buffer text = BUFFER_INIT;
	int width;

	tensor_text_append(&text, number, format);
	width = text_width(text.data);
	buffer_clear(&text);
	return width;
}

static bool is_same_real(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

bool tensor_number_is_same(const struct tensor_number *a, const struct tensor_number *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->text != NULL && b->text != NULL)
		return strcmp(a->text, b->text) == 0;
	return a->integer == b->integer && is_same_real(a->real, b->real) &&
	       is_same_real(a->imaginary, b->imaginary);
}

bool tensor_number_is_odd(const struct tensor_number *number)
{
	if (number->kind != TENSOR_NUMBER_REAL && number->kind != TENSOR_NUMBER_COMPLEX)
		return false;
	return !isfinite(number->real) ||
	       (number->kind == TENSOR_NUMBER_COMPLEX && !isfinite(number->imaginary));
}

#define DIGITS 6

void tensortext_append_real(struct buffer *out, double real)
{
	if (isnan(real))
		buffer_append_char(out, '?');
	else
		tensor_text_append_real(out, real, DIGITS);
}

void tensortext_append_number(struct buffer *out, const struct tensor_number *number)
{
	tensor_text_append_short(out, number, DIGITS);
}

void tensortext_append_pair(struct buffer *one, struct buffer *other,
			    const struct tensor_number *numbers)
{
	static const int digits[] = { DIGITS, 9, 12, 15, TENSOR_PRECISION_MAXIMUM };
	size_t starts[] = { one->length, other->length };

	for (size_t i = 0; i < ARRAY_LENGTH(digits); i++) {
		buffer_truncate(one, starts[0]);
		buffer_truncate(other, starts[1]);
		tensor_text_append_short(one, &numbers[0], digits[i]);
		tensor_text_append_short(other, &numbers[1], digits[i]);
		if (strcmp(one->data + starts[0], other->data + starts[1]) != 0)
			break;
	}
}

void tensortext_append_sizes(struct buffer *out, const int64_t *sizes, int count)
{
	buffer_append_char(out, '[');
	for (int i = 0; i < count; i++)
		buffer_printf(out, "%s%" PRId64, i > 0 ? ", " : "", sizes[i]);
	buffer_append_char(out, ']');
}

void tensortext_append_head(struct buffer *out, const struct tensor *tensor)
{
	const char *dtype = tensor->dtype ? tensor->dtype : "?";

	text_escape(out, dtype, strlen(dtype));
	buffer_append_char(out, ' ');
	tensortext_append_sizes(out, tensor->shape, tensor->dimension_count);
}

void tensortext_append_masked(struct buffer *out, const struct tensor_statistics *of)
{
	buffer_printf(out, "%" PRId64 " of %" PRId64 " masked", of->masked_count,
		      of->count + of->masked_count);
}

void tensortext_append_statistics(struct buffer *out, const struct tensor *tensor)
{
	const struct tensor_statistics *of = &tensor->statistics;

	if (!tensor->has_statistics)
		return;
	buffer_append_string(out, "min ");
	tensortext_append_number(out, &of->minimum);
	buffer_append_string(out, "  max ");
	tensortext_append_number(out, &of->maximum);
	buffer_append_string(out, "  mean ");
	tensortext_append_real(out, of->mean);
	buffer_append_string(out, "  std ");
	tensortext_append_real(out, of->deviation);
	buffer_append_string(out, "  norm ");
	if (of->has_norm)
		tensor_text_append_real(out, of->norm, DIGITS);
	else
		buffer_append_char(out, '?');
	buffer_printf(out, "  NaN %" PRId64 "  Inf %" PRId64 "  zeros %" PRId64, of->nan_count,
		      of->infinity_count, of->zero_count);
	if (tensor->has_mask) {
		buffer_append_string(out, "  ");
		tensortext_append_masked(out, of);
	}
	if (tensor->share < 1)
		buffer_printf(out, "  of a sample of %.2g %%", tensor->share * 100);
}
