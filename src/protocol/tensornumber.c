#include "protocol/tensornumber.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/field.h"

#define TEXT_MAXIMUM 4096

void tensor_number_clear(struct tensor_number *number)
{
	free(number->text);
	*number = (struct tensor_number){ .text = NULL };
}

json_t *tensor_real_to_json(double real)
{
	if (isnan(real))
		return json_string("nan");
	if (isinf(real))
		return json_string(real < 0 ? "-inf" : "inf");
	return json_real(real);
}

int tensor_real_from_json(double *real, const json_t *json)
{
	const char *text = json_string_value(json);

	if (json_is_number(json))
		*real = json_number_value(json);
	else if (text && strcmp(text, "nan") == 0)
		*real = NAN;
	else if (text && strcmp(text, "inf") == 0)
		*real = INFINITY;
	else if (text && strcmp(text, "-inf") == 0)
		*real = -INFINITY;
	else
		return -1;
	return 0;
}

static json_t *text_to_json(const char *text)
{
	json_t *json = json_object();

	json_object_set_new(json, "text", field_text(text, TEXT_MAXIMUM));
	return json;
}

json_t *tensor_number_to_json(const struct tensor_number *number)
{
	char digits[32];

	switch (number->kind) {
	case TENSOR_NUMBER_UNKNOWN:
		break;
	case TENSOR_NUMBER_REAL:
		return tensor_real_to_json(number->real);
	case TENSOR_NUMBER_INTEGER:
		return json_integer(number->integer);
	case TENSOR_NUMBER_UNSIGNED:
		snprintf(digits, sizeof(digits), "u:%" PRIu64, (uint64_t)number->integer);
		return json_string(digits);
	case TENSOR_NUMBER_BOOLEAN:
		return json_boolean(number->integer);
	case TENSOR_NUMBER_COMPLEX:
		return json_pack("[o, o]", tensor_real_to_json(number->real),
				 tensor_real_to_json(number->imaginary));
	case TENSOR_NUMBER_TEXT:
		return text_to_json(number->text);
	}
	return json_null();
}

static int read_unsigned(struct tensor_number *number, const char *text)
{
	char *end;

	if (strncmp(text, "u:", 2) != 0 || text[2] < '0' || text[2] > '9')
		return -1;
	number->kind = TENSOR_NUMBER_UNSIGNED;
	number->integer = (int64_t)strtoull(text + 2, &end, 10);
	return *end ? -1 : 0;
}

static int tensornumber_read_number(struct tensor_number *number, const json_t *json)
{
	const char *text = json_get_string(json, "text", NULL);

	if (!json || json_is_null(json))
		return 0;
	number->kind = TENSOR_NUMBER_REAL;
	if (json_is_integer(json)) {
		number->kind = TENSOR_NUMBER_INTEGER;
		number->integer = json_integer_value(json);
	} else if (json_is_boolean(json)) {
		number->kind = TENSOR_NUMBER_BOOLEAN;
		number->integer = json_is_true(json);
	} else if (json_array_size(json) == 2) {
		number->kind = TENSOR_NUMBER_COMPLEX;
		return tensor_real_from_json(&number->real, json_array_get(json, 0)) ||
				       tensor_real_from_json(&number->imaginary,
							     json_array_get(json, 1))
			       ? -1
			       : 0;
	} else if (text) {
		number->kind = TENSOR_NUMBER_TEXT;
		number->text = xstrdup(text);
	} else if (tensor_real_from_json(&number->real, json) < 0) {
		return json_is_string(json) ? read_unsigned(number, json_string_value(json)) : -1;
	}
	return 0;
}

int tensor_number_from_json(struct tensor_number *number, const json_t *json, struct error *error)
{
	*number = (struct tensor_number){ .text = NULL };
	if (tensornumber_read_number(number, json) == 0)
		return 0;
	tensor_number_clear(number);
	return error_set(error, "tensor: an element is no number");
}
