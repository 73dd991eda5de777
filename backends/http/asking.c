#include "backends/http/asking.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/http/agent.h"
#include "backends/http/halts.h"
#include "backends/node.h"
#include "backends/patience.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/sample.h"
#include "protocol/variable.h"

/* The agent's own, and its largest. */
#define EVALUATE_SECONDS 30.0
#define EVALUATE_MAXIMUM 3600.0
#define GRACE_SECONDS 3.0
/* It waits 3 s for its threads. */
#define EJECT_SECONDS 10.0

/*
 * The agent opens values by numbers of its own. They travel as addresses that
 * no object has: the upper half is the kernel's.
 */
#define REFERENCE_BASE UINT64_C(0xff00000000000000)
#define REFERENCE_MAXIMUM (INT64_C(1) << 48)

bool asking_is_reference(uint64_t address)
{
	return address >= REFERENCE_BASE;
}

static uint64_t reference_address(const json_t *told)
{
	int64_t reference = json_get_integer(told, "variablesReference", 0);

	return reference > 0 && reference < REFERENCE_MAXIMUM
		       ? REFERENCE_BASE + (uint64_t)reference
		       : 0;
}

static int64_t child_count(const json_t *told)
{
	int64_t named = json_get_integer(told, "namedVariables", 0);
	int64_t indexed = json_get_integer(told, "indexedVariables", 0);

	if (reference_address(told) == 0 || named < 0 || indexed < 0 ||
	    named > INT_MAX || indexed > INT_MAX)
		return -1;
	/* Of an object it does not count them; there is one at least. */
	return named + indexed > 0 ? named + indexed : 1;
}

bool asking_has_frame(const struct message *request)
{
	return json_is_integer(json_object_get(request->body, "tid")) ||
	       json_is_integer(json_object_get(request->body, "depth"));
}

/* The thread of the request, as it stands; NULL and a sentence. */
static struct halt *find_halt(const struct agent *agent,
			      const struct message *request,
			      struct error *error)
{
	int64_t tid = json_get_integer(request->body, "tid", 0);
	struct halt *halt = tid ? halts_find(agent, (pid_t)tid)
				: halts_shown(agent);

	if (!halt)
		error_set(error, "It runs: only a frame that stands can be "
				 "looked into.");
	return halt;
}

static const struct halt_frame *find_frame(const struct agent *agent,
					   const struct message *request,
					   struct error *error)
{
	const struct halt *halt = find_halt(agent, request, error);
	int64_t depth = json_get_integer(request->body, "depth", 0);

	if (!halt)
		return NULL;
	if (depth >= 0 && (size_t)depth < halt->frame_count)
		return &halt->frames[depth];
	error_set(error, "There is no such frame any more; the stack has "
			 "changed.");
	return NULL;
}

/* Where a frame is named; -1: it is not there. */
static int add_frame(const struct agent *agent, const struct message *request,
		     json_t *arguments, struct error *error)
{
	const struct halt_frame *frame;

	if (!asking_has_frame(request))
		return 0;
	frame = find_frame(agent, request, error);
	if (!frame)
		return -1;
	json_object_set_new(arguments, "frameId", json_integer(frame->id));
	return 0;
}

static double read_seconds(const struct message *request)
{
	double seconds = json_get_real(request->body, "timeout",
				       EVALUATE_SECONDS);

	return seconds > 0 && seconds <= EVALUATE_MAXIMUM ? seconds
							  : EVALUATE_SECONDS;
}

/*
 * Code
 */

static json_t *make_result(const json_t *told)
{
	uint64_t address = reference_address(told);
	int64_t children = child_count(told);
	json_t *body = json_object();

	json_set_text(body, "result",
		      json_get_string(told, "result",
				      json_get_string(told, "value", "")));
	json_set_text(body, "type", json_get_string(told, "type", NULL));
	json_set_hex(body, "address", address);
	if (children >= 0)
		json_object_set_new(body, "children", json_integer(children));
	else
		json_set_text(body, "children", NULL);
	json_set_text(body, "output", json_get_string(told, "output", ""));
	return body;
}

/* What it raised, and printed before. */
static json_t *make_failure(const json_t *told)
{
	json_t *body = json_object();

	if (json_get_string(told, "traceback", NULL))
		json_set_text(body, "traceback",
			      json_get_string(told, "traceback", NULL));
	if (json_get_string(told, "output", NULL))
		json_set_text(body, "output",
			      json_get_string(told, "output", NULL));
	return body;
}

static void on_result(struct inquiry *inquiry, json_t *body,
		      const struct error *error)
{
	inquiry_respond(inquiry,
			error ? make_failure(body) : make_result(body), error);
}

int asking_evaluate(struct agent *agent, const struct message *request,
		    struct error *error)
{
	const char *text = json_get_string(request->body, "expression", "");
	const char *context =
		json_get_string(request->body, "context", "watch");
	double seconds = read_seconds(request);
	json_t *arguments;

	if (!text[0])
		return error_set(error, "There is no expression.");
	arguments = json_object();
	if (add_frame(agent, request, arguments, error) < 0) {
		json_decref(arguments);
		return -1;
	}
	json_set_text(arguments, "expression", text);
	/* A statement is fine in both. */
	(void)context;
	json_set_text(arguments, "context", "repl");
	json_object_set_new(arguments, "timeout", json_real(seconds));
	inquiry_send(inquiry_new(agent, request, on_result), "evaluate",
		     arguments, seconds + GRACE_SECONDS);
	return 0;
}

int asking_set(struct agent *agent, const struct message *request,
	       struct error *error)
{
	const char *name = json_get_string(request->body, "name", "");
	const char *value = json_get_string(request->body, "value", "");
	json_t *arguments;

	if (!name[0] || !value[0])
		return error_set(error, "setVariable: there is a \"name\", and "
					"an expression, its \"value\".");
	arguments = json_object();
	if (add_frame(agent, request, arguments, error) < 0) {
		json_decref(arguments);
		return -1;
	}
	json_set_text(arguments, "expression", name);
	json_set_text(arguments, "value", value);
	inquiry_send(inquiry_new(agent, request, on_result), "setExpression",
		     arguments, EVALUATE_SECONDS + GRACE_SECONDS);
	return 0;
}

static json_t *make_target(const json_t *told)
{
	json_t *target = json_object();

	json_set_text(target, "label", json_get_string(told, "label", ""));
	if (json_get_string(told, "type", NULL))
		json_set_text(target, "type",
			      json_get_string(told, "type", NULL));
	if (json_is_integer(json_object_get(told, "start")))
		json_object_set(target, "start",
				json_object_get(told, "start"));
	if (json_is_integer(json_object_get(told, "length")))
		json_object_set(target, "length",
				json_object_get(told, "length"));
	return target;
}

static void on_targets(struct inquiry *inquiry, json_t *body,
		       const struct error *error)
{
	const json_t *told = json_object_get(body, "targets");
	json_t *answer = json_object();
	json_t *targets = json_array();

	for (size_t i = 0; !error && i < json_array_size(told); i++)
		json_array_append_new(targets,
				      make_target(json_array_get(told, i)));
	json_object_set_new(answer, "targets", targets);
	inquiry_respond(inquiry, answer, error);
}

int asking_complete(struct agent *agent, const struct message *request,
		    struct error *error)
{
	const char *text = json_get_string(request->body, "text", "");
	int64_t column = json_get_integer(request->body, "column", 0);
	json_t *arguments = json_object();

	if (add_frame(agent, request, arguments, error) < 0) {
		json_decref(arguments);
		return -1;
	}
	json_set_text(arguments, "text", text);
	json_object_set_new(arguments, "column",
			    json_integer(column > 0 ? column : 1));
	inquiry_send(inquiry_new(agent, request, on_targets), "completions",
		     arguments, AGENT_SECONDS);
	return 0;
}

/* POST /execute is no DAP. */
static void on_executed(struct inquiry *inquiry, json_t *body,
			const struct error *error)
{
	const json_t *raised = json_object_get(body, "error");
	const char *message = json_get_string(raised, "message", "");
	struct error why = ERROR_INIT;

	if (error || !json_is_object(raised)) {
		on_result(inquiry, body, error);
		return;
	}
	error_set(&why, "%s%s%s",
		  json_get_string(raised, "type", "an exception"),
		  message[0] ? ": " : "", message);
	json_object_set(body, "traceback",
			json_object_get(raised, "traceback"));
	inquiry_respond(inquiry, make_failure(body), &why);
}

int asking_execute(struct agent *agent, const struct message *request,
		   struct error *error)
{
	const char *code = json_get_string(request->body, "code", NULL);
	const char *path = json_get_string(request->body, "path", NULL);
	double seconds = read_seconds(request);
	json_t *body;

	if ((code != NULL) == (path != NULL))
		return error_set(error, "execute: it is either \"code\" or the "
					"\"path\" of a file.");
	body = json_object();
	json_set_text(body, code ? "code" : "path", code ? code : path);
	json_object_set_new(body, "timeout", json_real(seconds));
	inquiry_send_plain(inquiry_new(agent, request, on_executed), "/execute",
			   body, seconds + GRACE_SECONDS);
	return 0;
}

static void on_caught(struct inquiry *inquiry, json_t *body,
		      const struct error *error)
{
	struct agent *agent = inquiry->agent;

	if (!error)
		patience_hear_catch(node_patience(agent->base.node),
				    agent->base.pid,
				    json_is_object(json_object_get(body,
								   "catch")));
	inquiry_respond(inquiry, error ? NULL : json_incref(body), error);
}

int asking_catch(struct agent *agent, const struct message *request,
		 struct error *error)
{
	const json_t *on = json_object_get(request->body, "on");
	json_t *arguments;

	if (!json_is_boolean(on))
		return error_set(error, "catch: \"on\" is true or false.");
	arguments = json_object();
	json_object_set(arguments, "on", (json_t *)on);
	if (json_is_number(json_object_get(request->body, "lease")))
		json_object_set(arguments, "lease",
				json_object_get(request->body, "lease"));
	if (json_is_array(json_object_get(request->body, "types")))
		json_object_set(arguments, "types",
				json_object_get(request->body, "types"));
	inquiry_send(inquiry_new(agent, request, on_caught), "catch", arguments,
		     AGENT_SECONDS);
	return 0;
}

static void on_watchdogs(struct inquiry *inquiry, json_t *body,
			 const struct error *error)
{
	struct agent *agent = inquiry->agent;

	if (!error)
		patience_learn(node_patience(agent->base.node),
			       agent->base.pid, body);
	inquiry_respond(inquiry, error ? NULL : json_incref(body), error);
}

int asking_watchdog(struct agent *agent, const struct message *request,
		    struct error *error)
{
	json_t *arguments = json_copy(request->body);

	(void)error;
	json_object_del(arguments, "pid");
	inquiry_send(inquiry_new(agent, request, on_watchdogs), "watchdog",
		     arguments, AGENT_SECONDS);
	return 0;
}

/*
 * It leaves
 */

static void append_part(struct buffer *out, const char *text)
{
	if (!text)
		return;
	buffer_append_string(out, out->length > 0 ? "; " : "there is left: ");
	buffer_append_string(out, text);
}

static json_t *make_farewell(const struct inquiry *inquiry, const json_t *told)
{
	const json_t *left = json_object_get(told, "left");
	struct buffer text = BUFFER_INIT;
	json_t *body = json_object();

	for (size_t i = 0; i < json_array_size(left); i++)
		append_part(&text, json_string_value(json_array_get(left, i)));
	json_object_set_new(body, "pid",
			    json_integer(inquiry->agent->base.pid));
	json_set_text(body, "result",
		      text.length > 0 ? text.data : "nothing of it is left");
	buffer_clear(&text);
	return body;
}

static void on_ejected(struct inquiry *inquiry, json_t *body,
		       const struct error *error)
{
	struct agent *agent = inquiry->agent;

	agent->is_leaving = false;
	/* What was held may have ended before the answer was out. */
	if (error && agent->way.path &&
	    !way_exists(agent->way.pid, agent->way.uid))
		error = NULL;
	inquiry_respond(inquiry, error ? NULL : make_farewell(inquiry, body),
			error);
	if (error)
		agent_lose(agent, error->message);
	else
		agent_end(agent, "Its agent was taken out of it; probetui "
				 "inject puts one in.");
}

int asking_eject(struct agent *agent, const struct message *request,
		 struct error *error)
{
	if (agent->is_leaving)
		return error_set(error, "Its agent is leaving already.");
	agent->is_leaving = true;
	inquiry_send_plain(inquiry_new(agent, request, on_ejected), "/eject",
			   json_object(), EJECT_SECONDS);
	return 0;
}

/*
 * Variables
 */

static enum variable_kind kind_of_scope(const char *name)
{
	return strcmp(name, "Globals") == 0 ? VARIABLE_GLOBAL : VARIABLE_LOCAL;
}

static void read_variable(struct variable_list *list, const json_t *told,
			  enum variable_kind kind)
{
	struct variable *variable = variable_list_add(list);

	variable->name = xstrdup(json_get_string(told, "name", "?"));
	variable->kind = kind;
	variable->type = xstrdup(json_get_string(told, "type", "?"));
	variable->value = xstrdup(json_get_string(told, "value", ""));
	variable->address = reference_address(told);
	variable->child_count = child_count(told);
}

/* The agent does not count what objects have: the last page tells. */
static int64_t find_total(const struct inquiry *inquiry,
			  const struct variable_list *list)
{
	int64_t start = json_get_integer(inquiry->request.body, "start", 0);

	if (list->count < VARIABLE_PAGE)
		return start + (int64_t)list->count;
	return json_get_integer(inquiry->context, "total", -1);
}

static json_t *make_variables(const struct inquiry *inquiry,
			      const json_t *told)
{
	const json_t *asked = inquiry->request.body;
	enum variable_kind kind = (enum variable_kind)inquiry->value;
	struct variable_list list = { .total = -1 };
	json_t *body;

	for (size_t i = 0; i < json_array_size(told) && i < VARIABLE_PAGE; i++)
		read_variable(&list, json_array_get(told, i), kind);
	list.total = find_total(inquiry, &list);
	body = variable_list_to_json(&list);
	variable_list_clear(&list);
	json_object_set_new(body, "pid",
			    json_integer(inquiry->agent->base.pid));
	json_object_set_new(body, "tid",
			    json_integer(json_get_integer(asked, "tid", 0)));
	json_object_set_new(body, "depth",
			    json_integer(json_get_integer(asked, "depth", -1)));
	json_set_hex(body, "address", json_get_hex(asked, "address"));
	json_object_set_new(body, "epoch",
			    json_integer((json_int_t)inquiry->agent->epoch));
	json_object_set_new(body, "start",
			    json_integer(json_get_integer(asked, "start", 0)));
	json_set_text(body, "exactness", exactness_name(EXACT));
	return body;
}

static void on_variables(struct inquiry *inquiry, json_t *body,
			 const struct error *error)
{
	if (error)
		inquiry_respond(inquiry, NULL, error);
	else
		inquiry_respond(
			inquiry,
			make_variables(inquiry,
				       json_object_get(body, "variables")),
			NULL);
}

static void ask_variables(struct inquiry *inquiry, int64_t reference)
{
	json_t *arguments = json_object();
	int64_t start = json_get_integer(inquiry->request.body, "start", 0);

	json_object_set_new(arguments, "variablesReference",
			    json_integer(reference));
	json_object_set_new(arguments, "start", json_integer(start));
	json_object_set_new(arguments, "count", json_integer(VARIABLE_PAGE));
	inquiry_send(inquiry, "variables", arguments, AGENT_SECONDS);
}

static json_t *make_context(int64_t total)
{
	json_t *context = json_object();

	json_object_set_new(context, "total", json_integer(total));
	return context;
}

static void on_scopes(struct inquiry *inquiry, json_t *body,
		      const struct error *error)
{
	const json_t *scope =
		json_array_get(json_object_get(body, "scopes"), 0);
	int64_t reference = json_get_integer(scope, "variablesReference", 0);
	struct inquiry *next;

	if (error) {
		inquiry_respond(inquiry, NULL, error);
		return;
	}
	inquiry->value = kind_of_scope(json_get_string(scope, "name", ""));
	json_decref(inquiry->context);
	inquiry->context = make_context(child_count(scope));
	if (reference <= 0) {
		inquiry_respond(inquiry, make_variables(inquiry, NULL), NULL);
		return;
	}
	next = inquiry_follow(inquiry, on_variables);
	ask_variables(next, reference);
}

int asking_variables(struct agent *agent, const struct message *request,
		     struct error *error)
{
	uint64_t address = json_get_hex(request->body, "address");
	const struct halt_frame *frame;
	struct inquiry *inquiry;
	json_t *arguments;

	if (address) {
		inquiry = inquiry_new(agent, request, on_variables);
		inquiry->value = VARIABLE_ITEM;
		ask_variables(inquiry, (int64_t)(address - REFERENCE_BASE));
		return 0;
	}
	frame = find_frame(agent, request, error);
	if (!frame)
		return -1;
	arguments = json_object();
	json_object_set_new(arguments, "frameId", json_integer(frame->id));
	inquiry_send(inquiry_new(agent, request, on_scopes), "scopes",
		     arguments, AGENT_SECONDS);
	return 0;
}

/*
 * Source
 */

static void on_source(struct inquiry *inquiry, json_t *body,
		      const struct error *error)
{
	const json_t *asked = inquiry->request.body;
	json_t *answer = json_object();

	json_object_set_new(answer, "pid",
			    json_integer(inquiry->agent->base.pid));
	json_set_text(answer, "path", json_get_string(asked, "path", ""));
	json_set_text(answer, "content",
		      error ? NULL : json_get_string(body, "content", NULL));
	json_object_set_new(answer, "changed", json_false());
	if (error)
		json_set_text(answer, "error", error->message);
	inquiry_respond(inquiry, answer, NULL);
}

int asking_source(struct agent *agent, const struct message *request,
		  struct error *error)
{
	json_t *arguments = json_object();
	json_t *source = json_object();

	(void)error;
	json_set_text(source, "path",
		      json_get_string(request->body, "path", ""));
	json_object_set_new(arguments, "source", source);
	json_object_set_new(arguments, "sourceReference", json_integer(0));
	inquiry_send(inquiry_new(agent, request, on_source), "source",
		     arguments, AGENT_SECONDS);
	return 0;
}
