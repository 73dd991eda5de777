/*
 * command-agent: commands that only the agent in a rank can do: stop the rank at an uncaught
 * exception, stop the rank where an exception is raised, run code or a file; and inject the agent.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/debuggers.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-answers.h"
#include "engine/rank-query.h"
#include "engine/request.h"
#include "engine/script-events.h"
#include "protocol/process.h"

#define CATCH_USAGE "on, off, lease TIME, types TYPE..., raised TYPE... or raised off"

/*
 * A request to each rank that a command names. Unlike the requests of control.h, this request needs
 * no debugger: the ranks' processes answer.
 */

struct collection {
	const char *command; /* name that messages begin with */
	const char *request;
	json_t *arguments; /* arguments besides the pid; borrowed; NULL: none */
	/*
	 * Appends an answer as text; ranks with equal text share a row. body is the answer,
	 * completed by those arguments of the request whose keys the answer lacks.
	 */
	void (*say)(struct buffer *out, const json_t *body);
	/* Adds an answer to the JSON object, which has "rank" and "pid". */
	void (*add)(json_t *json, const json_t *body);
};

static int rank_request_ask(const struct collection *asking, struct command_context *context,
			    struct rank_answers *pending, struct error *error)
{
	const struct session *session = &context->engine->session;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		json_t *arguments;

		if (rank->process.pid <= 0 || rank_is_gone(rank) ||
		    !format_is_chosen(&context->ranks, rank))
			continue;
		arguments = json_object();
		json_object_update(arguments, asking->arguments);
		json_object_set_new(arguments, "pid", json_integer(rank->process.pid));
		rank_answers_add(pending, rank->node, rank->process.rank, asking->request,
				 arguments);
	}
	if (pending->count > 0)
		return 0;
	context->status = STATUS_USAGE;
	return error_set(error, "%s: no live rank to act on", asking->command);
}

static void rank_request_append_json(const struct collection *asking,
				     struct command_context *context,
				     const struct group_answer *answer)
{
	const struct rank *rank = session_find_rank(&context->engine->session, answer->rank);
	json_t *json = json_object();

	json_object_set_new(json, "rank", json_integer(answer->rank));
	json_object_set_new(json, "pid",
			    rank && process_shown_pid(&rank->process) > 0
				    ? json_integer(rank->process.pid)
				    : json_null());
	asking->add(json, answer->body);
	format_document(context->out, json);
}

/*
 * Exit status if some rank did not answer: STATUS_NOTHING if no rank answered; otherwise, a finding
 * in a script, and a partial answer in a shell.
 */
static int status_of(const struct command_context *context, size_t count)
{
	if (count == 0)
		return STATUS_NOTHING;
	return context->engine->settings.script ? STATUS_FINDING : STATUS_PARTIAL;
}

/* Prints the ranks' answers; -1, with the ranks' errors in *error: no rank has answered. */
static int rank_request_take_answers(const struct collection *asking,
				     struct command_context *context, struct rank_answers *pending,
				     struct error *error)
{
	struct failures failures = FAILURES_INIT;
	struct failures said = FAILURES_INIT;
	struct group_answer answer;
	struct buffer out = BUFFER_INIT;
	size_t count = 0;

	while (rank_answers_take(pending, &answer)) {
		buffer_reset(&out);
		json_object_update_missing(answer.body, pending->arguments);
		if (answer.error) {
			failures_add(&failures, answer.rank, answer.error);
		} else if (context->is_json) {
			rank_request_append_json(asking, context, &answer);
			count++;
		} else {
			asking->say(&out, answer.body);
			failures_add(&said, answer.rank, out.data);
			count++;
		}
	}
	failures_append_lines(context->out, &said);
	buffer_reset(&out);
	failures_append(&out, &failures);
	if (failures.count > 0)
		context->status = status_of(context, count);
	if (failures.count > 0 && count == 0)
		error_set(error, "%s: %s", asking->command, out.data);
	else if (failures.count > 0)
		script_append_error(context, -1, asking->command, out.data);
	failures_clear(&said);
	failures_clear(&failures);
	buffer_clear(&out);
	return count > 0 ? 0 : -1;
}

/*
 * Sends the request to the ranks of context. A shell waits and prints the answers, a screen prints
 * them later. -1, *error: every rank failed.
 */
static int collection_run(const struct collection *asking, struct command_context *context,
			  struct error *error)
{
	struct engine *engine = context->engine;
	struct rank_answers *pending;
	int result;

	if (command_check_job(engine, asking->command, error) < 0)
		return -1;
	if ((!context->screen && collect_ranks(context, error) < 0) ||
	    collect_named(context, error) < 0)
		return -1;
	pending = rank_answers_new(engine, asking->command);
	pending->tells_results = true;
	pending->say = asking->say;
	pending->arguments = json_incref(asking->arguments);
	result = rank_request_ask(asking, context, pending, error);
	if (result == 0 && context->screen) {
		rank_answers_leave(pending);
		return 0;
	}
	if (result == 0) {
		rank_answers_wait(pending);
		result = rank_request_take_answers(asking, context, pending, error);
	}
	rank_answers_free(pending);
	return result;
}

/*
 * Returns true if catch is on, and sets *lease. Both are read from "catch" in the agent's answer
 * (null, or {"lease", "types"}); if the answer has no "catch", from the request's "on" and "lease".
 */
static bool command_agent_is_caught(const json_t *body, const json_t **lease)
{
	const json_t *armed = json_object_get(body, "catch");
	const json_t *owner = armed ? armed : body;

	*lease = json_object_get(owner, "lease");
	return armed ? json_is_object(armed) : json_is_true(json_object_get(body, "on"));
}

/* Appends the lease exactly: takes a larger unit only without remainder; text_duration() rounds. */
static void say_lease(struct buffer *out, double seconds)
{
	static const struct {
		double seconds;
		const char *word;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" } };

	for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
		if (seconds > 0 && fmod(seconds, units[i].seconds) == 0) {
			buffer_printf(out, "%.0f %s", seconds / units[i].seconds, units[i].word);
			return;
		}
	buffer_printf(out, "%.6g s", seconds);
}

static void say_caught(struct buffer *out, const json_t *body)
{
	const json_t *lease;

	if (!command_agent_is_caught(body, &lease)) {
		buffer_append_string(out, "an uncaught exception ends the process (catch is off)");
		return;
	}
	buffer_append_string(out, "an uncaught exception stops the process");
	if (json_is_number(lease)) {
		buffer_append_string(out, " for at most ");
		say_lease(out, json_number_value(lease));
	}
}

static void add_caught(json_t *json, const json_t *body)
{
	const json_t *lease;
	bool is_on = command_agent_is_caught(body, &lease);

	json_object_set_new(json, "catch", json_boolean(is_on));
	json_object_set_new(json, "lease",
			    is_on && json_is_number(lease) ? json_real(json_number_value(lease))
							   : json_null());
}

static void say_raised(struct buffer *out, const json_t *body)
{
	const json_t *types = json_object_get(body, "types");
	const json_t *type;
	size_t i;

	if (json_array_size(types) == 0)
		buffer_append_string(out, "a raised exception does not stop the process");
	else
		buffer_append_string(out, "the process stops when it raises ");
	json_array_foreach(types, i, type)
	{
		buffer_append_string(out, i > 0 ? ", " : "");
		text_escape(out, json_string_value(type), json_string_length(type));
	}
}

static void command_agent_add_raised(json_t *json, const json_t *body)
{
	json_object_set(json, "raised", json_object_get(body, "types"));
}

static json_t *make_types(const struct arguments *arguments, size_t first)
{
	json_t *types = json_array();

	for (size_t i = first; i < arguments->count; i++)
		json_array_append_new(types, json_text(arguments->words[i]));
	return types;
}

/* Runs `catch raised` with the words after `raised`. */
static int run_raised(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct collection asking = {
		.command = "catch",
		.request = "setExceptionBreakpoints",
		.say = say_raised,
		.add = command_agent_add_raised,
	};
	bool is_off = arguments->count == 2 && strcmp(arguments->words[1], "off") == 0;
	json_t *filters;
	json_t *request;
	int result;

	if (arguments->count < 2)
		return error_set(error, "catch raised needs exception names, or off to stop at "
					"none: use `catch raised ValueError`");
	filters = json_array();
	if (!is_off)
		json_array_append_new(filters, json_string("raised"));
	request = json_pack("{s:o, s:o}", "filters", filters, "types",
			    is_off ? json_array() : make_types(arguments, 1));
	asking.arguments = request;
	result = collection_run(&asking, context, error);
	json_decref(request);
	return result;
}

/* Fills request from the words of `catch`; -1: *error says which words `catch` takes. */
static int read_catch(json_t *request, const struct arguments *arguments, struct error *error)
{
	double lease;

	for (size_t i = 0; i < arguments->count; i++) {
		const char *word = arguments->words[i];
		bool has_more = i + 1 < arguments->count;
		bool is_off = strcmp(word, "off") == 0;

		if (is_off || strcmp(word, "on") == 0) {
			json_object_set_new(request, "on", json_boolean(!is_off));
		} else if (strcmp(word, "types") == 0 && has_more) {
			json_object_set_new(request, "types", make_types(arguments, i + 1));
			return 0;
		} else if (strcmp(word, "lease") == 0 && has_more) {
			if (arguments_duration(arguments->words[++i], "lease", &lease, error) < 0)
				return -1;
			json_object_set_new(request, "lease", json_real(lease));
		} else {
			return error_set(error, "catch needs " CATCH_USAGE);
		}
	}
	return 0;
}

/*
 * Connects to the agents in a script only, so that the script receives later stops: a screen sees
 * stops without a connection, and a single command exits before the first stop.
 */
static void command_agent_follow(struct command_context *context)
{
	struct engine *engine = context->engine;
	const struct session *session = &engine->session;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (engine->settings.script && !rank_is_gone(rank) &&
		    !debugger_is_ours(&rank->debugger) && format_is_chosen(&context->ranks, rank))
			debuggers_connect_agent(engine, rank);
	}
}

static int catch_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	struct collection asking = {
		.command = "catch",
		.request = "catch",
		.say = say_caught,
		.add = add_caught,
	};
	json_t *request;
	int result;

	if (arguments_is(arguments, "raised"))
		return run_raised(context, arguments, error);
	request = json_pack("{s:b}", "on", 1);
	result = read_catch(request, arguments, error);
	asking.arguments = request;
	if (result == 0)
		result = collection_run(&asking, context, error);
	if (result == 0 && json_is_true(json_object_get(request, "on")))
		command_agent_follow(context);
	json_decref(request);
	return result;
}

const struct command command_catch = {
	.name = "catch",
	.synopsis = "[PID] [on | off] [lease TIME] [types TYPE...] | raised TYPE... | raised off "
		    "[ranks SET]",
	.help = "stop ranks on uncaught exceptions; with raised: wherever an exception of TYPE is "
		"raised",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_PID,
	.run = catch_run,
};

/*
 * If the only word is a regular file of this machine, returns its absolute path (owned by the
 * caller); NULL: the words are code.
 */
static char *command_agent_find_file(const struct arguments *arguments)
{
	struct stat about;

	if (arguments->count != 1 || stat(arguments->words[0], &about) < 0 ||
	    !S_ISREG(about.st_mode))
		return NULL;
	return realpath(arguments->words[0], NULL);
}

/* True for a word that can only be the name of a file, not code. */
static bool command_agent_is_path(const char *word)
{
	size_t length = strlen(word);

	if (strcspn(word, " \t\n()[]{}=;:'\"*,") < length)
		return false;
	return strchr(word, '/') || (length > 3 && strcmp(word + length - 3, ".py") == 0);
}

static int execute_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	char *path = command_agent_find_file(arguments);
	char *code = arguments_text(arguments, 0, arguments->count);
	int result;

	if (code[0] == '\0')
		result = error_set(error,
				   "execute needs a file or Python code: use `execute probe.py`");
	else if (!path && arguments->count == 1 && command_agent_is_path(arguments->words[0]))
		result = error_set(error, "file %s does not exist", arguments->words[0]);
	else
		result = rank_query_begin(context, "execute", path ? path : code,
					  path ? ANSWERS_EXECUTE_FILE : ANSWERS_EXECUTE, error);
	free(path);
	free(code);
	return result;
}

const struct command command_execute = {
	.name = "execute",
	.synopsis = "[PID] FILE | CODE [ranks SET]",
	.help = "run FILE or CODE in each rank, in a separate thread",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_PID,
	.run = execute_run,
	.answer = command_answer_evaluated,
};

/* From here on: inject and eject, which put the agent into running ranks and remove the agent. */

static void command_inject_say(struct buffer *out, const json_t *body)
{
	format_text(out, json_get_string(body, "result", "?"));
}

static void command_inject_add(json_t *json, const json_t *body)
{
	json_set_text(json, "listens", json_get_string(body, "result", "?"));
}

/* Refuses what Probe's command inject takes and probetui does not support: flags, an ADDRESS. */
static int check_flags(const struct arguments *arguments, struct error *error)
{
	for (size_t i = 0; i < arguments->count; i++) {
		const char *word = arguments->words[i];

		if (strcmp(word, "-P") == 0 || strcmp(word, "-b") == 0)
			return error_set(
				error,
				"%s %s needs a profiler, which probetui does not have: omit %s",
				arguments->name, word, word);
		if (strcmp(word, "-a") == 0 || strchr(word, ':'))
			return error_set(
				error,
				"%s opens a Unix socket, not a TCP port: omit %.80s; to open a "
				"port, start the program with PROBETUI_ADDRESS and a token",
				arguments->name, word);
	}
	return 0;
}

static int inject_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct collection asking = {
		.command = arguments->name,
		.request = "inject",
		.say = command_inject_say,
		.add = command_inject_add,
	};
	json_t *request;
	int result;

	if (check_flags(arguments, error) < 0 || arguments_refuse_any(arguments, error) < 0)
		return -1;
	request = json_pack("{s:f}", "seconds", request_limit(context->engine->settings.timeout));
	asking.arguments = request;
	result = collection_run(&asking, context, error);
	json_decref(request);
	return result;
}

const struct command command_inject = {
	.name = "inject",
	.alias = "listen",
	.synopsis = "[PID | ranks SET]",
	.help = "load the agent into running ranks and print the address of the agent",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_PID,
	.run = inject_run,
};

static void command_inject_add_result(json_t *json, const json_t *body)
{
	json_set_text(json, "result", json_get_string(body, "result", "?"));
}

static int eject_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	const struct collection asking = {
		.command = arguments->name,
		.request = "eject",
		.say = command_inject_say,
		.add = command_inject_add_result,
	};

	return collection_run(&asking, context, error);
}

const struct command command_eject = {
	.name = "eject",
	.synopsis = "[PID | ranks SET]",
	.help = "remove the agent from ranks",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_PID,
	.run = eject_run,
};
