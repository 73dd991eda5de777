#include "backends/http/agent-breakpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/http/agent.h"
#include "backends/http/stopped-threads.h"
#include "backends/node.h"
#include "backends/timeout-extension.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/debugger.h"

/*
 * round: one setBreakpoints request of the screen, which has all breakpoints of a process. DAP's
 * request has those of one file. So the list is split into parts, one DAP request each, sent at the
 * same time; the last answer completes the round. For data breakpoints, their dataIds are first
 * requested from the agent (is_looking). Concurrent requests arrive in any order, so a round waits
 * until the round before is complete.
 */
struct round {
	struct round *next;
	struct agent *agent;
	json_t *list;
	struct message request; /* the request; name NULL: not answered */
	size_t left;		/* number of unanswered DAP requests; 1 more while they are being
				 * sent */
	bool is_looking;	/* waits for the agent's answers with the dataIds */
};

struct part {
	const char *command;
	const char *path; /* file of a setBreakpoints request; NULL: another command */
};

/*
 * Requested breakpoints
 */

static const char *command_of(const json_t *breakpoint)
{
	if (json_get_string(breakpoint, "watch", NULL))
		return "setDataBreakpoints";
	if (json_get_string(breakpoint, "function", NULL))
		return "setFunctionBreakpoints";
	return "setBreakpoints";
}

static bool is_in(const struct part *part, const json_t *breakpoint)
{
	const char *path = json_get_string(breakpoint, "path", "");

	if (strcmp(command_of(breakpoint), part->command) != 0)
		return false;
	/* A data breakpoint without a dataId was refused: the agent cannot watch the data. */
	if (json_get_string(breakpoint, "watch", NULL) &&
	    !json_get_string(breakpoint, "dataId", NULL))
		return false;
	return !part->path || strcmp(part->path, path) == 0;
}

static void agent_breakpoints_copy_text(json_t *to, const char *name, const json_t *from,
					const char *key)
{
	const char *text = json_get_string(from, key, NULL);

	if (text)
		json_set_text(to, name, text);
}

static json_t *make_wanted(const json_t *breakpoint)
{
	json_t *wanted = json_object();
	int64_t ignore = json_get_integer(breakpoint, "ignore", 0);

	json_object_set_new(wanted, "id", json_integer(json_get_integer(breakpoint, "id", 0)));
	if (json_get_integer(breakpoint, "line", 0) > 0)
		json_object_set(wanted, "line", json_object_get(breakpoint, "line"));
	agent_breakpoints_copy_text(wanted, "name", breakpoint, "function");
	agent_breakpoints_copy_text(wanted, "dataId", breakpoint, "dataId");
	agent_breakpoints_copy_text(wanted, "condition", breakpoint, "condition");
	agent_breakpoints_copy_text(wanted, "logMessage", breakpoint, "log");
	if (ignore > 0)
		json_object_set_new(wanted, "ignore", json_integer(ignore));
	if (json_get_boolean(breakpoint, "temporary", false))
		json_object_set_new(wanted, "temporary", json_true());
	if (json_get_boolean(breakpoint, "disabled", false))
		json_object_set_new(wanted, "disabled", json_true());
	return wanted;
}

static json_t *agent_breakpoints_make_arguments(const struct part *part, const json_t *list)
{
	json_t *arguments = json_object();
	json_t *wanted = json_array();

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *breakpoint = json_array_get(list, i);

		if (is_in(part, breakpoint))
			json_array_append_new(wanted, make_wanted(breakpoint));
	}
	if (part->path) {
		json_t *source = json_object();

		json_set_text(source, "path", part->path);
		json_object_set_new(arguments, "source", source);
	}
	json_object_set_new(arguments, "breakpoints", wanted);
	return arguments;
}

/*
 * Rounds
 */

/* Returns the bindings as JSON, in the form of the event `debugger`. */
static json_t *make_body(const struct agent *agent)
{
	json_t *whole = debugger_to_json(&agent->debugger);
	json_t *body = json_object();

	json_object_set(body, "breakpoints", json_object_get(whole, "breakpoints"));
	json_decref(whole);
	return body;
}

static void agent_breakpoints_begin_round(struct round *round);
static void send_parts(struct round *round);

static void finish_round(struct round *round)
{
	struct agent *agent = round->agent;

	agent->rounds = round->next;
	agent_tell_again(agent);
	if (round->request.name)
		node_respond(agent->base.node, &round->request, make_body(agent), NULL);
	message_clear(&round->request);
	json_decref(round->list);
	free(round);
	if (agent->rounds)
		agent_breakpoints_begin_round(agent->rounds);
}

static void count_down(struct round *round)
{
	if (--round->left > 0)
		return;
	if (round->is_looking) {
		round->is_looking = false;
		send_parts(round);
	} else {
		finish_round(round);
	}
}

static struct agent_request *begin_request(struct round *round, json_t *owned_ids,
					   void (*done)(struct agent_request *query, json_t *body,
							const struct error *error))
{
	struct agent_request *query = agent_request_new(round->agent, NULL, done);

	query->round = round;
	query->context = owned_ids;
	round->left++;
	return query;
}

/*
 * Parts
 */

static struct breakpoint_binding *binding_at(struct agent *agent, const json_t *ids, size_t i)
{
	return agent_bindings_find(&agent->debugger,
				   (int)json_integer_value(json_array_get(ids, i)));
}

static void on_part(struct agent_request *query, json_t *body, const struct error *error)
{
	const json_t *ids = query->context;
	const json_t *told = json_object_get(body, "breakpoints");

	for (size_t i = 0; i < json_array_size(ids); i++) {
		struct breakpoint_binding *binding = binding_at(query->agent, ids, i);
		const json_t *one = json_array_get(told, i);

		if (binding && error)
			agent_bindings_refuse(binding, error->message);
		else if (binding && json_is_object(one))
			agent_bindings_update(binding, one);
	}
	count_down(query->round);
}

static json_t *list_ids(const struct part *part, const json_t *list)
{
	json_t *ids = json_array();

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *breakpoint = json_array_get(list, i);

		if (is_in(part, breakpoint))
			json_array_append_new(ids, json_integer(json_get_count(breakpoint, "id")));
	}
	return ids;
}

static void agent_breakpoints_send_part(struct round *round, const struct part *part)
{
	agent_request_send(begin_request(round, list_ids(part, round->list), on_part),
			   part->command, agent_breakpoints_make_arguments(part, round->list),
			   AGENT_SECONDS);
}

/* Adds the path of each line breakpoint in the list to the set. */
static void add_paths(json_t *paths, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *breakpoint = json_array_get(list, i);
		const char *path = json_get_string(breakpoint, "path", NULL);

		if (path && strcmp(command_of(breakpoint), "setBreakpoints") == 0)
			json_object_set_new(paths, path, json_true());
	}
}

static bool has_any(const char *command, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(command_of(json_array_get(list, i)), command) == 0)
			return true;
	return false;
}

static const char *const lists[] = {
	"setFunctionBreakpoints",
	"setDataBreakpoints",
};

/* Sends the parts of the round. A file or a command that only the former list has gets an empty
 * part, which removes its breakpoints. */
static void send_parts(struct round *round)
{
	struct agent *agent = round->agent;
	json_t *paths = json_object();
	const char *path;
	json_t *unused;

	round->left = 1;
	add_paths(paths, round->list);
	add_paths(paths, agent->breakpoints);
	json_object_foreach(paths, path, unused)
	{
		const struct part part = { "setBreakpoints", path };

		agent_breakpoints_send_part(round, &part);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
		const struct part part = { lists[i], NULL };

		if (has_any(lists[i], round->list) || has_any(lists[i], agent->breakpoints))
			agent_breakpoints_send_part(round, &part);
	}
	json_decref(paths);
	json_decref(agent->breakpoints);
	agent->breakpoints = json_incref(round->list);
	count_down(round);
}

/*
 * Data
 */

static json_t *agent_breakpoints_find_wanted(const json_t *list, int id)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (json_get_count(json_array_get(list, i), "id") == id)
			return json_array_get(list, i);
	return NULL;
}

static void on_info(struct agent_request *query, json_t *body, const struct error *error)
{
	struct round *round = query->round;
	int id = (int)query->value;
	struct breakpoint_binding *binding = agent_bindings_find(&query->agent->debugger, id);
	json_t *wanted = agent_breakpoints_find_wanted(round->list, id);
	const char *data = json_get_string(body, "dataId", NULL);

	if (data && wanted)
		json_set_text(wanted, "dataId", data);
	else if (binding)
		agent_bindings_refuse(binding,
				      error ? error->message
					    : json_get_string(body, "description",
							      "the expression cannot be watched"));
	if (binding && !data && !error)
		binding->is_refused = true;
	count_down(round);
}

static void agent_breakpoints_look_up(struct round *round, json_t *wanted)
{
	struct agent *agent = round->agent;
	const json_t *before =
		agent_breakpoints_find_wanted(agent->breakpoints, json_get_count(wanted, "id"));
	const struct stopped_thread *stopped = stopped_threads_shown(agent);
	size_t depth = (size_t)json_get_count(wanted, "depth");
	json_t *arguments = json_object();
	struct agent_request *query;

	if (json_get_string(before, "dataId", NULL)) {
		agent_breakpoints_copy_text(wanted, "dataId", before, "dataId");
		json_decref(arguments);
		return;
	}
	agent_breakpoints_copy_text(arguments, "name", wanted, "watch");
	if (json_get_boolean(wanted, "nan", false))
		json_object_set_new(arguments, "nan", json_true());
	else if (stopped && depth < stopped->frame_count)
		json_object_set_new(arguments, "frameId", json_integer(stopped->frames[depth].id));
	query = begin_request(round, NULL, on_info);
	query->value = json_get_count(wanted, "id");
	agent_request_send(query, "dataBreakpointInfo", arguments, AGENT_SECONDS);
}

static void agent_breakpoints_begin_round(struct round *round)
{
	round->left = 1;
	round->is_looking = true;
	agent_bindings_begin(&round->agent->debugger, round->list);
	for (size_t i = 0; i < json_array_size(round->list); i++) {
		json_t *wanted = json_array_get(round->list, i);

		if (json_get_string(wanted, "watch", NULL) &&
		    !json_get_boolean(wanted, "disabled", false))
			agent_breakpoints_look_up(round, wanted);
	}
	count_down(round);
}

static void add_round(struct agent *agent, const struct message *request, json_t *owned_list)
{
	struct round *round = xcalloc(1, sizeof(*round));
	struct round **link = &agent->rounds;

	round->agent = agent;
	round->list = owned_list;
	if (request) {
		message_make_request(&round->request, request->name, json_incref(request->body));
		round->request.seq = request->seq;
	}
	while (*link)
		link = &(*link)->next;
	*link = round;
	if (agent->rounds == round)
		agent_breakpoints_begin_round(round);
}

int agent_breakpoints_set(struct agent *agent, const struct message *request, struct error *error)
{
	const json_t *list = json_object_get(request->body, "breakpoints");

	if (breakpoints_check(list, error) < 0)
		return -1;
	add_round(agent, request, json_deep_copy(list));
	return 0;
}

void agent_breakpoints_restore(struct agent *agent)
{
	/* If a round waits for the session, its list is the same or newer. */
	if (json_array_size(agent->breakpoints) > 0 && !agent->rounds) {
		json_t *list = agent->breakpoints;

		agent->breakpoints = NULL;
		add_round(agent, NULL, list);
	}
	agent_breakpoints_restore_filters(agent);
}

/* Exception filters (setExceptionBreakpoints) */

/*
 * Sends the oldest waiting request with filters. Concurrent requests would arrive in any order, so
 * each request waits for the answer to the one before.
 */
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
	/* After a lost connection all waiting requests fail anyway. */
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
	/* If a request is pending, its filters are newer. */
	if (!agent->filtering)
		exception_filters_add(agent, NULL);
}

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
	return "the agent has not set the breakpoint, and gave no reason";
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
	/*
	 * Hits are counted apart, because the agent may have included this hit in a `breakpoint`
	 * event.
	 */
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
		xreplace(&binding->message, "the agent has removed the breakpoint");
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
