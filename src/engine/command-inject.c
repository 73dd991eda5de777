/*
 * command-inject: the agent is put into ranks that run already, and leaves
 * them.
 */
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/arguments.h"
#include "engine/asking.h"
#include "engine/command.h"
#include "engine/commands.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/request.h"

static void say(struct buffer *out, const json_t *body)
{
	format_text(out, json_get_string(body, "result", "?"));
}

static void add(json_t *json, const json_t *body)
{
	json_set_text(json, "listens", json_get_string(body, "result", "?"));
}

/* Flags of Probe's inject, and its ADDRESS. */
static int check_flags(int argc, char **argv, struct error *error)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-P") == 0 || strcmp(argv[i], "-b") == 0)
			return error_set(
				error,
				"%s %s needs the profiler, which does not exist yet; leave out %s",
				argv[0], argv[i], argv[i]);
		if (strcmp(argv[i], "-a") == 0 || strchr(argv[i], ':'))
			return error_set(
				error,
				"%s opens a socket of the user's own and no port; leave out %.80s, "
				"or start the program with PROBETUI_ADDRESS and a token",
				argv[0], argv[i]);
	}
	return 0;
}

static int inject_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const struct arguments none = { .usage = "[PID]" };
	struct asking asking = {
		.command = argv[0],
		.request = "inject",
		.say = say,
		.add = add,
	};
	json_t *arguments;
	int result;

	if (check_flags(argc, argv, error) < 0 || arguments_parse(&none, argc, argv, error) < 0)
		return -1;
	arguments = json_pack("{s:f}", "seconds", request_limit(context->engine->settings.timeout));
	asking.arguments = arguments;
	result = asking_run(&asking, context, error);
	json_decref(arguments);
	return result;
}

const struct command command_inject = {
	.name = "inject",
	.alias = "listen",
	.synopsis = "[PID | ranks SET]",
	.help = "put the agent into ranks that run; it says where it listens",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_PID,
	.run = inject_run,
};

static void add_result(json_t *json, const json_t *body)
{
	json_set_text(json, "result", json_get_string(body, "result", "?"));
}

static int eject_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const struct arguments none = { .usage = "[PID]" };
	const struct asking asking = {
		.command = argv[0],
		.request = "eject",
		.say = say,
		.add = add_result,
	};

	if (arguments_parse(&none, argc, argv, error) < 0)
		return -1;
	return asking_run(&asking, context, error);
}

const struct command command_eject = {
	.name = "eject",
	.synopsis = "[PID | ranks SET]",
	.help = "take the agent out of ranks again; nothing of it is left",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_PID,
	.run = eject_run,
};
