#include "model/tensortext.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/tensorformat.h"
#include "protocol/tensor.h"

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
