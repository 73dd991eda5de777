/*
 * tensorformat: formats elements of tensors as text for people.
 */
#ifndef MODEL_TENSORFORMAT_H
#define MODEL_TENSORFORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct buffer;
struct tensor;
struct tensor_number;
struct tensor_statistics;

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

/* Replaces TENSOR_AUTOMATIC by fixed or scientific, by the largest |value|; largest 0: unknown. */
struct tensor_format tensor_format_resolve(struct tensor_format format, double largest);
/* Appends the number, or "?" if it was not read. Text is escaped. */
void tensor_text_append(struct buffer *out, const struct tensor_number *number,
			struct tensor_format format);
/* Appends the number with as few digits as needed, at most digits. */
void tensor_text_append_short(struct buffer *out, const struct tensor_number *number, int digits);
/* Appends a number with at most digits significant digits, or "nan", "inf", "-inf". */
void tensor_text_append_real(struct buffer *out, double value, int digits);
/* Width of tensor_text_append()'s text in terminal columns. */
int tensor_text_width(const struct tensor_number *number, struct tensor_format format);
/* True if kind and value are equal; NaN is equal to NaN. */
bool tensor_number_is_same(const struct tensor_number *a, const struct tensor_number *b);
/* True for NaN or an infinity, in either part of a complex number. */
bool tensor_number_is_odd(const struct tensor_number *number);

/*
 * tensortext: texts about tensors: numbers, shapes, and a line of statistics. The functions append
 * and cannot fail.
 */

/* Appends both numbers, with as many digits as needed to show a difference. */
void tensortext_append_pair(struct buffer *one, struct buffer *other,
			    const struct tensor_number *numbers);
/* Appends "-0.2925", "12", "nan", "1+2j", "True"; "?": unknown. */
void tensortext_append_number(struct buffer *out, const struct tensor_number *number);
/* Appends "0.2925"; "?" for NaN, which stands for an unknown mean. */
void tensortext_append_real(struct buffer *out, double real);
/* Appends "[8, 32]". */
void tensortext_append_sizes(struct buffer *out, const int64_t *sizes, int count);
/* Appends "2 of 12 masked". */
void tensortext_append_masked(struct buffer *out, const struct tensor_statistics *of);
/* Appends "float32 [8, 32]". */
void tensortext_append_head(struct buffer *out, const struct tensor *tensor);
/* Appends "min -0.41 max 0.38 mean 0.001 std 0.18 norm nan NaN 12 Inf 0 zeros 0 2 of 12 masked";
 * nothing without statistics. */
void tensortext_append_statistics(struct buffer *out, const struct tensor *tensor);

#endif
