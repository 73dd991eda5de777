#include "backends/http/agent-evaluate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "backends/http/agent-tensors.h"
#include "backends/http/agent.h"
#include "backends/http/stopped-threads.h"
#include "backends/node.h"
#include "backends/timeout-extension.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/sample.h"
#include "protocol/variable.h"

/*
 * Seconds: the agent's default and maximum time for an evaluation, and the extra time for its
 * answer to arrive.
 */
#define EVALUATE_SECONDS 30.0
#define EVALUATE_MAXIMUM 3600.0
#define GRACE_SECONDS 3.0
/* Seconds to wait for the answer to an eject; the agent waits 3 s for its threads to end. */
#define EJECT_SECONDS 10.0

/* Adds the frame that the request names, if any. Returns -1 if there is no such frame. */
static int agent_evaluate_add_frame(const struct agent *agent, const struct message *request,
				    json_t *arguments, struct error *error)
{
	const struct halt_frame *frame;

	if (!agent_has_frame(request))
		return 0;
	frame = agent_find_frame(agent, request, error);
	if (!frame)
		return -1;
	json_object_set_new(arguments, "frameId", json_integer(frame->id));
	return 0;
}

static double agent_evaluate_read_seconds(const struct message *request)
{
	double seconds = json_get_real(request->body, "timeout", EVALUATE_SECONDS);

	return seconds > 0 && seconds <= EVALUATE_MAXIMUM ? seconds : EVALUATE_SECONDS;
}

/*
 * Code
 */

static json_t *agent_evaluate_make_result(const json_t *told)
{
	uint64_t address = agent_address(told);
	int64_t children = agent_child_count(told);
	json_t *body = json_object();

	json_set_text(body, "result",
		      json_get_string(told, "result", json_get_string(told, "value", "")));
	json_set_text(body, "type", json_get_string(told, "type", NULL));
	json_set_hex(body, "address", address);
	if (children >= 0)
		json_object_set_new(body, "children", json_integer(children));
	else
		json_set_text(body, "children", NULL);
	json_set_text(body, "output", json_get_string(told, "output", ""));
	return body;
}

/* Returns the data of a failure: the traceback, and the output before the exception. */
static json_t *agent_evaluate_make_failure(const json_t *told)
{
	json_t *body = json_object();

	if (json_get_string(told, "traceback", NULL))
		json_set_text(body, "traceback", json_get_string(told, "traceback", NULL));
	if (json_get_string(told, "output", NULL))
		json_set_text(body, "output", json_get_string(told, "output", NULL));
	return body;
}

static void on_result(struct agent_request *query, json_t *body, const struct error *error)
{
	agent_request_respond(
		query, error ? agent_evaluate_make_failure(body) : agent_evaluate_make_result(body),
		error);
}

int agent_evaluate(struct agent *agent, const struct message *request, struct error *error)
{
	const char *text = json_get_string(request->body, "expression", "");
	double seconds = agent_evaluate_read_seconds(request);
	json_t *arguments;

	if (!text[0])
		return error_set(error, "the expression is empty");
	arguments = json_object();
	if (agent_evaluate_add_frame(agent, request, arguments, error) < 0) {
		json_decref(arguments);
		return -1;
	}
	json_set_text(arguments, "expression", text);
	/* The agent runs statements in every context of DAP's evaluate request. */
	json_set_text(arguments, "context", "repl");
	json_object_set_new(arguments, "timeout", json_real(seconds));
	agent_request_send(agent_request_new(agent, request, on_result), "evaluate", arguments,
			   seconds + GRACE_SECONDS);
	return 0;
}

static void on_cancelled(struct agent_request *query, json_t *body, const struct error *error)
{
	(void)query;
	(void)body;
	(void)error;
}

static void agent_evaluate_cancel(struct agent *agent, int64_t number)
{
	json_t *arguments = json_object();

	json_object_set_new(arguments, "requestId", json_integer(number));
	agent_request_send(agent_request_new(agent, NULL, on_cancelled), "cancel", arguments,
			   AGENT_SECONDS);
}

void agent_cancel(struct agent *agent)
{
	const struct agent_request *query = agent->requests;

	/* The `cancel` requests are added in front, so the iteration does not reach them. */
	for (; query; query = query->next)
		if ((query->done == on_result || agent_tensors_asks(query)) && query->number > 0)
			agent_evaluate_cancel(agent, query->number);
}

int agent_set(struct agent *agent, const struct message *request, struct error *error)
{
	const char *name = json_get_string(request->body, "name", "");
	const char *value = json_get_string(request->body, "value", "");
	json_t *arguments;

	if (!name[0] || !value[0])
		return error_set(error, "setVariable: \"name\" or \"value\" is missing");
	arguments = json_object();
	if (agent_evaluate_add_frame(agent, request, arguments, error) < 0) {
		json_decref(arguments);
		return -1;
	}
	json_set_text(arguments, "expression", name);
	json_set_text(arguments, "value", value);
	agent_request_send(agent_request_new(agent, request, on_result), "setExpression", arguments,
			   EVALUATE_SECONDS + GRACE_SECONDS);
	return 0;
}

static json_t *make_target(const json_t *told)
{
	json_t *target = json_object();

	json_set_text(target, "label", json_get_string(told, "label", ""));
	if (json_get_string(told, "type", NULL))
		json_set_text(target, "type", json_get_string(told, "type", NULL));
	if (json_is_integer(json_object_get(told, "start")))
		json_object_set(target, "start", json_object_get(told, "start"));
	if (json_is_integer(json_object_get(told, "length")))
		json_object_set(target, "length", json_object_get(told, "length"));
	return target;
}

static void agent_evaluate_on_targets(struct agent_request *query, json_t *body,
				      const struct error *error)
{
	const json_t *told = json_object_get(body, "targets");
	json_t *answer = json_object();
	json_t *targets = json_array();

	for (size_t i = 0; !error && i < json_array_size(told); i++)
		json_array_append_new(targets, make_target(json_array_get(told, i)));
	json_object_set_new(answer, "targets", targets);
	agent_request_respond(query, answer, error);
}

int agent_complete(struct agent *agent, const struct message *request, struct error *error)
{
	const char *text = json_get_string(request->body, "text", "");
	int64_t column = json_get_integer(request->body, "column", 0);
	json_t *arguments = json_object();

	if (agent_evaluate_add_frame(agent, request, arguments, error) < 0) {
		json_decref(arguments);
		return -1;
	}
	json_set_text(arguments, "text", text);
	json_object_set_new(arguments, "column", json_integer(column > 0 ? column : 1));
	agent_request_send(agent_request_new(agent, request, agent_evaluate_on_targets),
			   "completions", arguments, AGENT_SECONDS);
	return 0;
}

/* Handles the answer to POST /execute, which is not a DAP request. */
static void on_executed(struct agent_request *query, json_t *body, const struct error *error)
{
	const json_t *raised = json_object_get(body, "error");
	const char *message = json_get_string(raised, "message", "");
	struct error why = ERROR_INIT;

	if (error || !json_is_object(raised)) {
		on_result(query, body, error);
		return;
	}
	error_set(&why, "%s%s%s", json_get_string(raised, "type", "an exception"),
		  message[0] ? ": " : "", message);
	json_object_set(body, "traceback", json_object_get(raised, "traceback"));
	agent_request_respond(query, agent_evaluate_make_failure(body), &why);
}

int agent_execute(struct agent *agent, const struct message *request, struct error *error)
{
	const char *code = json_get_string(request->body, "code", NULL);
	const char *path = json_get_string(request->body, "path", NULL);
	double seconds = agent_evaluate_read_seconds(request);
	json_t *body;

	if ((code != NULL) == (path != NULL))
		return error_set(error, "execute: give either \"code\" or \"path\"");
	body = json_object();
	json_set_text(body, code ? "code" : "path", code ? code : path);
	json_object_set_new(body, "timeout", json_real(seconds));
	agent_request_send_plain(agent_request_new(agent, request, on_executed), "/execute", body,
				 seconds + GRACE_SECONDS);
	return 0;
}

static void on_caught(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;

	if (!error)
		timeout_extension_hear_catch(node_timeout_extension(agent->base.node),
					     agent->base.pid,
					     json_is_object(json_object_get(body, "catch")));
	agent_request_respond(query, error ? NULL : json_incref(body), error);
}

int agent_catch(struct agent *agent, const struct message *request, struct error *error)
{
	const json_t *on = json_object_get(request->body, "on");
	json_t *arguments;

	(void)error;
	/* The time-outs are raised at the same time, not after the answer. */
	if (json_is_true(on))
		timeout_extension_expect(node_timeout_extension(agent->base.node), agent->base.pid);
	arguments = json_object();
	json_object_set(arguments, "on", (json_t *)on);
	if (json_is_number(json_object_get(request->body, "lease")))
		json_object_set(arguments, "lease", json_object_get(request->body, "lease"));
	if (json_is_array(json_object_get(request->body, "types")))
		json_object_set(arguments, "types", json_object_get(request->body, "types"));
	agent_request_send(agent_request_new(agent, request, on_caught), "catch", arguments,
			   AGENT_SECONDS);
	return 0;
}

static void on_watchdogs(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;

	if (!error)
		timeout_extension_learn(node_timeout_extension(agent->base.node), agent->base.pid,
					body);
	else if (query->request.seq == NODE_NOBODY && query->failure != AGENT_REQUEST_LOST)
		timeout_extension_miss(node_timeout_extension(agent->base.node), agent->base.pid);
	agent_request_respond(query, error ? NULL : json_incref(body), error);
}

int agent_watchdog(struct agent *agent, const struct message *request, struct error *error)
{
	json_t *arguments = json_copy(request->body);

	(void)error;
	json_object_del(arguments, "pid");
	agent_request_send(agent_request_new(agent, request, on_watchdogs), "watchdog", arguments,
			   AGENT_SECONDS);
	return 0;
}

/*
 * Eject
 */

static void agent_evaluate_append_part(struct buffer *out, const char *text)
{
	if (!text)
		return;
	buffer_append_string(
		out, out->length > 0 ? "; " : "agent removed; these parts stay in the process: ");
	buffer_append_string(out, text);
}

static json_t *make_linger_socket(const struct agent_request *query, const json_t *told)
{
	const json_t *left = json_object_get(told, "left");
	struct buffer text = BUFFER_INIT;
	json_t *body = json_object();

	for (size_t i = 0; i < json_array_size(left); i++)
		agent_evaluate_append_part(&text, json_string_value(json_array_get(left, i)));
	json_object_set_new(body, "pid", json_integer(query->agent->base.pid));
	json_set_text(body, "result", text.length > 0 ? text.data : "agent removed");
	buffer_clear(&text);
	return body;
}

static void on_ejected(struct agent_request *query, json_t *body, const struct error *error)
{
	struct agent *agent = query->agent;

	agent->ejecting = NULL;
	/*
	 * If the socket has disappeared, the process may have exited before the answer was sent: a
	 * success.
	 */
	if (error && agent->way.path && !agent_endpoint_exists(agent->way.pid, agent->way.uid))
		error = NULL;
	agent_request_respond(query, error ? NULL : make_linger_socket(query, body), error);
	if (error && !agent_is_listening(agent))
		agent_lose(agent, error->message);
	else if (!error)
		agent_end(agent, "the agent was removed: `probetui inject` loads a new one");
}

/* True if a thread is stopped at an uncaught exception: if the agent were removed, the process
 * would exit. */
static bool agent_evaluate_is_held(const json_t *state)
{
	const json_t *stops = json_object_get(state, "stops");

	for (size_t i = 0; i < json_array_size(stops); i++)
		if (stopped_threads_tell_of_hold(json_array_get(stops, i)))
			return true;
	return false;
}

static void agent_evaluate_on_state(struct agent_request *query, json_t *body,
				    const struct error *error)
{
	struct agent *agent = query->agent;
	struct error refused = ERROR_INIT;

	if (agent->ejecting)
		error_set(&refused, "the agent is already being removed");
	else if (error)
		refused = *error;
	else if (agent_evaluate_is_held(body))
		error_set(&refused,
			  "the process is stopped at an uncaught exception, and would exit without "
			  "the agent: continue (c) lets the exception propagate");
	if (error_is_set(&refused)) {
		agent_request_respond(query, NULL, &refused);
		return;
	}
	agent->ejecting = agent_request_follow(query, on_ejected);
	agent_request_send_plain(agent->ejecting, "/eject", json_object(), EJECT_SECONDS);
}

int agent_eject(struct agent *agent, const struct message *request, struct error *error)
{
	(void)error;
	agent_request_send(agent_request_new(agent, request, agent_evaluate_on_state), "state",
			   NULL, AGENT_SECONDS);
	return 0;
}

/*
 * Variables of stopped frames, children of values, and sources.
 */

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
	/*
	 * The agent does not count the children of objects: a value with a reference has at least
	 * one.
	 */
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
		error_set(
			error,
			"the process is running: only frames of a stopped thread can be inspected");
		return NULL;
	}
	if (depth >= 0 && (size_t)depth < stopped->frame_count)
		return &stopped->frames[depth];
	error_set(error, "the frame no longer exists: the stack has changed");
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

/*
 * Returns the number of children: it is known on the last page; before that, it is the count of the
 * scope, or -1.
 */
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
