/*
 * tensornumber: one element of a tensor, or what was computed of several: a
 * number of any type, or the text of what is none.
 */
#ifndef PROTOCOL_TENSORNUMBER_H
#define PROTOCOL_TENSORNUMBER_H

#include <jansson.h>
#include <stdint.h>

struct error;

enum tensor_number_kind {
	TENSOR_NUMBER_UNKNOWN, /* it cannot be read: "?" */
	TENSOR_NUMBER_REAL,
	TENSOR_NUMBER_INTEGER,
	TENSOR_NUMBER_UNSIGNED, /* above INT64_MAX */
	TENSOR_NUMBER_BOOLEAN,
	TENSOR_NUMBER_COMPLEX,
	TENSOR_NUMBER_TEXT, /* of what is no number: str, bytes, object */
};

/*
 * As JSON: null; a number, "nan", "inf" or "-inf"; an integer; "u:DIGITS";
 * true or false; [REAL, REAL]; {"text": …}.
 */
struct tensor_number {
	enum tensor_number_kind kind;
	double real;
	double imaginary;
	int64_t integer; /* a boolean's as well, and an unsigned one's bits */
	char *text;
};

void tensor_number_clear(struct tensor_number *number);
json_t *tensor_number_to_json(const struct tensor_number *number);
int tensor_number_from_json(struct tensor_number *number, const json_t *json, struct error *error);
/* NaN and infinities as "nan", "inf", "-inf". */
json_t *tensor_real_to_json(double real);
int tensor_real_from_json(double *real, const json_t *json);

#endif
