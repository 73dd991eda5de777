#include "backends/tensor/asking.h"

#include <string.h>

#include "banned.h"
#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/node.h"
#include "backends/ptrace/connection.h"
#include "backends/tensor/finding.h"
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

/* Where code would have to run, the sentences of pyexpression.h say so. */
static void respond_error(struct node *node, const struct message *request,
			  const struct error *why)
{
	struct error error = *why;

	if (strstr(why->message, " run "))
		error_set(&error,
			  "%s An agent in it does that: probetui inject, or "
			  "PROBETUI=1 at its start.",
			  why->message);
	node_respond(node, request, NULL, error.message);
}

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
	if (!agent)
		respond_error(node, request, why);
	else if (agent->backend->send(agent, kind, request, &error) < 0)
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

static void answer(struct node *node, pid_t pid, const struct message *request,
		   const struct found *found)
{
	struct tensor tensor;

	if (!found->value.has_tensor) {
		answer_tensor(node, pid, request, found, NULL);
		return;
	}
	tensor_init(&tensor);
	pytensor_tell(&found->value.tensor, &tensor);
	tensor.is_live = !is_stopped(node, pid);
	answer_tensor(node, pid, request, found, &tensor);
	tensor_clear(&tensor);
}

/* What is found from outside; -1 and why not. */
static int look(struct node *node, const struct process *process,
		const struct message *request, struct found *found,
		struct error *error)
{
	struct ptrace_connection *reader = find_reader(node, process, error);
	struct finding finding;
	int result;

	found->needs_code = true;
	if (!reader)
		return -1;
	result = finding_parse(&finding, request->body, error);
	found->needs_code = finding.text && !finding.expression;
	if (!result)
		result = finding_look(&finding, reader, found, error);
	finding_clear(&finding);
	return result;
}

void tensor_request(struct node *node, const struct process *process,
		    const struct message *request)
{
	struct found found = { .list = { .total = -1 } };
	struct error error = ERROR_INIT;

	if (look(node, process, request, &found, &error) == 0)
		answer(node, process->pid, request, &found);
	else if (found.needs_code)
		ask_agent(node, process, REQUEST_TENSOR, request, &error);
	else
		node_respond(node, request, NULL, error.message);
	found_clear(&found);
}

void tensor_parameters_request(struct node *node, const struct process *process,
			       const struct message *request)
{
	struct error error = ERROR_INIT;

	error_set(&error, "Parameters are not listed from outside yet.");
	ask_agent(node, process, REQUEST_PARAMETERS, request, &error);
}
