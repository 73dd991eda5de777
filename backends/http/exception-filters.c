/*
 * exception-filters: sends the exception filters to the agent (setExceptionBreakpoints).
 */
#include "backends/http/agent-breakpoints.h"

#include "banned.h"
#include "backends/http/agent.h"
#include "backends/node.h"
#include "backends/timeout-extension.h"
#include "base/error.h"
#include "base/json.h"

/* Concurrent requests arrive in any order: each waits for the one before. */
static void send_next(struct agent *agent);

static void on_filters(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;

	if (agent->filtering == query)
		agent->filtering = NULL;
	if (query->request.name)
		agent_request_answer(query, body, error);
	else if (error)
		node_say(agent->base.node, error->message);
	/* A lost connection fails all waiting requests, too. */
	if (query->failure != AGENT_REQUEST_LOST)
		send_next(agent);
}

static void send_next(struct agent *agent)
{
	struct agent_request *oldest = NULL;

	if (agent->filtering)
		return;
	/* The list begins with the newest request. */
	for (struct agent_request *one = agent->requests; one; one = one->next)
		if (one->done == on_filters)
			oldest = one;
	if (!oldest)
		return;
	agent->filtering = oldest;
	agent_request_send(oldest, "setExceptionBreakpoints", json_incref(oldest->context),
			   AGENT_SECONDS);
}

static void exception_filters_add(struct agent *agent, const struct message *request)
{
	struct agent_request *query = agent_request_new(agent, request, on_filters);

	query->context = json_incref(agent->filters);
	send_next(agent);
}

int agent_breakpoints_set_filters(struct agent *agent, const struct message *request,
				  struct error *error)
{
	json_t *filters = json_object();
	json_t *list = json_object_get(request->body, "filters");

	(void)error;
	json_object_set(filters, "filters", list);
	if (json_is_array(json_object_get(request->body, "types")))
		json_object_set(filters, "types", json_object_get(request->body, "types"));
	json_decref(agent->filters);
	agent->filters = filters;
	timeout_extension_hear_filters(node_timeout_extension(agent->base.node), agent->base.pid,
				       json_array_size(list) > 0);
	exception_filters_add(agent, request);
	return 0;
}

void agent_breakpoints_restore_filters(struct agent *agent)
{
	if (!agent->filters)
		return;
	timeout_extension_hear_filters(node_timeout_extension(agent->base.node), agent->base.pid,
				       json_array_size(json_object_get(agent->filters, "filters")) >
					       0);
	/* A pending request has newer filters. */
	if (!agent->filtering)
		exception_filters_add(agent, NULL);
}
