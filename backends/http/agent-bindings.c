#include "backends/http/agent-bindings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/http/agent.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/json.h"
#include "protocol/debugger.h"

struct breakpoint_binding *agent_bindings_find(struct debugger *debugger, int id)
{
	for (size_t i = 0; i < debugger->binding_count; i++)
		if (debugger->bindings[i].id == id)
			return &debugger->bindings[i];
	return NULL;
}

static const char *find_message(const json_t *told, bool is_set)
{
	const char *message = json_get_string(told, "message", NULL);

	if (is_set || message)
		return message;
	return "Its agent does not say why it is not set.";
}

void agent_bindings_update(struct breakpoint_binding *binding, const json_t *told)
{
	bool is_set = json_get_boolean(told, "verified", false);
	const char *path = json_get_string(json_object_get(told, "source"), "path", NULL);

	binding->number = is_set ? binding->id : 0;
	if (path)
		xreplace(&binding->path, path);
	if (json_get_count(told, "line") > 0)
		binding->line = json_get_count(told, "line");
	if (json_get_count(told, "hits") > binding->hits)
		binding->hits = json_get_count(told, "hits");
	binding->is_refused = json_get_boolean(told, "refused", false);
	xreplace(&binding->message, find_message(told, is_set));
}

void agent_bindings_count_hit(struct agent *agent, int id)
{
	struct breakpoint_binding *binding = agent_bindings_find(&agent->debugger, id);
	char key[16];
	int count;

	if (!binding)
		return;
	/* The agent may have reported this hit already in a `breakpoint` event. */
	snprintf(key, sizeof(key), "%d", id);
	count = json_get_count(agent->counts, key) + 1;
	json_object_set_new(agent->counts, key, json_integer(count));
	if (count > binding->hits)
		binding->hits = count;
}

void agent_bindings_take(struct agent *agent, const json_t *body)
{
	const json_t *told = json_object_get(body, "breakpoint");
	struct debugger *debugger = &agent->debugger;
	struct breakpoint_binding *binding =
		agent_bindings_find(debugger, json_get_count(told, "id"));

	if (!binding)
		return;
	if (strcmp(json_get_string(body, "reason", ""), "removed") == 0) {
		binding->number = 0;
		xreplace(&binding->message, "It is gone.");
	} else {
		agent_bindings_update(binding, told);
	}
	agent_tell_again(agent);
}

void agent_bindings_begin(struct debugger *debugger, const json_t *list)
{
	struct debugger before = *debugger;

	debugger->bindings = NULL;
	debugger->binding_count = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *wanted = json_array_get(list, i);
		int id = json_get_count(wanted, "id");
		struct breakpoint_binding *binding;
		const struct breakpoint_binding *old = agent_bindings_find(&before, id);

		if (debugger->binding_count >= BREAKPOINT_BINDINGS_MAXIMUM)
			break;
		binding = debugger_add_binding(debugger);
		binding->id = id;
		binding->hits = old ? old->hits : 0;
		binding->line = json_get_count(wanted, "line");
		binding->is_disabled = json_get_boolean(wanted, "disabled", false);
		binding->is_temporary = json_get_boolean(wanted, "temporary", false);
		xreplace(&binding->path, json_get_string(wanted, "path", NULL));
		xreplace(&binding->watch, json_get_string(wanted, "watch", NULL));
		xreplace(&binding->condition, json_get_string(wanted, "condition", NULL));
	}
	debugger_clear_bindings(&before);
}

void agent_bindings_refuse(struct breakpoint_binding *binding, const char *why)
{
	binding->number = 0;
	xreplace(&binding->message, why);
}
