/*
 * command-break: breakpoints, watchpoints, and the commands that list, clear, enable, disable and
 * restrict them.
 */
#include "commands/command-break.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/breakpoint-sync.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-answers.h"
#include "engine/script-events.h"
#include "model/breakpoints.h"
#include "model/place.h"
#include "model/session.h"
#include "protocol/debugger.h"
#include "protocol/stack.h"

static struct breakpoints *list_of(struct command_context *context)
{
	return &context->engine->session.choice.breakpoints;
}

/* Lists all breakpoints, or only the watchpoints. */
static int command_break_list(struct command_context *context, bool is_of_watches)
{
	const struct session *session = &context->engine->session;
	json_t *json = context->is_json ? json_array() : NULL;
	struct breakpoint_summary summary;
	size_t count = 0;

	for (size_t i = 0; breakpoint_summary_make(&summary, session, i); i++) {
		if (is_of_watches && !summary.watch) {
			breakpoint_summary_clear(&summary);
			continue;
		}
		count++;
		if (json) {
			json_array_append_new(json, format_json_breakpoint(&summary));
		} else {
			format_text_breakpoint(context->out, &summary, true);
			buffer_append_char(context->out, '\n');
		}
		breakpoint_summary_clear(&summary);
	}
	if (json)
		format_document(context->out, json_pack("{s:o}", "breakpoints", json));
	else if (count == 0)
		buffer_append_string(context->out,
				     is_of_watches ? "no watchpoints: set one with `watch EXPR`\n"
						   : "no breakpoints: set one with `break "
						     "FILE:LINE` or `break FUNCTION`\n");
	return 0;
}

/*
 * Prints a breakpoint's row. has_reason false: text output leaves the reason out, because the error
 * has the reason, too.
 */
static void say_summary(struct command_context *context, int id, bool has_reason)
{
	struct breakpoint_summary summary;
	struct buffer out = BUFFER_INIT;

	if (!breakpoint_summary_find(&summary, &context->engine->session, id))
		return;
	if (!has_reason && !context->is_json)
		summary.message = NULL;
	/* A screen does not wait for the debuggers: the row shows nothing of their answers. */
	format_text_breakpoint(&out, &summary, !context->screen);
	if (context->screen)
		engine_say(context->engine, false, "%s", out.data);
	else if (context->is_json)
		format_document(context->out, format_json_breakpoint(&summary));
	else
		buffer_printf(context->out, "%s\n", out.data);
	buffer_clear(&out);
	breakpoint_summary_clear(&summary);
}

static bool is_set_somewhere(const struct session *session, int id)
{
	struct breakpoint_summary summary;
	bool is_set;

	if (!breakpoint_summary_find(&summary, session, id))
		return false;
	is_set = summary.set.range_count > 0;
	breakpoint_summary_clear(&summary);
	return is_set;
}

/*
 * Sends the breakpoints to the debuggers; a shell waits for the answers. id is the breakpoint to
 * print, 0: none. added is the id of a new breakpoint, which is removed if no debugger can set it;
 * 0: no breakpoint is new.
 */
static int tell_of(struct command_context *context, int id, int added, struct error *error)
{
	struct engine *engine = context->engine;
	struct breakpoints *list = list_of(context);
	struct failures failures = FAILURES_INIT;
	struct buffer out = BUFFER_INIT;
	const char *command = breakpoint_sync_command(engine, added);
	struct rank_answers *pending;
	struct session_breakpoint *item = breakpoints_find(list, id);

	if (item)
		breakpoint_forget_refusal(item);
	breakpoints_changed(list);
	engine->session.revision++;
	if (context->screen) {
		breakpoint_sync_tell(engine, added);
		say_summary(context, id, true);
		return 0;
	}
	pending = rank_answers_new(engine, command);
	pending->added = added;
	breakpoints_begin_setting(list, added);
	breakpoint_sync_ask(engine, pending);
	rank_answers_wait(pending);
	breakpoint_sync_take(engine, pending, &failures);
	failures_append(&out, &failures);
	say_summary(context, id, failures.count == 0);
	if (failures.count > 0 && !engine->settings.script &&
	    is_set_somewhere(&engine->session, id)) {
		context->status = STATUS_PARTIAL;
		buffer_append_string(context->notes, "probetui: ");
		buffer_printf(context->notes, "%s: ", command);
		format_text(context->notes, out.data);
		buffer_append_char(context->notes, '\n');
	} else if (failures.count > 0) {
		error_set(error, "%s: %s", command, out.data);
	}
	breakpoints_end_setting(&engine->session);
	rank_answers_free(pending);
	failures_clear(&failures);
	buffer_clear(&out);
	return error_is_set(error) ? -1 : 0;
}

static int command_break_tell(struct command_context *context, int id, struct error *error)
{
	return tell_of(context, id, 0, error);
}

static void command_break_choose_ranks(struct session_breakpoint *added,
				       const struct command_context *context)
{
	const struct session *session = &context->engine->session;

	added->is_everywhere = !context->ranks_text && session->choice.is_focus_all;
	if (!added->is_everywhere)
		rankset_copy(&added->ranks, &context->ranks);
}

/* Waits for stacks, from which paths are completed: in a script no stack may be sampled yet. */
static int command_break_look(struct command_context *context, struct error *error)
{
	if (command_check_job(context->engine, "break", error) < 0)
		return -1;
	if (collect_ranks(context, error) < 0)
		return -1;
	if (collect_named(context, error) < 0)
		return -1;
	context->status = STATUS_DONE;
	return 0;
}

static int set_breakpoint(struct command_context *context, const struct arguments *arguments,
			  bool is_temporary, struct error *error)
{
	struct breakpoints *list = list_of(context);
	struct session_breakpoint *added;
	int id;

	if (command_break_look(context, error) < 0)
		return -1;
	added = breakpoints_add(list, error);
	if (!added)
		return -1;
	id = added->breakpoint.id;
	added->breakpoint.is_temporary = is_temporary;
	command_break_choose_ranks(added, context);
	if (break_place_read(&added->breakpoint, &context->engine->session, arguments->words[0],
			     error) == 0 &&
	    break_place_read_terms(&added->breakpoint, arguments, error) == 0) {
		int result = tell_of(context, id, id, error);

		if (result == 0)
			collect_undone(context, "the breakpoint is removed", "b", "it");
		return result;
	}
	breakpoints_give_back(list, id);
	return -1;
}

static int break_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	if (arguments->count == 0)
		return command_break_list(context, false);
	return set_breakpoint(context, arguments, false, error);
}

const struct command command_break = {
	.name = "break",
	.alias = "b",
	.synopsis = "[FILE:LINE | LINE | FUNCTION] [if CONDITION] [log TEXT] [ranks SET]",
	.help = "set a breakpoint; with log: print TEXT and each {EXPR}, do not stop; without "
		"arguments: list breakpoints",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = break_run,
};

static int tbreak_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	if (arguments->count == 0)
		return error_set(
			error,
			"tbreak needs a location: use `tbreak FILE:LINE` or `tbreak FUNCTION`");
	return set_breakpoint(context, arguments, true, error);
}

const struct command command_tbreak = {
	.name = "tbreak",
	.synopsis = "FILE:LINE | LINE | FUNCTION [if CONDITION] [ranks SET]",
	.help = "set a breakpoint that is removed at its first stop",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = tbreak_run,
};

/*
 * Sets the new breakpoint's depth to that of the selected frame, and its ranks to those that have
 * this frame at the same depth.
 */
static void command_break_choose_frame(struct session_breakpoint *added, struct control *control,
				       const struct session *session)
{
	int number = -1;
	int depth = -1;

	while ((number = rankset_next(&control->chosen, number)) >= 0) {
		int own = control_step_depth(control, session, session_find_rank(session, number));

		if (rankset_contains(&control->elsewhere, number))
			continue;
		if (depth < 0)
			depth = own;
		if (own == depth)
			rankset_add(&added->ranks, number);
	}
	added->breakpoint.depth = depth < 0 ? 0 : depth;
}

static int command_break_watch(struct command_context *context, struct control *control,
			       char *owned_expression, struct error *error)
{
	struct breakpoints *list = list_of(context);
	struct session_breakpoint *added = breakpoints_add(list, error);

	if (!added) {
		free(owned_expression);
		return -1;
	}
	added->breakpoint.watch = owned_expression;
	command_break_choose_frame(added, control, &context->engine->session);
	return tell_of(context, added->breakpoint.id, added->breakpoint.id, error);
}

static int command_break_watch_run(struct command_context *context,
				   const struct arguments *arguments, struct error *error)
{
	struct control control = { .command = "watch", .need = CONTROL_STOPPED };
	int result;

	if (arguments->count == 0)
		return command_break_list(context, true);
	result = control_choose(&control, context, error);
	if (result == 0)
		result = command_break_watch(context, &control,
					     arguments_text(arguments, 0, arguments->count), error);
	control_clear(&control);
	return result;
}

const struct command command_watch = {
	.name = "watch",
	.synopsis = "[EXPR | *ADDRESS:BYTES] [ranks SET]",
	.help = "set a watchpoint in stopped ranks: stop when EXPR of the frame changes; without "
		"arguments: list watchpoints",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = command_break_watch_run,
};

/* Returns the breakpoint that the first word names (borrowed); NULL: *error says why. */
static struct session_breakpoint *named(struct command_context *context,
					const struct arguments *arguments, struct error *error)
{
	struct session_breakpoint *found;
	int id;

	if (command_check_job(context->engine, "break", error) < 0)
		return NULL;
	if (arguments->count == 0) {
		error_set(
			error,
			"%s needs the number of a breakpoint: use `break` to list the breakpoints",
			arguments->name);
		return NULL;
	}
	if (arguments_integer(arguments->words[0], "breakpoint", 1, INT_MAX, &id, error) < 0)
		return NULL;
	found = breakpoints_find(list_of(context), id);
	if (!found)
		error_set(error,
			  "breakpoint %d does not exist: use `break` to list the breakpoints", id);
	return found;
}

/* Only a screen confirms what was cleared: a person may have mistyped the number. */
static void say_cleared(struct command_context *context, int id)
{
	struct breakpoint_summary summary;
	struct buffer out = BUFFER_INIT;

	if (!context->screen || !breakpoint_summary_find(&summary, &context->engine->session, id))
		return;
	summary.message = NULL;
	format_text_breakpoint(&out, &summary, false);
	engine_say(context->engine, false, "cleared %s", out.data);
	buffer_clear(&out);
	breakpoint_summary_clear(&summary);
}

static int clear_all(struct command_context *context, struct error *error)
{
	struct breakpoints *list = list_of(context);
	size_t count = list->count;

	while (list->count > 0)
		breakpoints_remove(list, list->items[0].breakpoint.id);
	if (context->screen)
		engine_say(context->engine, false, "cleared %zu breakpoint%s", count,
			   count == 1 ? "" : "s");
	/* In a script only stops are printed; a shell prints one JSON value for each command. */
	else if (context->is_json && !context->engine->settings.script)
		format_document(context->out, json_pack("{s:[]}", "breakpoints"));
	return command_break_tell(context, 0, error);
}

static int clear_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	const struct session_breakpoint *found;

	if (arguments->count == 0 || arguments_is(arguments, "all"))
		return clear_all(context, error);
	found = named(context, arguments, error);
	if (!found)
		return -1;
	say_cleared(context, found->breakpoint.id);
	breakpoints_remove(list_of(context), found->breakpoint.id);
	return command_break_tell(context, 0, error);
}

const struct command command_clear = {
	.name = "clear",
	.alias = "cl delete",
	.synopsis = "[ID | all]",
	.help = "remove breakpoint ID; without ID: remove all breakpoints",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = clear_run,
};

static int set_disabled(struct command_context *context, const struct arguments *arguments,
			bool is_disabled, struct error *error)
{
	struct session_breakpoint *found;

	found = named(context, arguments, error);
	if (!found)
		return -1;
	found->breakpoint.is_disabled = is_disabled;
	return command_break_tell(context, found->breakpoint.id, error);
}

static int enable_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	return set_disabled(context, arguments, false, error);
}

const struct command command_enable = {
	.name = "enable",
	.synopsis = "ID",
	.help = "enable breakpoint ID",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = enable_run,
};

static int disable_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	return set_disabled(context, arguments, true, error);
}

const struct command command_disable = {
	.name = "disable",
	.synopsis = "ID",
	.help = "disable breakpoint ID",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = disable_run,
};

static int ignore_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct session_breakpoint *found;

	found = named(context, arguments, error);
	if (!found || arguments_integer(arguments->words[1], "number of times", 0, INT_MAX,
					&found->breakpoint.ignore, error) < 0)
		return -1;
	return command_break_tell(context, found->breakpoint.id, error);
}

const struct command command_ignore = {
	.name = "ignore",
	.synopsis = "ID N",
	.help = "skip the next N hits of breakpoint ID",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = ignore_run,
};

static int condition_run(struct command_context *context, const struct arguments *arguments,
			 struct error *error)
{
	struct session_breakpoint *found = named(context, arguments, error);

	if (!found)
		return -1;
	free(found->breakpoint.condition);
	found->breakpoint.condition =
		arguments->count > 1 ? arguments_text(arguments, 1, arguments->count) : NULL;
	return command_break_tell(context, found->breakpoint.id, error);
}

const struct command command_condition = {
	.name = "condition",
	.synopsis = "ID [EXPR]",
	.help = "stop at breakpoint ID only if EXPR is true; without EXPR: remove the condition",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN,
	.run = condition_run,
};

/* True if path equals typed, or ends in a slash and typed. */
static bool break_place_is_meant(const char *path, const char *typed)
{
	size_t length = strlen(path);
	size_t typed_length = strlen(typed);

	if (length < typed_length || strcmp(path + length - typed_length, typed) != 0)
		return false;
	return length == typed_length || path[length - typed_length - 1] == '/';
}

static const char *find_in_stacks(const struct rank *rank, const char *typed)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct stack *stack = rank->threads[i].sample.stack;

		for (size_t j = 0; stack && j < stack->frame_count; j++) {
			const struct code *code = stack->frames[j].code;

			if (code->type == FRAME_PYTHON && break_place_is_meant(code->file, typed))
				return code->file;
		}
	}
	return NULL;
}

static const char *find_of_rank(const struct rank *rank, const char *typed)
{
	const char *script = rank->process.script_path;
	const char *found = find_in_stacks(rank, typed);

	if (!found && script && script[0] == '/' && break_place_is_meant(script, typed))
		found = script;
	return found;
}

/*
 * Returns the full path of the typed file in a rank's stacks or script, the selected rank first;
 * typed itself if no rank has the file.
 */
static const char *break_place_resolve(const struct session *session, const char *typed)
{
	const struct rank *looked_at = session_looked_at(session);
	const char *found = NULL;

	if (typed[0] == '/')
		return typed;
	if (looked_at)
		found = find_of_rank(looked_at, typed);
	for (size_t i = 0; i < session->rank_count && !found; i++)
		found = find_of_rank(session->ranks[i], typed);
	return found ? found : typed;
}

/*
 * Returns the selected frame's file or, if that is a library's, the file of the nearest caller
 * outside libraries; NULL: no frame is selected.
 */
static const char *looked_at_file(const struct session *session)
{
	const struct thread *thread = session_selected_thread(session);
	int depth = session_selected_depth(session);
	const struct stack *stack;

	if (!thread || !thread->sample.stack || depth < 0)
		return NULL;
	stack = thread->sample.stack;
	for (size_t i = (size_t)depth; i < stack->frame_count; i++) {
		if (!place_is_library(stack->frames[i].code->file))
			return stack->frames[i].code->file;
	}
	return stack->frames[depth].code->file;
}

static bool break_place_is_number(const char *text)
{
	return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

/* True for text with a slash or the ending .py, which no function's name has. */
static bool break_place_is_file(const char *text)
{
	size_t length = strlen(text);

	return strchr(text, '/') || (length > 3 && strcmp(text + length - 3, ".py") == 0);
}

int break_place_read(struct breakpoint *breakpoint, const struct session *session, const char *text,
		     struct error *error)
{
	const char *colon = strrchr(text, ':');
	const char *digits = colon ? colon + 1 : text;
	const char *file = NULL;
	char *typed;

	if (!break_place_is_number(digits)) {
		if (colon)
			return error_set(error, "'%.80s' has no line number: use `break FILE:LINE`",
					 text);
		if (break_place_is_file(text))
			return error_set(error, "'%.80s' has no line number: use `break FILE:LINE`",
					 text);
		if (text[0] == '-')
			return error_set(error,
					 "break has no option '%.80s': use `break FILE:LINE`, "
					 "`break LINE` or `break FUNCTION`",
					 text);
		breakpoint->function = xstrdup(text);
		return 0;
	}
	if (arguments_integer(digits, "line", 1, INT_MAX, &breakpoint->line, error) < 0)
		return -1;
	if (!colon) {
		file = looked_at_file(session);
		if (!file)
			return error_set(error, "no frame is selected, so the file of the line is "
						"unknown: use `break FILE:LINE`");
		breakpoint->path = xstrdup(file);
		return 0;
	}
	typed = xasprintf("%.*s", (int)(colon - text), text);
	breakpoint->path = xstrdup(break_place_resolve(session, typed));
	free(typed);
	return 0;
}

/* Returns the index of the word `log` that begins the log text; arguments->count: no such word. */
static size_t find_log(const struct arguments *arguments)
{
	bool has_condition = arguments->count > 1 && strcmp(arguments->words[1], "if") == 0;
	size_t found = arguments->count;

	/* A variable in a condition may be named log: the last `log` begins the text. */
	for (size_t i = has_condition ? 3 : 1; i + 1 < arguments->count; i++) {
		if (strcmp(arguments->words[i], "log") != 0)
			continue;
		found = i;
		if (!has_condition)
			break;
	}
	return found;
}

int break_place_read_terms(struct breakpoint *breakpoint, const struct arguments *arguments,
			   struct error *error)
{
	size_t end = find_log(arguments);

	if (end < arguments->count)
		breakpoint->log = arguments_join(arguments, end + 1, arguments->count);
	if (end <= 1)
		return 0;
	if (strcmp(arguments->words[1], "if") != 0 || end < 3)
		return error_set(error,
				 "unexpected word '%.40s'; usage: %s PLACE " BREAK_PLACE_TERMS
				 " [ranks SET]",
				 arguments->words[1], arguments->name);
	breakpoint->condition = arguments_text(arguments, 2, end);
	return 0;
}
