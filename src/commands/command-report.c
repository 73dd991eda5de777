/* command-report: one page about the job's current state, for a ticket. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/report.h"
#include "engine/request.h"

/* Requests what nodes know besides stacks; waits for the answers at most the settings' timeout. */
static void ask_evidence(struct engine *engine)
{
	struct request_group *group = request_group_new(engine, NULL, NULL, NULL);

	evidence_ask(engine, group);
	evidence_ask_ways(engine, group);
	request_group_wait(group, engine->settings.timeout);
	request_group_free(group);
}

/* A screen does not wait, but runs the command again (is_fresh) when answers have arrived. */
static void command_report_look_around(struct command_context *context, bool is_fresh)
{
	if (!context->screen) {
		ask_evidence(context->engine);
	} else if (!is_fresh && !context->engine->replay) {
		evidence_ask(context->engine, NULL);
		evidence_ask_ways(context->engine, NULL);
	}
}

static void command_report_append(struct command_context *context, struct buffer *out)
{
	struct report report;

	report_init(&report, context->engine);
	rankset_copy(&report.ranks, &context->ranks);
	if (!context->engine->replay && !context->screen)
		report_ask_native(&report, context->engine);
	report_look(&report, context->engine);
	if (context->is_json)
		format_document(out, report_to_json(&report, context->engine));
	else
		report_append(out, &report, context->engine);
	report_clear(&report);
}

static int put_out(struct command_context *context, const char *path, struct error *error)
{
	struct buffer page = BUFFER_INIT;
	int result;

	if (!path) {
		command_report_append(context, context->out);
		return 0;
	}
	command_report_append(context, &page);
	result = folder_write(path, page.data, page.length, error);
	buffer_clear(&page);
	if (result == 0)
		buffer_printf(context->out, "%s\n", path);
	return result;
}

static int report_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	const char *path = arguments_value(arguments, "--out");
	const struct verdict *verdict = &context->engine->session.verdict;
	bool is_fresh = context->is_fresh;

	if (collect_verdict(context, error) < 0 || collect_named(context, error) < 0)
		return -1;
	command_report_look_around(context, is_fresh);
	/* A screen wrote the file when the command first ran: print only the path again. */
	if (context->screen && is_fresh && path) {
		buffer_printf(context->out, "%s\n", path);
		return 0;
	}
	if (put_out(context, path, error) < 0) {
		context->status = STATUS_USAGE;
		return -1;
	}
	collect_finding(context, verdict_is_finding(verdict));
	return 0;
}

const struct command command_report = {
	.name = "report",
	.synopsis = "[--out FILE] [ranks SET]",
	.help = "write a one-page report about the job, for a bug report",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_LIVE | COMMAND_RANKS,
	.run = report_run,
};
