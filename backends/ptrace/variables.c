/*
 * The request `variables`: see peek.h for how a frame is found again.
 */
#include "backends/ptrace/reader.h"

#include "banned.h"
#include "backends/cpython/pyobject.h"
#include "backends/node.h"
#include "backends/ptrace/peek.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/message.h"
#include "protocol/variable.h"

struct asked {
	struct peek reading;
	uint64_t address; /* of an object; 0: a frame */
	const char *type; /* expected type of the object; NULL: any */
	int depth;	  /* of the frame; -1: an object is read */
	int64_t start;
	struct variable_list list;
};

/* Lists the object's children, if it is still at its address, or the frame's locals. */
static int variables_look(struct peek *reading, void *data, struct error *error)
{
	struct asked *asked = data;
	struct pyobject_frame frame;
	struct pyreader reader;

	variable_list_clear(&asked->list);
	asked->list.total = -1;
	peek_reader(reading, &reader);
	if (asked->address)
		return peek_check_type(&reader, asked->address, asked->type, error) < 0
			       ? -1
			       : pyobject_children(&reader, asked->address, asked->start,
						   VARIABLE_PAGE, &asked->list, error);
	if (peek_frame(reading, peek_follow(reading, asked->depth), &frame, error) < 0)
		return -1;
	return pyobject_locals(&reader, &frame, asked->start, VARIABLE_PAGE, &asked->list, error);
}

static int variables_read_it(struct asked *asked, struct error *error)
{
	struct peek *reading = &asked->reading;

	reading->is_of_holder = asked->address != 0;
	if (peek_begin(reading, error) < 0 || peek_look(reading, variables_look, asked, error) < 0)
		return -1;
	if (!asked->address)
		peek_judge(reading);
	else
		reading->exactness = reading->has_stood ? EXACT : CONSISTENT;
	return 0;
}

static void variables_answer(struct asked *asked, const struct message *request)
{
	const struct peek *reading = &asked->reading;
	struct ptrace_connection *connection = reading->connection;
	json_t *body = variable_list_to_json(&asked->list);

	json_object_set_new(body, "pid", json_integer(connection->base.pid));
	json_object_set_new(body, "tid", json_integer(reading->tid));
	if (reading->interpreter > 0)
		json_object_set_new(body, "interpreter", json_integer(reading->interpreter));
	json_object_set_new(body, "depth", json_integer(asked->depth));
	json_set_hex(body, "address", asked->address);
	json_object_set_new(body, "epoch", json_integer((json_int_t)connection->newest.epoch));
	json_object_set_new(body, "start", json_integer(asked->start));
	json_set_text(body, "exactness", exactness_name(reading->exactness));
	node_respond(connection->base.node, request, body, NULL);
}

int ptrace_variables(struct ptrace_connection *connection, const struct message *request,
		     struct error *error)
{
	const json_t *body = request->body;
	uint64_t address = json_get_hex(body, "address");
	int64_t tid = json_get_integer(body, "tid", 0);
	int64_t interpreter = json_get_integer(body, "interpreter", address ? 0 : -1);
	int64_t depth = json_get_integer(body, "depth", address ? -1 : 0);
	struct asked asked = {
		.reading = { .connection = connection, .exactness = CONSISTENT },
		.address = address,
		.type = json_get_string(body, "type", NULL),
		.depth = address ? -1 : (int)depth,
		.start = json_get_integer(body, "start", 0),
		.list.total = -1,
	};
	int result;

	if (depth < 0 && !address)
		return error_set(error, "variables: it takes a \"depth\" or an \"address\".");
	asked.reading.tid = (pid_t)tid;
	asked.reading.interpreter = (int)interpreter;
	result = variables_read_it(&asked, error);
	if (result == 0)
		variables_answer(&asked, request);
	peek_clear(&asked.reading);
	variable_list_clear(&asked.list);
	return result;
}
