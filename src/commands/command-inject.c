/* command-inject: injects the agent into running ranks, and ejects it. */
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/commands.h"
#include "commands/rank-request.h"
#include "engine/arguments.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/request.h"

static void command_inject_say(struct buffer *out, const json_t *body)
{
	format_text(out, json_get_string(body, "result", "?"));
}

static void command_inject_add(json_t *json, const json_t *body)
{
	json_set_text(json, "listens", json_get_string(body, "result", "?"));
}

/* Refuses flags of Probe's inject, and its ADDRESS, that probetui does not support. */
static int check_flags(const struct arguments *arguments, struct error *error)
{
	for (size_t i = 0; i < arguments->count; i++) {
		const char *word = arguments->words[i];

		if (strcmp(word, "-P") == 0 || strcmp(word, "-b") == 0)
			return error_set(
				error,
				"%s %s needs the profiler, which does not exist yet; leave out %s",
				arguments->name, word, word);
		if (strcmp(word, "-a") == 0 || strchr(word, ':'))
			return error_set(
				error,
				"%s opens a socket of the user's own and no port; leave out %.80s, "
				"or start the program with PROBETUI_ADDRESS and a token",
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
	.help = "load the agent into running ranks, and print where it listens",
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
