#include "backends/tensor/tensor-requests.h"

#include <string.h>

#include "banned.h"
#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/node.h"
#include "backends/tensor/parameter-list.h"
#include "backends/tensor/value-request.h"
#include "base/error.h"
#include "protocol/message.h"

/* An error of pyexpression.h that says that code would have to run contains " run ". */
static void respond_error(struct node *node, const struct message *request, const struct error *why)
{
	struct error error = *why;

	if (strstr(why->message, " run "))
		error_set(
			&error,
			"%s An agent in it does that: probetui inject, or PROBETUI=1 at its start.",
			why->message);
	node_respond(node, request, NULL, error.message);
}

/* An agent would run code, so a read-only client gets none. */
static struct connection *find_agent(struct node *node, const struct process *process,
				     enum request_kind kind, const struct message *request)
{
	if (node_is_read_only(node))
		return NULL;
	return connections_find_agent(node_connections(node), process, kind, request);
}

static void tensor_requests_send(struct node *node, struct connection *agent,
				 enum request_kind kind, const struct message *request)
{
	struct error error = ERROR_INIT;

	if (agent->backend->send(agent, kind, request, &error) < 0)
		node_respond(node, request, NULL, error.message);
}

/* Tries without an agent, then with an agent, then without what only an agent could read. */
static void tensor_requests_ask(struct node *node, const struct process *process,
				enum request_kind kind, const struct message *request,
				enum value_request (*begin)(struct node *node,
							    const struct process *process,
							    const struct message *request,
							    bool is_last, struct error *error))
{
	struct error error = ERROR_INIT;
	enum value_request valuing = begin(node, process, request, false, &error);
	struct connection *agent = NULL;

	if (valuing == VALUE_REQUEST_TOO_MUCH)
		agent = find_agent(node, process, kind, request);
	if (agent) {
		tensor_requests_send(node, agent, kind, request);
		return;
	}
	if (valuing == VALUE_REQUEST_TOO_MUCH)
		valuing = begin(node, process, request, true, &error);
	if (valuing != VALUE_REQUEST_TAKEN)
		respond_error(node, request, &error);
}

void tensor_request(struct node *node, const struct process *process, const struct message *request)
{
	tensor_requests_ask(node, process, REQUEST_TENSOR, request, value_request_begin);
}

void tensor_parameters_request(struct node *node, const struct process *process,
			       const struct message *request)
{
	tensor_requests_ask(node, process, REQUEST_PARAMETERS, request, parameter_list_begin);
}
