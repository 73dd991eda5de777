/*
 * tensorformat: formats an element for reading, and computes the width of a column.
 */
#ifndef MODEL_TENSORFORMAT_H
#define MODEL_TENSORFORMAT_H

#include <stdbool.h>

#include "protocol/tensornumber.h"

struct buffer;

enum tensor_notation {
	TENSOR_AUTOMATIC, /* fixed, or scientific for very small or large values */
	TENSOR_FIXED,
	TENSOR_SCIENTIFIC,
	TENSOR_HEXADECIMAL,
	TENSOR_NOTATION_COUNT,
};

#define TENSOR_PRECISION 4
#define TENSOR_PRECISION_MAXIMUM 17

struct tensor_format {
	enum tensor_notation notation;
	int precision; /* digits behind the decimal point */
};

extern const char *const tensor_notation_names[TENSOR_NOTATION_COUNT];

/* Chooses fixed or scientific for TENSOR_AUTOMATIC, by the largest |value| (0: unknown). */
struct tensor_format tensor_format_resolve(struct tensor_format format, double largest);
/* Appends the number; "?": not read. Text is escaped. */
void tensor_text_append(struct buffer *out, const struct tensor_number *number,
			struct tensor_format format);
/* Appends the number with as few digits as needed, at most digits. */
void tensor_text_append_short(struct buffer *out, const struct tensor_number *number, int digits);
/* Appends a number with at most digits significant digits, or "nan", "inf", "-inf". */
void tensor_text_append_real(struct buffer *out, double value, int digits);
/* Width in terminal columns. */
int tensor_text_width(const struct tensor_number *number, struct tensor_format format);
/* True if kind and value are equal; NaN is equal to NaN. */
bool tensor_number_is_same(const struct tensor_number *a, const struct tensor_number *b);
/* True for NaN or an infinity, in either part of a complex number. */
bool tensor_number_is_odd(const struct tensor_number *number);

#endif
