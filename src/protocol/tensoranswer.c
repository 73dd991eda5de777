#include "protocol/tensoranswer.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"

static int read_data(struct tensor_answer *answer, const json_t *body, struct error *error)
{
	const char *data = json_get_string(body, "data", NULL);

	if (data && base64_decode(&answer->data, data, strlen(data)) < 0)
		return error_set(error, "the elements came as no base64, or as too much");
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
