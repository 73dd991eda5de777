/*
 * command-watchnan: finds the first NaN of an expression on any rank. A screen and a script
 * continue during the search; a single command waits for the result.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/script-events.h"
#include "engine/watch-nan.h"

/* Seconds between two scans for processes that started or exited. */
#define FOLLOW_SECONDS 1.0

/* Prints once why the expression cannot be read yet, because the wait may have no time limit. */
static void command_watchnan_say_failure(struct command_context *context)
{
	struct watch_nan *watch = &context->engine->watch_nan;

	if (watch->looks > 0 || !watch->failure || watch->is_failure_told || !context->notes)
		return;
	watch->is_failure_told = true;
	buffer_append_string(context->notes, "probetui: ");
	format_text(context->notes, watch->failure);
	buffer_append_string(context->notes, " (probetui tries again)\n");
	script_flush(context, NULL);
}

/* Prints the newest events: in a single command only that of watch-nan, in a script all. */
static void append_events(struct command_context *context)
{
	if (context->engine->settings.script)
		script_append_events(context);
	else
		watch_nan_append_event(context);
}

static bool command_watchnan_is_over(const struct engine *engine, void *data)
{
	struct command_context *context = data;

	command_watchnan_say_failure(context);
	append_events(context);
	return engine->watch_nan.state == WATCH_NAN_NONE ||
	       engine->watch_nan.state >= WATCH_NAN_FOUND;
}

int watch_nan_wait(struct command_context *context, double seconds, struct error *error)
{
	struct watch_nan *watch = &context->engine->watch_nan;

	engine_wait(context->engine, command_watchnan_is_over, context, seconds);
	append_events(context);
	if (watch->state == WATCH_NAN_FOUND) {
		context->status = STATUS_FINDING;
		return 0;
	}
	if (watch->looks == 0 && watch->failure) {
		context->status = STATUS_NOTHING;
		return error_set(error, "watch-nan: %s", watch->failure);
	}
	if (context->is_json)
		format_document(context->out,
				json_pack("{s:s, s:n, s:I}", "expr", watch->expression, "rank",
					  "looks", (json_int_t)watch->looks));
	else
		buffer_printf(context->out, "%s was finite in all %llu samples\n",
			      watch->expression, (unsigned long long)watch->looks);
	return 0;
}

/* If the first or last word is `stop` or `--stop`: true, and *first to *end is the rest. */
static bool command_watchnan_take_stop(const struct arguments *arguments, size_t *first,
				       size_t *end)
{
	const char *last = arguments_word(arguments, arguments->count - 1);
	size_t least = arguments_has(arguments, "--gradients") ? 0 : 1;

	*first = 0;
	*end = arguments->count;
	if (*end > least && (strcmp(last, "stop") == 0 || strcmp(last, "--stop") == 0))
		--*end;
	else if (*end > least && arguments_is(arguments, "--stop"))
		++*first;
	else
		return false;
	return true;
}

static void command_watchnan_choose(struct rankset *ranks, const struct command_context *context)
{
	const struct session *session = &context->engine->session;

	for (size_t i = 0; i < session->rank_count; i++)
		if (format_is_chosen(&context->ranks, session->ranks[i]))
			rankset_add(ranks, session->ranks[i]->process.rank);
}

static int command_watchnan_begin(struct command_context *context, const char *expression,
				  bool is_of_gradients, bool stops, struct error *error)
{
	struct rankset ranks = RANKSET_INIT;
	int result;

	if (collect_ranks(context, error) < 0)
		return -1;
	if (collect_named(context, error) < 0)
		return -1;
	command_watchnan_choose(&ranks, context);
	result =
		watch_nan_begin(context->engine, expression, is_of_gradients, stops, &ranks, error);
	rankset_clear(&ranks);
	return result;
}

static void command_watchnan_say(struct command_context *context)
{
	const struct watch_nan *watch = &context->engine->watch_nan;
	struct buffer out = BUFFER_INIT;

	watch_nan_append_way(&out, watch);
	if (context->screen)
		engine_say(context->engine, false, "%s", out.data);
	else if (context->notes)
		buffer_printf(context->notes, "probetui: %s\n", out.data);
	buffer_clear(&out);
}

/* Prints the watched expression and its result so far. */
static int command_watchnan_tell(struct command_context *context, struct error *error)
{
	const struct watch_nan *watch = &context->engine->watch_nan;
	struct buffer out = BUFFER_INIT;

	if (watch->state == WATCH_NAN_NONE)
		return error_set(error, "watch-nan needs a Python expression: use `watch-nan "
					"loss`, or `watch-nan loss stop` to also pause the ranks");
	if (watch->state == WATCH_NAN_FOUND)
		watch_nan_append(&out, watch);
	else
		watch_nan_append_way(&out, watch);
	if (watch->state == WATCH_NAN_LOOKING && watch->failure)
		buffer_printf(&out, "; %s", watch->failure);
	if (context->screen)
		engine_say(context->engine, false, "%s", out.data);
	else
		buffer_printf(context->out, "%s\n", out.data);
	buffer_clear(&out);
	return 0;
}

static bool is_armed(const struct engine *engine, void *data)
{
	(void)data;
	return watch_nan_is_armed(engine);
}

static int command_watchnan_run(struct command_context *context, const char *text,
				bool is_of_gradients, bool stops, struct error *error)
{
	struct engine *engine = context->engine;

	if (text[0] == '\0')
		return command_watchnan_tell(context, error);
	if (strcmp(text, "off") == 0) {
		watch_nan_clear(engine);
		return 0;
	}
	if (command_watchnan_begin(context, text, is_of_gradients, stops, error) < 0)
		return -1;
	if (!context->screen)
		engine_wait(engine, is_armed, NULL, engine->settings.timeout);
	command_watchnan_say(context);
	/* A script continues; its command `wait nan` waits for the result. */
	if (context->screen || engine->settings.script)
		return 0;
	if (stops)
		buffer_append_string(context->notes,
				     "probetui: ranks resume when this command exits; use the "
				     "screen or -x to keep them paused\n");
	script_flush(context, NULL);
	engine_follow(engine, FOLLOW_SECONDS);
	return watch_nan_wait(
		context, engine->settings.has_timeout ? engine->settings.timeout : ENGINE_FOREVER,
		error);
}

static int watch_nan_run(struct command_context *context, const struct arguments *arguments,
			 struct error *error)
{
	size_t first;
	size_t end;
	bool stops = command_watchnan_take_stop(arguments, &first, &end);
	char *text;
	int result;

	text = arguments_text(arguments, first, end);
	result = command_watchnan_run(context, text, arguments_has(arguments, "--gradients"), stops,
				      error);
	free(text);
	return result;
}

const struct command command_watch_nan = {
	.name = "watch-nan",
	.synopsis = "[[--gradients] EXPR [stop] | off] [ranks SET]",
	.help = "report the first NaN or infinity in EXPR; with stop: also pause the ranks; in a "
		"shell: wait until it is found",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_JOB,
	.run = watch_nan_run,
};
