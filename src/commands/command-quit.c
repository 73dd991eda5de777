/* command-quit: ends a script, and detaches from or ends the job that was started. */
#include <string.h>

#include "banned.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/script-events.h"

#define END_SECONDS 15.0

static bool is_job_over(const struct engine *engine, void *data)
{
	script_append_events(data);
	return !launching_is_alive(&engine->session);
}

/* END_SECONDS exceeds the 10 s that the job supervisor waits between SIGTERM and SIGKILL. */
static int command_quit_end_job(struct command_context *context, struct error *error)
{
	struct engine *engine = context->engine;

	if (!launching_is_alive(&engine->session))
		return 0;
	request_post(engine, LOCAL_NODE, "jobEnd", NULL);
	if (engine_wait(engine, is_job_over, context, END_SECONDS) == 0)
		return 0;
	return error_set(error, "the job did not exit within %g s", END_SECONDS);
}

static int quit_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	bool is_end = arguments->count == 1 && arguments_is(arguments, "end");

	if (arguments->count == 1 && !is_end && !arguments_is(arguments, "detach"))
		return error_set(error, "quit takes detach, end or no argument");
	context->wants_quit = true;
	/* A script just ends; a shell prints one JSON value for each command. */
	if (context->is_json && !context->engine->settings.script)
		format_document(context->out, json_pack("{s:s}", "command", "quit"));
	return is_end ? command_quit_end_job(context, error) : 0;
}

const struct command command_quit = {
	.name = "quit",
	.alias = "q",
	.synopsis = "[detach | end]",
	.help = "end the script; `quit end` also kills the job that probetui started, `quit` keeps "
		"it "
		"running",
	.screen_help = "close the view; in the home view: quit; with detach or end: quit and keep "
		       "or kill the started job",
	.takes = "detach or end (for the started job), or no argument",
	.flags = COMMAND_MOVES | COMMAND_SHELL | COMMAND_SCREEN,
	.run = quit_run,
};
