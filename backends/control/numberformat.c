#include "backends/control/numberformat.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"

#define WIDTH_MAXIMUM 99
#define DIGITS_MAXIMUM 50
/* The largest number has 309 digits before the point. */
#define NUMBER_SIZE (320 + DIGITS_MAXIMUM)

/* Behind the digits; *number is more than maximum where they are too many. */
static const char *read_number(const char *at, int maximum, int *number)
{
	for (*number = 0; *at >= '0' && *at <= '9'; at++)
		if (*number <= maximum)
			*number = *number * 10 + *at - '0';
	return at;
}

int numberformat_read(struct numberformat *format, const char *text,
		      struct error *error)
{
	const char *at = text;
	bool has_point;

	*format = (struct numberformat){ .digits = -1 };
	format->has_sign = *at == '+';
	at += format->has_sign;
	format->has_zeros = *at == '0';
	at = read_number(at, WIDTH_MAXIMUM, &format->width);
	has_point = at[0] == '.' && at[1] >= '0' && at[1] <= '9';
	if (has_point)
		at = read_number(at + 1, DIGITS_MAXIMUM, &format->digits);
	if (*at && strchr("dfegx", *at))
		format->kind = *at++;
	if (!*at && format->width <= WIDTH_MAXIMUM &&
	    format->digits <= DIGITS_MAXIMUM &&
	    (format->kind || (!has_point && !format->has_sign)) &&
	    (!has_point || strchr("feg", format->kind)))
		return 0;
	return error_set(error,
			 "The text to log has the format ':%.20s', which is "
			 "none of ours: [+][0][WIDTH][.DIGITS] and one of d f "
			 "e g x, as in {loss:.3f}.",
			 text);
}

static bool read_whole(const char *value, int64_t *whole)
{
	char *end;

	if (!strcmp(value, "True") || !strcmp(value, "False")) {
		*whole = value[0] == 'T';
		return true;
	}
	errno = 0;
	*whole = strtoll(value, &end, 10);
	return end != value && !*end && !errno && *whole != INT64_MIN;
}

static bool read_real(const char *value, double *real)
{
	int64_t whole;
	char *end;

	if (read_whole(value, &whole)) {
		*real = (double)whole;
		return true;
	}
	*real = strtod(value, &end);
	return end != value && !*end;
}

/* Without its sign. */
static void write_real(char *text, size_t size, char kind, int digits,
		       double real)
{
	if (kind == 'f')
		snprintf(text, size, "%.*f", digits, real);
	else if (kind == 'e')
		snprintf(text, size, "%.*e", digits, real);
	else
		snprintf(text, size, "%.*g", digits, real);
}

/* 1: written, *is_negative tells its sign; 0: it is no such number. */
static int write_number(char *text, size_t size,
			const struct numberformat *format, const char *value,
			bool *is_negative)
{
	int64_t whole;
	double real;

	if (strchr("dx", format->kind)) {
		if (!read_whole(value, &whole))
			return 0;
		*is_negative = whole < 0;
		whole = whole < 0 ? -whole : whole;
		if (format->kind == 'd')
			snprintf(text, size, "%" PRId64, whole);
		else
			snprintf(text, size, "%" PRIx64, (uint64_t)whole);
		return 1;
	}
	if (!read_real(value, &real))
		return 0;
	*is_negative = signbit(real) && !isnan(real);
	write_real(text, size, format->kind,
		   format->digits < 0 ? 6 : format->digits, fabs(real));
	return 1;
}

static void fill(struct buffer *out, char with, int count)
{
	for (int i = 0; i < count; i++)
		buffer_append_char(out, with);
}

int numberformat_append(struct buffer *out, const struct numberformat *format,
			const char *value, struct error *error)
{
	char text[NUMBER_SIZE];
	bool is_negative = false;
	const char *sign;
	int blank;

	if (!format->kind) {
		fill(out, ' ', format->width - (int)strlen(value));
		buffer_append_string(out, value);
		return 0;
	}
	if (!write_number(text, sizeof(text), format, value, &is_negative))
		return error_set(error, "%s is no %snumber", value,
				 strchr("dx", format->kind) ? "whole " : "");
	sign = is_negative ? "-" : "";
	if (format->has_sign && !is_negative)
		sign = "+";
	blank = format->width - (int)strlen(text) - (int)strlen(sign);
	if (!format->has_zeros)
		fill(out, ' ', blank);
	buffer_append_string(out, sign);
	if (format->has_zeros)
		fill(out, '0', blank);
	buffer_append_string(out, text);
	return 0;
}
