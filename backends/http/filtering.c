/*
 * filtering: which exceptions stop (breaking.h).
 */
#include "backends/http/breaking.h"

#include "banned.h"
#include "backends/http/agent.h"
#include "backends/node.h"
#include "base/error.h"
#include "base/json.h"

int breaking_set_filters(struct agent *agent, const struct message *request,
			 struct error *error)
{
	json_t *filters = json_object();
	json_t *list = json_object_get(request->body, "filters");

	if (!json_is_array(list)) {
		json_decref(filters);
		return error_set(error, "setExceptionBreakpoints: \"filters\" "
					"is a list.");
	}
	json_object_set(filters, "filters", list);
	if (json_is_array(json_object_get(request->body, "types")))
		json_object_set(filters, "types",
				json_object_get(request->body, "types"));
	json_decref(agent->filters);
	agent->filters = filters;
	inquiry_send(inquiry_new(agent, request, inquiry_answer),
		     "setExceptionBreakpoints", json_incref(filters),
		     AGENT_SECONDS);
	return 0;
}

static void on_filters(struct inquiry *inquiry, json_t *body,
		       const struct error *error)
{
	(void)body;
	if (error)
		node_say(inquiry->agent->base.node, error->message);
}

void breaking_restore_filters(struct agent *agent)
{
	if (agent->filters)
		inquiry_send(inquiry_new(agent, NULL, on_filters),
			     "setExceptionBreakpoints",
			     json_incref(agent->filters), AGENT_SECONDS);
}
