#include "backends/tensor/asking.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/node.h"
#include "backends/ptrace/connection.h"
#include "backends/tensor/finding.h"
#include "base/alloc.h"
#include "base/error.h"
#include "protocol/debugger.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/tensor.h"

/*
 * Who is asked
 */

/* The connection that reads it from outside; NULL and why not. */
static struct ptrace_connection *find_reader(struct node *node,
					     const struct process *process,
					     struct error *error)
{
	return (struct ptrace_connection *)connections_open(
		node_connections(node), process, error);
}

#define NEEDS_AGENT                                                            \
	"An agent in the process can do more: probetui inject, or PROBETUI=1 " \
	"at its start."

/*
 * What could not be told from outside, and why. An agent would run code, which
 * a client that only reads does not want.
 */
static void ask_agent(struct node *node, const struct process *process,
		      enum request_kind kind, const struct message *request,
		      const struct error *why)
{
	struct error error = ERROR_INIT;
	struct connection *agent = NULL;

	if (!node_is_read_only(node))
		agent = connections_find_agent(node_connections(node), process,
					       kind, request);
	if (!agent) {
		node_respond(node, request, NULL, why->message);
		return;
	}
	if (agent->backend->send(agent, kind, request, &error) < 0)
		node_respond(node, request, NULL, error.message);
}

/*
 * tensor
 */

static bool is_stopped(struct node *node, pid_t pid)
{
	const struct debugger *debugger =
		connections_debugger(node_connections(node), pid);

	return debugger && debugger->state == DEBUGGER_STOPPED;
}

static void tell(const struct found *found, struct tensor *tensor)
{
	const struct pytensor *raw = &found->value.tensor;

	tensor_init(tensor);
	tensor->type = xstrdup(found->list.items[0].type
				       ? found->list.items[0].type
				       : "?");
	tensor->dtype = xstrdup(pytensor_dtype(raw));
	tensor->dimension_count = raw->dimension_count;
	memcpy(tensor->shape, raw->shape, sizeof(tensor->shape));
	memcpy(tensor->strides, raw->strides, sizeof(tensor->strides));
	tensor->offset = raw->device ? raw->offset : -1;
	tensor->element_count = raw->element_count;
	if (raw->device)
		tensor->device = xstrdup(raw->device);
}

static void answer_tensor(struct node *node, pid_t pid,
			  const struct message *request,
			  const struct found *found, struct tensor *tensor)
{
	json_t *body = json_object();

	json_object_set_new(body, "pid", json_integer(pid));
	json_object_set_new(body, "tid", json_integer(found->tid));
	json_object_set_new(body, "value",
			    variable_to_json(&found->list.items[0]));
	json_object_set_new(body, "tensor",
			    tensor ? tensor_to_json(tensor) : json_null());
	json_object_set_new(body, "frame", found_frame_to_json(&found->frame));
	json_object_set_new(body, "found", json_null());
	node_respond(node, request, body, NULL);
}

static int look_from_outside(struct node *node, const struct process *process,
			     const struct message *request, struct error *error)
{
	struct ptrace_connection *reader = find_reader(node, process, error);
	struct found found = { .list = { .total = -1 } };
	struct finding finding;
	struct tensor tensor;
	int result;

	if (!reader)
		return -1;
	result = finding_parse(&finding, request->body, error);
	if (!result)
		result = finding_look(&finding, reader, &found, error);
	if (!result && found.value.has_tensor) {
		tell(&found, &tensor);
		tensor.is_live = !is_stopped(node, process->pid);
		answer_tensor(node, process->pid, request, &found, &tensor);
		tensor_clear(&tensor);
	} else if (!result) {
		answer_tensor(node, process->pid, request, &found, NULL);
	}
	found_clear(&found);
	finding_clear(&finding);
	return result;
}

void tensor_request(struct node *node, const struct process *process,
		    const struct message *request)
{
	struct error error = ERROR_INIT;

	if (look_from_outside(node, process, request, &error) < 0)
		ask_agent(node, process, REQUEST_TENSOR, request, &error);
}

void tensor_parameters_request(struct node *node, const struct process *process,
			       const struct message *request)
{
	struct error error = ERROR_INIT;

	error_set(&error, "Parameters are not listed from outside yet.");
	ask_agent(node, process, REQUEST_PARAMETERS, request, &error);
}
