#include "backends/http/agent-tensors.h"

#include <string.h>

#include "backends/http/agent-evaluate.h"
#include "backends/http/agent-resume.h"
#include "backends/http/agent.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/tensor.h"
#include "protocol/tensoranswer.h"
#include "protocol/variable.h"

/*
 * Seconds: the agent's default and maximum time for a request, and the extra time for its answer to
 * arrive.
 */
#define SECONDS 30.0
#define SECONDS_MAXIMUM 3600.0
#define GRACE_SECONDS 5.0
/* Maximum number of base64 characters of a tensor's data. */
#define DATA_LENGTH_MAXIMUM (TENSOR_DATA_MAXIMUM / 3 * 4 + 8)

/*
 * Requests
 */

static const char *const passed[] = {
	"expression", "depth", "frames", "function", "search", "statistics", "bins",  "hash",
	"blocks",     "slice", "find",	 "after",    "data",   "gradients",  "start", "values",
};

static double agent_tensors_read_seconds(const struct message *request)
{
	double seconds = json_get_real(request->body, "timeout", SECONDS);

	return seconds > 0 && seconds <= SECONDS_MAXIMUM ? seconds : SECONDS;
}

static int agent_tensors_send(struct agent *agent, const struct message *request,
			      const char *command,
			      void (*done)(struct agent_request *query, json_t *body,
					   const struct error *error),
			      struct error *error)
{
	double seconds = agent_tensors_read_seconds(request);
	int64_t tid = json_get_integer(request->body, "tid", 0);
	int64_t thread = 0;
	json_t *arguments;

	if (!json_get_string(request->body, "expression", NULL))
		return error_set(
			error,
			"the agent cannot read an object by its address: give an \"expression\"");
	/* The main thread's number (threadId) may not be known yet, and can be omitted. */
	if (tid != 0 && tid != agent->base.pid) {
		thread = agent_resume_thread(agent, request);
		if (thread <= 0)
			return error_set(error, "the thread no longer exists");
	}
	arguments = json_object();
	for (size_t i = 0; i < ARRAY_LENGTH(passed); i++)
		json_object_set(arguments, passed[i], json_object_get(request->body, passed[i]));
	if (thread > 0)
		json_object_set_new(arguments, "threadId", json_integer(thread));
	json_object_set_new(arguments, "timeout", json_real(seconds));
	agent_request_send(agent_request_new(agent, request, done), command, arguments,
			   seconds + GRACE_SECONDS);
	return 0;
}

/* Answers: only values that were parsed and checked are sent to the screen */

static json_t *make_value(const json_t *told)
{
	uint64_t address = agent_address(told);
	struct variable value = {
		.name = (char *)json_get_string(told, "name", ""),
		.kind = VARIABLE_ITEM,
		.type = (char *)json_get_string(told, "type", "?"),
		.value = (char *)json_get_string(told, "value", ""),
		.address = address,
		.child_count = agent_child_count(told),
	};

	return variable_to_json(&value);
}

static json_t *agent_tensors_make_frame(const json_t *told)
{
	json_t *frame;

	if (!json_is_object(told))
		return json_null();
	frame = json_object();
	json_set_text(frame, "func", json_get_string(told, "func", "?"));
	json_set_text(frame, "file", json_get_string(told, "file", "?"));
	json_object_set_new(frame, "lineno", json_integer(json_get_count(told, "lineno")));
	json_object_set_new(frame, "depth", json_integer(json_get_integer(told, "depth", 0)));
	return frame;
}

/* Returns the tensor as JSON (null: none). Returns NULL and sets error if it is not valid. */
static json_t *make_tensor(const json_t *told, struct error *error)
{
	struct tensor tensor;
	json_t *json = NULL;

	if (!json_is_object(told))
		return json_null();
	tensor_init(&tensor);
	if (tensor_from_json(&tensor, told, error) == 0)
		json = tensor_to_json(&tensor);
	tensor_clear(&tensor);
	return json;
}

static json_t *make_slice(const json_t *told, struct error *error)
{
	struct tensor_slice slice;
	json_t *json = NULL;

	if (tensor_slice_from_json(&slice, told, error) == 0)
		json = tensor_slice_to_json(&slice);
	tensor_slice_clear(&slice);
	return json;
}

static int agent_tensors_add_elements(json_t *body, const json_t *told, struct error *error)
{
	const json_t *slice = json_object_get(told, "slice");
	const json_t *found = json_object_get(told, "found");
	const char *data = json_get_string(told, "data", NULL);
	json_t *made = NULL;

	json_object_set_new(body, "found",
			    json_is_integer(found) ? json_integer(json_integer_value(found))
						   : json_null());
	if (data && strlen(data) > DATA_LENGTH_MAXIMUM)
		return error_set(error, "tensor: the agent's answer has too much data");
	if (data)
		json_set_text(body, "data", data);
	if (!json_is_object(slice))
		return 0;
	made = make_slice(slice, error);
	if (!made)
		return -1;
	json_object_set_new(body, "slice", made);
	return 0;
}

static json_t *begin_answer(const struct agent_request *query, const json_t *told)
{
	json_t *body = json_object();

	json_object_set_new(body, "pid", json_integer(query->agent->base.pid));
	json_object_set_new(body, "frame",
			    agent_tensors_make_frame(json_object_get(told, "frame")));
	return body;
}

static pid_t find_tid(const struct agent *agent, const json_t *told)
{
	pid_t tid = agent_tid(agent, json_get_integer(told, "tid", 0));

	return tid > 0 ? tid : agent->base.pid;
}

static json_t *agent_tensors_make_answer(const struct agent_request *query, const json_t *told,
					 struct error *error)
{
	json_t *tensor = make_tensor(json_object_get(told, "tensor"), error);
	json_t *body;

	if (!tensor)
		return NULL;
	body = begin_answer(query, told);
	json_object_set_new(body, "tensor", tensor);
	json_object_set_new(body, "tid", json_integer(find_tid(query->agent, told)));
	json_object_set_new(body, "value", make_value(json_object_get(told, "value")));
	if (agent_tensors_add_elements(body, told, error) == 0)
		return body;
	json_decref(body);
	return NULL;
}

static json_t *make_list(const struct agent_request *query, const json_t *told, struct error *error)
{
	struct tensor_parameters parameters = { .total = -1 };
	json_t *list = NULL;
	json_t *body = NULL;

	if (tensor_parameters_from_json(&parameters, told, error) == 0)
		list = tensor_parameters_to_json(&parameters);
	tensor_parameters_clear(&parameters);
	if (!list)
		return NULL;
	body = begin_answer(query, told);
	json_object_update(body, list);
	json_decref(list);
	return body;
}

static void agent_tensors_respond(struct agent_request *query, const json_t *told,
				  const struct error *error,
				  json_t *(*make)(const struct agent_request *query,
						  const json_t *told, struct error *error))
{
	struct error senseless = ERROR_INIT;
	struct error why = ERROR_INIT;
	json_t *body;

	if (error) {
		agent_request_respond(query, NULL, error);
		return;
	}
	body = make(query, told, &senseless);
	if (!body)
		error_set(&why, "the agent's answer is invalid: %s", senseless.message);
	agent_request_respond(query, body, body ? NULL : &why);
}

static void on_tensor(struct agent_request *query, json_t *body, const struct error *error)
{
	agent_tensors_respond(query, body, error, agent_tensors_make_answer);
}

static void on_parameters(struct agent_request *query, json_t *body, const struct error *error)
{
	agent_tensors_respond(query, body, error, make_list);
}

int agent_tensors_ask(struct agent *agent, const struct message *request, struct error *error)
{
	return agent_tensors_send(agent, request, "probetui/tensor", on_tensor, error);
}

int agent_tensors_list(struct agent *agent, const struct message *request, struct error *error)
{
	return agent_tensors_send(agent, request, "probetui/parameters", on_parameters, error);
}

bool agent_tensors_asks(const struct agent_request *query)
{
	return query->done == on_tensor || query->done == on_parameters;
}
