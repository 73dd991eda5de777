/*
 * agent-variables: variables of stopped frames, children of values, and sources.
 */
#include "backends/http/agent-evaluate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/http/agent.h"
#include "backends/http/stopped-threads.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/sample.h"
#include "protocol/variable.h"

/*
 * The agent's variablesReference numbers are sent as addresses that no object can have:
 * they are in the kernel's half of the address space.
 */
#define REFERENCE_BASE UINT64_C(0xff00000000000000)
#define REFERENCE_MAXIMUM (INT64_C(1) << 48)

bool agent_is_reference(uint64_t address)
{
	return address >= REFERENCE_BASE;
}

uint64_t agent_address(const json_t *told)
{
	int64_t reference = json_get_integer(told, "variablesReference", 0);

	return reference > 0 && reference < REFERENCE_MAXIMUM ? REFERENCE_BASE + (uint64_t)reference
							      : 0;
}

int64_t agent_child_count(const json_t *told)
{
	int64_t named = json_get_integer(told, "namedVariables", 0);
	int64_t indexed = json_get_integer(told, "indexedVariables", 0);

	if (agent_address(told) == 0 || named < 0 || indexed < 0 || named > INT_MAX ||
	    indexed > INT_MAX)
		return -1;
	/* The agent does not count the children of objects; there is at least one. */
	return named + indexed > 0 ? named + indexed : 1;
}

bool agent_has_frame(const struct message *request)
{
	return json_is_integer(json_object_get(request->body, "tid")) ||
	       json_is_integer(json_object_get(request->body, "depth"));
}

const struct halt_frame *agent_find_frame(const struct agent *agent, const struct message *request,
					  struct error *error)
{
	const struct stopped_thread *stopped = stopped_threads_find_asked(agent, request);
	int64_t depth = json_get_integer(request->body, "depth", 0);

	if (!stopped) {
		error_set(error, "It runs: only a frame that stands can be looked into.");
		return NULL;
	}
	if (depth >= 0 && (size_t)depth < stopped->frame_count)
		return &stopped->frames[depth];
	error_set(error, "There is no such frame any more; the stack has changed.");
	return NULL;
}

/*
 * Variables
 */

static enum variable_kind kind_of_scope(const char *name)
{
	return strcmp(name, "Globals") == 0 ? VARIABLE_GLOBAL : VARIABLE_LOCAL;
}

static void read_variable(struct variable_list *list, const json_t *told, enum variable_kind kind)
{
	struct variable *variable = variable_list_add(list);

	variable->name = xstrdup(json_get_string(told, "name", "?"));
	variable->kind = kind;
	variable->type = xstrdup(json_get_string(told, "type", "?"));
	variable->value = xstrdup(json_get_string(told, "value", ""));
	variable->address = agent_address(told);
	variable->child_count = agent_child_count(told);
}

/* Returns the number of children: known on the last page, else the scope's count or -1. */
static int64_t find_total(const struct agent_request *query, const struct variable_list *list)
{
	int64_t start = json_get_integer(query->request.body, "start", 0);

	if (list->count < VARIABLE_PAGE)
		return start + (int64_t)list->count;
	return json_get_integer(query->context, "total", -1);
}

static json_t *agent_variables_make_variables(const struct agent_request *query, const json_t *told)
{
	const json_t *asked = query->request.body;
	enum variable_kind kind = (enum variable_kind)query->value;
	struct variable_list list = { .total = -1 };
	json_t *body;

	for (size_t i = 0; i < json_array_size(told) && i < VARIABLE_PAGE; i++)
		read_variable(&list, json_array_get(told, i), kind);
	list.total = find_total(query, &list);
	body = variable_list_to_json(&list);
	variable_list_clear(&list);
	json_object_set_new(body, "pid", json_integer(query->agent->base.pid));
	json_object_set_new(body, "tid", json_integer(json_get_integer(asked, "tid", 0)));
	json_object_set_new(body, "depth", json_integer(json_get_integer(asked, "depth", -1)));
	json_set_hex(body, "address", json_get_hex(asked, "address"));
	json_object_set_new(body, "epoch", json_integer((json_int_t)query->agent->epoch));
	json_object_set_new(body, "start", json_integer(json_get_integer(asked, "start", 0)));
	json_set_text(body, "exactness", exactness_name(EXACT));
	return body;
}

static void on_variables(struct agent_request *query, json_t *body, const struct error *error)
{
	if (error)
		agent_request_respond(query, NULL, error);
	else
		agent_request_respond(
			query,
			agent_variables_make_variables(query, json_object_get(body, "variables")),
			NULL);
}

static void ask_variables(struct agent_request *query, int64_t reference)
{
	json_t *arguments = json_object();
	int64_t start = json_get_integer(query->request.body, "start", 0);

	json_object_set_new(arguments, "variablesReference", json_integer(reference));
	json_object_set_new(arguments, "start", json_integer(start));
	json_object_set_new(arguments, "count", json_integer(VARIABLE_PAGE));
	agent_request_send(query, "variables", arguments, AGENT_SECONDS);
}

static json_t *make_context(int64_t total)
{
	json_t *context = json_object();

	json_object_set_new(context, "total", json_integer(total));
	return context;
}

static void on_scopes(struct agent_request *query, json_t *body, const struct error *error)
{
	const json_t *scope = json_array_get(json_object_get(body, "scopes"), 0);
	int64_t reference = json_get_integer(scope, "variablesReference", 0);
	struct agent_request *next;

	if (error) {
		agent_request_respond(query, NULL, error);
		return;
	}
	query->value = kind_of_scope(json_get_string(scope, "name", ""));
	json_decref(query->context);
	query->context = make_context(agent_child_count(scope));
	if (reference <= 0) {
		agent_request_respond(query, agent_variables_make_variables(query, NULL), NULL);
		return;
	}
	next = agent_request_follow(query, on_variables);
	ask_variables(next, reference);
}

int agent_variables(struct agent *agent, const struct message *request, struct error *error)
{
	uint64_t address = json_get_hex(request->body, "address");
	const struct halt_frame *frame;
	struct agent_request *query;
	json_t *arguments;

	if (address) {
		query = agent_request_new(agent, request, on_variables);
		query->value = VARIABLE_ITEM;
		ask_variables(query, (int64_t)(address - REFERENCE_BASE));
		return 0;
	}
	frame = agent_find_frame(agent, request, error);
	if (!frame)
		return -1;
	arguments = json_object();
	json_object_set_new(arguments, "frameId", json_integer(frame->id));
	agent_request_send(agent_request_new(agent, request, on_scopes), "scopes", arguments,
			   AGENT_SECONDS);
	return 0;
}

/*
 * Source
 */

static void on_source(struct agent_request *query, json_t *body, const struct error *error)
{
	const json_t *asked = query->request.body;
	json_t *answer = json_object();

	json_object_set_new(answer, "pid", json_integer(query->agent->base.pid));
	json_set_text(answer, "path", json_get_string(asked, "path", ""));
	json_set_text(answer, "content", error ? NULL : json_get_string(body, "content", NULL));
	json_object_set_new(answer, "changed", json_false());
	if (error)
		json_set_text(answer, "error", error->message);
	agent_request_respond(query, answer, NULL);
}

int agent_source(struct agent *agent, const struct message *request, struct error *error)
{
	json_t *arguments = json_object();
	json_t *source = json_object();

	(void)error;
	json_set_text(source, "path", json_get_string(request->body, "path", ""));
	json_object_set_new(arguments, "source", source);
	json_object_set_new(arguments, "sourceReference", json_integer(0));
	agent_request_send(agent_request_new(agent, request, on_source), "source", arguments,
			   AGENT_SECONDS);
	return 0;
}
