/*
 * command-agent: commands that only the agent in a rank can do: stop the rank at an uncaught
 * exception, stop the rank where an exception is raised, run code or a file.
 */
#include <math.h>
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
#include "commands/rank-request.h"
#include "engine/arguments.h"
#include "engine/command.h"
#include "engine/debuggers.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-query.h"

#define CATCH_USAGE "on, off, lease TIME, types TYPE..., raised TYPE... or raised off"

/*
 * Reads "catch" (null, or {"lease", "types"}) of the agent's answer; without it "on" and "lease" of
 * the request. True: catch is on.
 */
static bool command_agent_is_caught(const json_t *body, const json_t **lease)
{
	const json_t *armed = json_object_get(body, "catch");
	const json_t *owner = armed ? armed : body;

	*lease = json_object_get(owner, "lease");
	return armed ? json_is_object(armed) : json_is_true(json_object_get(body, "on"));
}

/* Appends the lease exactly: a larger unit only if no remainder is lost, unlike text_duration(). */
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
		buffer_append_string(out, "an uncaught exception ends it as ever");
		return;
	}
	buffer_append_string(out, "an uncaught exception holds it");
	if (json_is_number(lease)) {
		buffer_append_string(out, ", for ");
		say_lease(out, json_number_value(lease));
		buffer_append_string(out, " at most");
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
		buffer_append_string(out, "no exception stops it where it is raised");
	else
		buffer_append_string(out, "stops where it raises ");
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
		return error_set(
			error,
			"catch raised needs names of exceptions, or off: catch raised ValueError");
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
			return error_set(error, "catch takes " CATCH_USAGE);
		}
	}
	return 0;
}

/*
 * Only a script connects to the agents, so that it receives the later stops: a screen sees the
 * stops without a connection, and a single command exits before.
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
	.help = "stop ranks where an exception is uncaught, or where one is raised",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_PID,
	.run = catch_run,
};

/*
 * Returns the absolute path of the only word if it is a regular file here (owned by the caller);
 * NULL: the words are code.
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
		result = error_set(error, "execute needs a file, or code: execute probe.py");
	else if (!path && arguments->count == 1 && command_agent_is_path(arguments->words[0]))
		result = error_set(error, "there is no file %s", arguments->words[0]);
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
	.help = "run a file or CODE in each rank, in a thread of its own",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_PID,
	.run = execute_run,
	.answer = command_answer_evaluated,
};
