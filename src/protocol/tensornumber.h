/*
 * tensornumber: an element of a tensor, or a number computed from several: a number of any type, or
 * the text of an element that is no number.
 */
#ifndef PROTOCOL_TENSORNUMBER_H
#define PROTOCOL_TENSORNUMBER_H

#include <jansson.h>
#include <stdint.h>

struct error;

enum tensor_number_kind {
	TENSOR_NUMBER_UNKNOWN, /* cannot be read, shown as "?" */
	TENSOR_NUMBER_REAL,
	TENSOR_NUMBER_INTEGER,
	TENSOR_NUMBER_UNSIGNED, /* above INT64_MAX */
	TENSOR_NUMBER_BOOLEAN,
	TENSOR_NUMBER_COMPLEX,
	TENSOR_NUMBER_TEXT, /* text of a str, bytes or object */
};

/*
 * JSON by kind: null; a number, "nan", "inf" or "-inf"; an integer; "u:DIGITS"; true or false;
 * [REAL, REAL]; {"text": …}.
 */
struct tensor_number {
	enum tensor_number_kind kind;
	double real;
	double imaginary;
	int64_t integer; /* also a boolean, and the bits of an unsigned number */
	char *text;
};

void tensor_number_clear(struct tensor_number *number);
json_t *tensor_number_to_json(const struct tensor_number *number);
int tensor_number_from_json(struct tensor_number *number, const json_t *json, struct error *error);
/* NaN and infinities become "nan", "inf" and "-inf". */
json_t *tensor_real_to_json(double real);
int tensor_real_from_json(double *real, const json_t *json);

#endif
