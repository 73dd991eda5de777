#include "protocol/tensoranswer.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"

static int read_data(struct tensor_answer *answer, const json_t *body, struct error *error)
{
	const char *data = json_get_string(body, "data", NULL);

	if (data && base64_decode(&answer->data, data, strlen(data)) < 0)
		return error_set(error, "the elements are not valid base64, or too large");
	return 0;
}

static void tensoranswer_read_frame(struct tensor_answer *answer, const json_t *frame)
{
	const char *func = json_get_string(frame, "func", NULL);

	if (!func)
		return;
	answer->func = xstrdup(func);
	answer->file = xstrdup_or_null(json_get_string(frame, "file", NULL));
	answer->line = json_get_count(frame, "lineno");
	answer->depth = json_get_count(frame, "depth");
}

int tensor_answer_from_json(struct tensor_answer *answer, const json_t *body, struct error *error)
{
	const json_t *tensor = json_object_get(body, "tensor");
	const json_t *slice = json_object_get(body, "slice");

	*answer = (struct tensor_answer){
		.has_tensor = json_is_object(tensor),
		.has_slice = json_is_object(slice),
		.found = json_get_integer(body, "found", -1),
	};
	tensor_init(&answer->tensor);
	tensor_slice_clear(&answer->slice);
	buffer_init(&answer->data, TENSOR_DATA_MAXIMUM);
	if (variable_from_json(&answer->value, json_object_get(body, "value"), error) < 0 ||
	    read_data(answer, body, error) < 0)
		return -1;
	tensoranswer_read_frame(answer, json_object_get(body, "frame"));
	if (answer->has_tensor && tensor_from_json(&answer->tensor, tensor, error) < 0)
		return -1;
	if (answer->has_slice && tensor_slice_from_json(&answer->slice, slice, error) < 0)
		return -1;
	return 0;
}

void tensor_answer_clear(struct tensor_answer *answer)
{
	variable_clear(&answer->value);
	tensor_clear(&answer->tensor);
	tensor_slice_clear(&answer->slice);
	buffer_clear(&answer->data);
	free(answer->func);
	free(answer->file);
	*answer = (struct tensor_answer){ .found = -1 };
}

#define PARAMETERS_MAXIMUM 1000000

void tensor_parameters_clear(struct tensor_parameters *parameters)
{
	for (size_t i = 0; i < parameters->count; i++) {
		free(parameters->items[i].name);
		free(parameters->items[i].value);
		free(parameters->items[i].error);
		tensor_clear(&parameters->items[i].tensor);
	}
	free(parameters->items);
	*parameters = (struct tensor_parameters){ .total = -1 };
}

struct tensor_parameter *tensor_parameters_add(struct tensor_parameters *parameters)
{
	struct tensor_parameter *parameter;

	ARRAY_GROW(parameters->items, parameters->count, parameters->capacity);
	parameter = &parameters->items[parameters->count++];
	*parameter = (struct tensor_parameter){ .name = NULL };
	tensor_init(&parameter->tensor);
	return parameter;
}

static const char *tensorparameters_kind_of(const struct tensor_parameter *item)
{
	if (item->value)
		return "value";
	return item->is_buffer ? "buffer" : "parameter";
}

json_t *tensor_parameters_to_json(const struct tensor_parameters *parameters)
{
	json_t *json = json_object();
	json_t *array = json_array();

	for (size_t i = 0; i < parameters->count; i++) {
		const struct tensor_parameter *item = &parameters->items[i];
		json_t *one = json_object();

		json_set_text(one, "name", item->name);
		json_set_text(one, "kind", tensorparameters_kind_of(item));
		if (item->value)
			json_set_text(one, "value", item->value);
		json_object_set_new(one, "tensor",
				    item->tensor.dtype ? tensor_to_json(&item->tensor)
						       : json_null());
		json_set_text(one, "error", item->error);
		json_array_append_new(array, one);
	}
	json_object_set_new(json, "parameters", array);
	if (parameters->has_values)
		json_object_set_new(json, "values", json_true());
	json_object_set_new(json, "total",
			    parameters->total < 0 ? json_null() : json_integer(parameters->total));
	return json;
}

static int read_parameter(struct tensor_parameter *parameter, const json_t *json,
			  struct error *error)
{
	const json_t *tensor = json_object_get(json, "tensor");
	const char *name = json_get_string(json, "name", NULL);
	const char *why = json_get_string(json, "error", NULL);

	if (!name)
		return error_set(error, "tensor: a parameter has no name");
	parameter->name = xstrdup(name);
	parameter->is_buffer = strcmp(json_get_string(json, "kind", ""), "buffer") == 0;
	if (why)
		parameter->error = xstrdup(why);
	parameter->value = xstrdup_or_null(json_get_string(json, "value", NULL));
	if (!json_is_object(tensor))
		return 0;
	return tensor_from_json(&parameter->tensor, tensor, error);
}

int tensor_parameters_from_json(struct tensor_parameters *parameters, const json_t *json,
				struct error *error)
{
	const json_t *array = json_object_get(json, "parameters");
	size_t count = json_array_size(array);

	if (!json_is_array(array) || count > PARAMETERS_MAXIMUM - parameters->count)
		return error_set(error, "tensor: invalid list of parameters");
	for (size_t i = 0; i < count; i++)
		if (read_parameter(tensor_parameters_add(parameters), json_array_get(array, i),
				   error) < 0)
			return -1;
	parameters->total = json_get_integer(json, "total", -1);
	parameters->has_values = json_get_boolean(json, "values", false);
	return 0;
}
