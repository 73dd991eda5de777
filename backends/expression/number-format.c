#include "backends/expression/number-format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/expression/pybig.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

#define WIDTH_MAXIMUM 99
#define DIGITS_MAXIMUM 50
/* The largest double has 309 digits before the point, and as a percentage two more. */
#define NUMBER_SIZE (330 + DIGITS_MAXIMUM)

/* Reads digits and returns the position behind them; *number > maximum: the number is too large. */
static const char *number_format_read_number(const char *at, int maximum, int *number)
{
	for (*number = 0; *at >= '0' && *at <= '9'; at++)
		if (*number <= maximum)
			*number = *number * 10 + *at - '0';
	return at;
}

static bool number_format_is_one_of(char letter, const char *letters)
{
	return letter && strchr(letters, letter);
}

static const char *read_align(const char *at, struct number_format *format)
{
	format->fill = ' ';
	if (*at >= ' ' && *at < 0x7f && number_format_is_one_of(at[1], "<>=^")) {
		format->fill = at[0];
		format->align = at[1];
		return at + 2;
	}
	if (number_format_is_one_of(*at, "<>=^"))
		format->align = *at++;
	return at;
}

static bool number_format_is_wrong(const struct number_format *format, bool has_point)
{
	bool is_whole = number_format_is_one_of(format->kind, "bdoxX");

	if (format->width > WIDTH_MAXIMUM || format->digits > DIGITS_MAXIMUM)
		return true;
	if (has_point && (is_whole || !format->kind))
		return true;
	if (format->has_prefix && !number_format_is_one_of(format->kind, "boxX"))
		return true;
	if (format->group == ',' && number_format_is_one_of(format->kind, "boxX"))
		return true;
	return format->kind == 's' && (format->sign || format->group || format->align == '=');
}

int number_format_read(struct number_format *format, const char *text, struct error *error)
{
	const char *at = text;
	bool has_point;

	*format = (struct number_format){ .digits = -1 };
	at = read_align(at, format);
	if (number_format_is_one_of(*at, "+- "))
		format->sign = *at++;
	format->has_prefix = *at == '#';
	at += format->has_prefix;
	if (*at == '0' && !format->align) {
		format->fill = '0';
		format->align = '=';
	}
	at = number_format_read_number(at, WIDTH_MAXIMUM, &format->width);
	if (number_format_is_one_of(*at, ",_"))
		format->group = *at++;
	has_point = at[0] == '.' && at[1] >= '0' && at[1] <= '9';
	if (has_point)
		at = number_format_read_number(at + 1, DIGITS_MAXIMUM, &format->digits);
	if (number_format_is_one_of(*at, "bdoxXefg%s"))
		format->kind = *at++;
	if (!*at && !number_format_is_wrong(format, has_point))
		return 0;
	return error_set(
		error,
		"the log text has an unsupported format ':%.20s': use [[FILL]<>=^][+- "
		"][#][0][WIDTH][,_][.DIGITS] and one of b d o x X e f g %% s, as in {loss:.3f}",
		text);
}

/* Returns the digits and sign of an int, "1" for True, "0" for False; NULL: value is no int. */
static const char *whole_of(const char *value)
{
	size_t sign = value[0] == '-';

	if (!strcmp(value, "True"))
		return "1";
	if (!strcmp(value, "False"))
		return "0";
	if (!value[sign] || strspn(value + sign, "0123456789") != strlen(value + sign))
		return NULL;
	return value;
}

/* Appends a decimal number in base 2, 8 or 16 (kind 'b', 'o', 'x' or 'X'). */
static void put_digits(struct buffer *out, const char *decimal, char kind)
{
	size_t length = strlen(decimal);
	uint32_t *digits = xcalloc(PYBIG_TEXT_DIGITS(length), sizeof(*digits));
	const char *letters = kind == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned bits = 4;
	struct pybig number;
	bool has_begun = false;

	if (kind == 'b')
		bits = 1;
	else if (kind == 'o')
		bits = 3;
	pybig_parse(&number, digits, decimal, 10);
	for (size_t i = number.count * PYBIG_SHIFT / bits + 1; i-- > 0;) {
		unsigned digit = 0;

		for (size_t bit = (i + 1) * bits; bit-- > i * bits;) {
			size_t at = bit / PYBIG_SHIFT;

			digit <<= 1;
			if (at < number.count)
				digit |= digits[at] >> bit % PYBIG_SHIFT & 1;
		}
		has_begun |= digit || i == 0;
		if (has_begun)
			buffer_append_char(out, letters[digit]);
	}
	free(digits);
}

/* Appends the absolute value of a float. */
static void number_format_put_real(struct buffer *out, const struct number_format *format,
				   double real)
{
	int digits = format->digits < 0 ? 6 : format->digits;
	char text[NUMBER_SIZE];

	if (format->kind == 'e')
		snprintf(text, sizeof(text), "%.*e", digits, real);
	else if (format->kind == 'g')
		snprintf(text, sizeof(text), "%.*g", digits, real);
	else
		snprintf(text, sizeof(text), "%.*f", digits,
			 format->kind == '%' ? real * 100 : real);
	buffer_append_string(out, text);
	if (format->kind == '%')
		buffer_append_char(out, '%');
}

/* Appends the absolute value of the number; -1: value is not a number that fits the kind. */
static int number_format_put_number(struct buffer *out, const struct number_format *format,
				    const char *value, bool *is_negative)
{
	const char *whole = whole_of(value);
	double real;
	char *end;

	*is_negative = value[0] == '-';
	if (!format->kind || number_format_is_one_of(format->kind, "bdoxX")) {
		if (!whole && format->kind)
			return -1;
		real = strtod(value, &end);
		if (!whole && (end == value || *end))
			return -1;
		if (!format->kind || format->kind == 'd')
			buffer_append_string(out, (whole ? whole : value) + *is_negative);
		else
			put_digits(out, whole + *is_negative, format->kind);
		return 0;
	}
	real = strtod(whole ? whole : value, &end);
	if (*end || end == (whole ? whole : value) || (whole && isinf(real)))
		return -1;
	number_format_put_real(out, format, fabs(real));
	return 0;
}

static void number_format_fill(struct buffer *out, char with, int count)
{
	for (int i = 0; i < count; i++)
		buffer_append_char(out, with);
}

/* Like _PyUnicode_InsertThousandsGrouping: leading zeros up to width are grouped, too. */
static void group_digits(struct buffer *digits, const struct number_format *format, int width)
{
	int size = number_format_is_one_of(format->kind, "boxX") ? 4 : 3;
	int count = (int)strspn(digits->data, "0123456789abcdefABCDEF");
	struct buffer reversed = BUFFER_INIT;
	struct buffer whole = BUFFER_INIT;

	if (!number_format_is_one_of(format->kind, "xX"))
		count = (int)strspn(digits->data, "0123456789");
	width -= (int)digits->length - count;
	for (int i = 0, written = 0; i < count || written < width; i++) {
		if (i && i % size == 0) {
			buffer_append_char(&reversed, format->group);
			written++;
		}
		buffer_append_char(&reversed, i < count ? digits->data[count - 1 - i] : '0');
		written++;
	}
	for (size_t i = reversed.length; i-- > 0;)
		buffer_append_char(&whole, reversed.data[i]);
	buffer_append_string(&whole, digits->data + count);
	buffer_clear(&reversed);
	buffer_clear(digits);
	*digits = whole;
}

static int number_format_count_characters(const char *text)
{
	int count = 0;

	while (text_next(&text))
		count++;
	return count;
}

/*
 * Appends text padded to the format's width. Padding comes before the text if align is '>', on both
 * sides if align is '^', else behind the text.
 */
static void put_aligned(struct buffer *out, const struct number_format *format, const char *text,
			char align)
{
	int blank = format->width - number_format_count_characters(text);
	int before = 0;

	if (blank < 0)
		blank = 0;
	if (align == '>')
		before = blank;
	else if (align == '^')
		before = blank / 2;
	number_format_fill(out, format->fill, before);
	buffer_append_string(out, text);
	number_format_fill(out, format->fill, blank - before);
}

int number_format_append_text(struct buffer *out, const char *value)
{
	static const char named[] = "t\tn\nr\r\\\\''\"\"";
	size_t length = strlen(value);
	const char *end;

	if (length < 2 || !number_format_is_one_of(value[0], "'\""))
		return -1;
	end = strrchr(value, value[0]);
	for (const char *at = value + 1; at < end; at++) {
		char digits[9] = "";
		int count = 0;

		if (*at != '\\') {
			buffer_append_char(out, *at);
			continue;
		}
		at++;
		if (*at == 'x')
			count = 2;
		else if (*at == 'u')
			count = 4;
		else if (*at == 'U')
			count = 8;
		for (size_t i = 0; named[i] && !count; i += 2)
			if (named[i] == *at)
				buffer_append_char(out, named[i + 1]);
		if (!count || end - at <= count)
			continue;
		memcpy(digits, at + 1, (size_t)count);
		text_put_codepoint(out, (int32_t)strtoul(digits, NULL, 16));
		at += count;
	}
	/* Text behind the closing quote is the mark of a truncated repr. */
	buffer_append_string(out, end + 1);
	return 0;
}

static int number_format_append_cut(struct buffer *out, const struct number_format *format,
				    struct buffer *text, struct error *error)
{
	const char *at = text->data;

	if ((format->kind && format->kind != 's') || format->sign || format->group ||
	    format->align == '=')
		return error_set(error, "not a number: %.60s", text->data);
	for (int i = 0; format->digits >= 0 && i < format->digits; i++)
		text_next(&at);
	if (format->digits >= 0)
		buffer_truncate(text, (size_t)(at - text->data));
	put_aligned(out, format, text->data, format->align);
	return 0;
}

int number_format_append_repr(struct buffer *out, const struct number_format *format,
			      const char *value, struct error *error)
{
	struct buffer text = BUFFER_INIT;
	int result;

	buffer_append_string(&text, value);
	result = number_format_append_cut(out, format, &text, error);
	buffer_clear(&text);
	return result;
}

/* Returns the noun for the values that this kind formats, for an error. */
static const char *kind_name(char kind)
{
	if (kind == 's')
		return "str";
	return number_format_is_one_of(kind, "bdoxX") ? "whole number" : "number";
}

static int append_text(struct buffer *out, const struct number_format *format, const char *value,
		       struct error *error)
{
	struct buffer text = BUFFER_INIT;
	int result;

	number_format_append_text(&text, value);
	result = number_format_append_cut(out, format, &text, error);
	buffer_clear(&text);
	return result;
}

int number_format_append(struct buffer *out, const struct number_format *format, const char *value,
			 struct error *error)
{
	struct buffer digits = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;
	bool is_negative = false, is_inner = format->align == '=';
	bool is_padded = is_inner && format->fill == '0';
	int taken;

	if (number_format_is_one_of(value[0], "'\""))
		return append_text(out, format, value, error);
	if (format->kind == 's' ||
	    number_format_put_number(&digits, format, value, &is_negative) < 0) {
		buffer_clear(&digits);
		return error_set(error, "not a %s: %.60s", kind_name(format->kind), value);
	}
	if (is_negative)
		buffer_append_char(&text, '-');
	else if (number_format_is_one_of(format->sign, "+ "))
		buffer_append_char(&text, format->sign);
	if (format->has_prefix)
		buffer_printf(&text, "0%c", format->kind);
	taken = (int)text.length;
	if (format->group)
		group_digits(&digits, format, is_padded ? format->width - taken : 0);
	if (is_inner)
		number_format_fill(&text, format->fill, format->width - taken - (int)digits.length);
	buffer_append_string(&text, digits.data);
	put_aligned(out, format, text.data, format->align ? format->align : '>');
	buffer_clear(&digits);
	buffer_clear(&text);
	return 0;
}
