/* command-jobs: the jobs on this host, and their status. */
#include <stdio.h>

#include "banned.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/jobs.h"

/* Seconds for the lookup of user names; names whose lookup takes longer are left out. */
#define NAME_SECONDS 2.0

static int jobs_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	const char *text = arguments_value(arguments, "--for");
	const struct session *session = &context->engine->session;
	double seconds = VERDICT_SECONDS;
	int result;

	if (text && arguments_seconds(text, "--for", &seconds, error) < 0)
		return -1;
	result = collect_jobs(context, seconds, error);
	jobs_name_users(context->engine);
	users_await(context->engine, NAME_SECONDS);
	if (context->is_json)
		format_document(context->out, format_json_jobs(session));
	else
		format_text_jobs(context->out, session);
	return result;
}

const struct command command_jobs = {
	.name = "jobs",
	.synopsis = "[--for SECONDS]",
	.help = "list the jobs on this host and their status",
	.screen_synopsis = "",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = jobs_run,
};
