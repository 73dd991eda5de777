#include "backends/http/breaking.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/http/agent.h"
#include "backends/http/halts.h"
#include "backends/node.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/breakpoint.h"
#include "protocol/debugger.h"

/*
 * setBreakpoints takes all of a process at once; DAP takes those of one file.
 * So a list is cut into parts, one a request, all under way at the same time;
 * the last that is answered answers. Where data are watched the agent is asked
 * first what it calls them (looking).
 */
struct round {
	struct agent *agent;
	json_t *list;
	struct message request; /* name NULL: nobody waits */
	size_t left;
	bool is_looking;
};

struct part {
	const char *command;
	const char *path; /* of a file; NULL */
};

/*
 * What is wanted
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
	return !part->path || strcmp(part->path, path) == 0;
}

static void copy_text(json_t *to, const char *name, const json_t *from,
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

	json_object_set_new(
		wanted, "id",
		json_integer(json_get_integer(breakpoint, "id", 0)));
	if (json_get_integer(breakpoint, "line", 0) > 0)
		json_object_set(wanted, "line",
				json_object_get(breakpoint, "line"));
	copy_text(wanted, "name", breakpoint, "function");
	copy_text(wanted, "dataId", breakpoint, "dataId");
	copy_text(wanted, "condition", breakpoint, "condition");
	copy_text(wanted, "logMessage", breakpoint, "log");
	if (ignore > 0)
		json_object_set_new(wanted, "ignore", json_integer(ignore));
	if (json_get_boolean(breakpoint, "temporary", false))
		json_object_set_new(wanted, "temporary", json_true());
	if (json_get_boolean(breakpoint, "disabled", false))
		json_object_set_new(wanted, "disabled", json_true());
	return wanted;
}

static json_t *make_arguments(const struct part *part, const json_t *list)
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
 * What became of it
 */

static struct breakpoint_binding *find_binding(struct debugger *debugger,
					       int id)
{
	for (size_t i = 0; i < debugger->binding_count; i++)
		if (debugger->bindings[i].id == id)
			return &debugger->bindings[i];
	return NULL;
}

static int get_int(const json_t *object, const char *key)
{
	int64_t value = json_get_integer(object, key, 0);

	return value >= 0 && value <= INT_MAX ? (int)value : 0;
}

static void set_text(char **text, const char *with)
{
	char *copy = xstrdup_or_null(with);

	free(*text);
	*text = copy;
}

static const char *find_message(const json_t *told, bool is_set)
{
	const char *message = json_get_string(told, "message", NULL);

	if (is_set || message)
		return message;
	return "Its agent does not say why it is not set.";
}

static void update(struct breakpoint_binding *binding, const json_t *told)
{
	bool is_set = json_get_boolean(told, "verified", false);
	const char *path = json_get_string(json_object_get(told, "source"),
					   "path", NULL);

	binding->number = is_set ? binding->id : 0;
	if (path)
		set_text(&binding->path, path);
	if (get_int(told, "line") > 0)
		binding->line = get_int(told, "line");
	if (get_int(told, "hits") > binding->hits)
		binding->hits = get_int(told, "hits");
	binding->is_refused = json_get_boolean(told, "refused", false);
	set_text(&binding->message, find_message(told, is_set));
}

void breaking_count(struct agent *agent, int id)
{
	struct breakpoint_binding *binding = find_binding(&agent->debugger, id);
	char key[16];
	int count;

	if (!binding)
		return;
	/* The agent may have told of it already. */
	snprintf(key, sizeof(key), "%d", id);
	count = get_int(agent->counts, key) + 1;
	json_object_set_new(agent->counts, key, json_integer(count));
	if (count > binding->hits)
		binding->hits = count;
}

void breaking_take(struct agent *agent, const json_t *body)
{
	const json_t *told = json_object_get(body, "breakpoint");
	struct debugger *debugger = &agent->debugger;
	struct breakpoint_binding *binding =
		find_binding(debugger, get_int(told, "id"));

	if (!binding)
		return;
	if (strcmp(json_get_string(body, "reason", ""), "removed") == 0) {
		binding->number = 0;
		set_text(&binding->message, "It is gone.");
	} else {
		update(binding, told);
	}
	agent_tell_again(agent);
}

/* Those that are wanted, as they were known before. */
static void begin_bindings(struct debugger *debugger, const json_t *list)
{
	struct debugger before = *debugger;

	debugger->bindings = NULL;
	debugger->binding_count = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *wanted = json_array_get(list, i);
		int id = get_int(wanted, "id");
		struct breakpoint_binding *binding;
		const struct breakpoint_binding *old =
			find_binding(&before, id);

		if (debugger->binding_count >= BREAKPOINT_BINDINGS_MAXIMUM)
			break;
		binding = debugger_add_binding(debugger);
		binding->id = id;
		binding->hits = old ? old->hits : 0;
		binding->line = get_int(wanted, "line");
		binding->is_disabled =
			json_get_boolean(wanted, "disabled", false);
		binding->is_temporary =
			json_get_boolean(wanted, "temporary", false);
		set_text(&binding->path, json_get_string(wanted, "path", NULL));
		set_text(&binding->watch,
			 json_get_string(wanted, "watch", NULL));
		set_text(&binding->condition,
			 json_get_string(wanted, "condition", NULL));
	}
	debugger_clear_bindings(&before);
}

/* Bindings as JSON, as the event has them; `pending` besides. */
static json_t *make_body(const struct agent *agent)
{
	json_t *whole = debugger_to_json(&agent->debugger);
	json_t *body = json_object();

	json_object_set(body, "breakpoints",
			json_object_get(whole, "breakpoints"));
	json_decref(whole);
	return body;
}

/*
 * Rounds
 */

static void send_parts(struct round *round);

static void finish_round(struct round *round)
{
	struct agent *agent = round->agent;

	agent_tell_again(agent);
	if (round->request.name)
		node_respond(agent->base.node, &round->request,
			     make_body(agent), NULL);
	message_clear(&round->request);
	json_decref(round->list);
	free(round);
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

static struct inquiry *begin_inquiry(struct round *round, json_t *owned_ids,
				     void (*done)(struct inquiry *inquiry,
						  json_t *body,
						  const struct error *error))
{
	struct inquiry *inquiry = inquiry_new(round->agent, NULL, done);

	inquiry->round = round;
	inquiry->context = owned_ids;
	round->left++;
	return inquiry;
}

/*
 * Parts
 */

static struct breakpoint_binding *binding_at(struct agent *agent,
					     const json_t *ids, size_t i)
{
	return find_binding(&agent->debugger,
			    (int)json_integer_value(json_array_get(ids, i)));
}

static void refuse_binding(struct breakpoint_binding *binding, const char *why)
{
	binding->number = 0;
	set_text(&binding->message, why);
}

static void on_part(struct inquiry *inquiry, json_t *body,
		    const struct error *error)
{
	const json_t *ids = inquiry->context;
	const json_t *told = json_object_get(body, "breakpoints");

	for (size_t i = 0; i < json_array_size(ids); i++) {
		struct breakpoint_binding *binding =
			binding_at(inquiry->agent, ids, i);
		const json_t *one = json_array_get(told, i);

		if (binding && error)
			refuse_binding(binding, error->message);
		else if (binding && json_is_object(one))
			update(binding, one);
	}
	count_down(inquiry->round);
}

static json_t *list_ids(const struct part *part, const json_t *list)
{
	json_t *ids = json_array();

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *breakpoint = json_array_get(list, i);

		if (is_in(part, breakpoint))
			json_array_append_new(
				ids, json_integer(get_int(breakpoint, "id")));
	}
	return ids;
}

static void send_part(struct round *round, const struct part *part)
{
	inquiry_send(begin_inquiry(round, list_ids(part, round->list), on_part),
		     part->command, make_arguments(part, round->list),
		     AGENT_SECONDS);
}

/* Paths of a list, each once. */
static void add_paths(json_t *paths, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *breakpoint = json_array_get(list, i);
		const char *path = json_get_string(breakpoint, "path", NULL);

		if (path &&
		    strcmp(command_of(breakpoint), "setBreakpoints") == 0)
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

/* What a former list had and this one has not gets an empty part. */
static void send_parts(struct round *round)
{
	struct agent *agent = round->agent;
	json_t *paths = json_object();
	const char *path;
	json_t *unused;

	round->left = 1;
	add_paths(paths, round->list);
	add_paths(paths, agent->breakpoints);
	json_object_foreach(paths, path, unused) {
		const struct part part = { "setBreakpoints", path };

		send_part(round, &part);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
		const struct part part = { lists[i], NULL };

		if (has_any(lists[i], round->list) ||
		    has_any(lists[i], agent->breakpoints))
			send_part(round, &part);
	}
	json_decref(paths);
	json_decref(agent->breakpoints);
	agent->breakpoints = json_incref(round->list);
	count_down(round);
}

/*
 * Data
 */

static json_t *find_wanted(const json_t *list, int id)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (get_int(json_array_get(list, i), "id") == id)
			return json_array_get(list, i);
	return NULL;
}

static void on_info(struct inquiry *inquiry, json_t *body,
		    const struct error *error)
{
	struct round *round = inquiry->round;
	int id = (int)inquiry->value;
	struct breakpoint_binding *binding =
		find_binding(&inquiry->agent->debugger, id);
	json_t *wanted = find_wanted(round->list, id);
	const char *data = json_get_string(body, "dataId", NULL);

	if (data && wanted)
		json_set_text(wanted, "dataId", data);
	else if (binding)
		refuse_binding(binding,
			       error ? error->message
				     : json_get_string(body, "description",
						       "It cannot be "
						       "watched."));
	count_down(round);
}

static void look_up(struct round *round, json_t *wanted)
{
	struct agent *agent = round->agent;
	const json_t *before =
		find_wanted(agent->breakpoints, get_int(wanted, "id"));
	const struct halt *halt = halts_shown(agent);
	size_t depth = (size_t)get_int(wanted, "depth");
	json_t *arguments = json_object();
	struct inquiry *inquiry;

	if (json_get_string(before, "dataId", NULL)) {
		copy_text(wanted, "dataId", before, "dataId");
		json_decref(arguments);
		return;
	}
	copy_text(arguments, "name", wanted, "watch");
	if (halt && depth < halt->frame_count)
		json_object_set_new(arguments, "frameId",
				    json_integer(halt->frames[depth].id));
	inquiry = begin_inquiry(round, NULL, on_info);
	inquiry->value = get_int(wanted, "id");
	inquiry_send(inquiry, "dataBreakpointInfo", arguments, AGENT_SECONDS);
}

static void begin_round(struct agent *agent, const struct message *request,
			json_t *owned_list)
{
	struct round *round = xcalloc(1, sizeof(*round));

	round->agent = agent;
	round->list = owned_list;
	round->left = 1;
	round->is_looking = true;
	if (request) {
		message_make_request(&round->request, request->name,
				     json_incref(request->body));
		round->request.seq = request->seq;
	}
	begin_bindings(&agent->debugger, round->list);
	for (size_t i = 0; i < json_array_size(round->list); i++) {
		json_t *wanted = json_array_get(round->list, i);

		if (json_get_string(wanted, "watch", NULL) &&
		    !json_get_boolean(wanted, "disabled", false))
			look_up(round, wanted);
	}
	count_down(round);
}

int breaking_set(struct agent *agent, const struct message *request,
		 struct error *error)
{
	const json_t *list = json_object_get(request->body, "breakpoints");

	if (breakpoints_check(list, error) < 0)
		return -1;
	begin_round(agent, request, json_deep_copy(list));
	return 0;
}

void breaking_restore(struct agent *agent)
{
	json_t *list = agent->breakpoints;

	agent->breakpoints = NULL;
	if (json_array_size(list) > 0)
		begin_round(agent, NULL, list);
	else
		json_decref(list);
	breaking_restore_filters(agent);
}
