/*
 * tensorformat: an element as people read it, and how wide a column of them is.
 */
#ifndef MODEL_TENSORFORMAT_H
#define MODEL_TENSORFORMAT_H

#include <stdbool.h>

#include "protocol/tensornumber.h"

struct buffer;

enum tensor_notation {
	TENSOR_AUTOMATIC, /* fixed, or scientific where that says nothing */
	TENSOR_FIXED,
	TENSOR_SCIENTIFIC,
	TENSOR_HEXADECIMAL,
	TENSOR_NOTATION_COUNT,
};

#define TENSOR_PRECISION 4
#define TENSOR_PRECISION_MAXIMUM 17

struct tensor_format {
	enum tensor_notation notation;
	int precision; /* digits behind the point */
};

extern const char *const tensor_notation_names[TENSOR_NOTATION_COUNT];

/*
 * Fixed or scientific, for what is automatic: by the largest of the values
 * (0: there is none).
 */
struct tensor_format tensor_format_resolve(struct tensor_format format, double largest);
/* Appends it; "?": it could not be read. Text is quoted and made safe. */
void tensor_text_append(struct buffer *out, const struct tensor_number *number,
			struct tensor_format format);
/* The same in at most so many digits, as few as it needs. */
void tensor_text_append_short(struct buffer *out, const struct tensor_number *number, int digits);
void tensor_text_append_real(struct buffer *out, double value, int digits);
/* Columns of the terminal that it takes. */
int tensor_text_width(const struct tensor_number *number, struct tensor_format format);
bool tensor_number_is_same(const struct tensor_number *a, const struct tensor_number *b);
/* NaN or an infinity; of a complex number either part. */
bool tensor_number_is_odd(const struct tensor_number *number);

#endif
