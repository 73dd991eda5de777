/* command-print: evaluates expressions in the debuggers of stopped ranks. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/debuggers.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-answers.h"
#include "engine/script-events.h"
#include "model/choice.h"

/* An expression that is being evaluated in several ranks. */
struct evaluation {
	struct control control;
	const char *expression;
	const char *name; /* variable to assign the value to; NULL: print only */
};

static json_t *command_print_make_arguments(const struct session *session, const struct rank *rank,
					    const char *expression)
{
	json_t *arguments = json_object();

	json_object_set_new(arguments, "pid", json_integer(rank->process.pid));
	json_object_set_new(arguments, "tid", json_integer(control_tid(session, rank)));
	json_object_set_new(arguments, "depth", json_integer(control_print_depth(session, rank)));
	json_set_text(arguments, "expression", expression);
	json_object_set_new(arguments, "context", json_string("watch"));
	return arguments;
}

/* pdb has no request to set a variable: evaluate the statement "name = expression" instead. */
static json_t *make_assignment(const struct session *session, const struct rank *rank,
			       const struct evaluation *evaluation)
{
	bool is_pdb = debugger_is_of(&rank->debugger, "pdb");
	char *text = is_pdb ? xasprintf("%s = %s", evaluation->name, evaluation->expression) : NULL;
	json_t *arguments =
		command_print_make_arguments(session, rank, text ? text : evaluation->expression);

	free(text);
	if (is_pdb)
		return arguments;
	json_object_del(arguments, "context");
	json_object_del(arguments, "expression");
	json_set_text(arguments, "name", evaluation->name);
	json_set_text(arguments, "value", evaluation->expression);
	return arguments;
}

static void command_print_ask(struct rank_answers *pending, struct engine *engine,
			      const struct evaluation *evaluation, int number)
{
	const struct session *session = &engine->session;
	const struct rank *rank = session_find_rank(session, number);

	if (evaluation->name)
		rank_answers_add(pending, rank->node, number,
				 debugger_is_of(&rank->debugger, "pdb") ? "evaluate"
									: "setVariable",
				 make_assignment(session, rank, evaluation));
	else
		rank_answers_add(
			pending, rank->node, number, "evaluate",
			command_print_make_arguments(session, rank, evaluation->expression));
}

/* Appends each line of text after "rank N: ". */
static void command_print_append_lines(struct buffer *out, int rank, const char *text)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		buffer_printf(out, "rank %d: ", rank);
		text_append_line(out, text, length);
		buffer_append_char(out, '\n');
		text += length + (text[length] == '\n');
	}
}

static void append_result(struct command_context *context, const struct evaluation *evaluation,
			  const struct group_answer *answer)
{
	const char *output = json_get_string(answer->body, "output", "");
	const char *result = json_get_string(answer->body, "result", NULL);
	json_t *json;

	if (!context->is_json) {
		command_print_append_lines(context->out, answer->rank, output);
		if (result)
			command_print_append_lines(context->out, answer->rank, result);
		return;
	}
	json = json_object();
	json_object_set_new(json, "rank", json_integer(answer->rank));
	json_set_text(json, "expression", evaluation->expression);
	json_set_text(json, "result", result);
	json_set_text(json, "type", json_get_string(answer->body, "type", NULL));
	json_set_text(json, "output", output[0] != '\0' ? output : NULL);
	format_document(context->out, json);
}

/* Prints the results; -1, with the ranks' errors in *error: every evaluation failed. */
static int take_results(struct command_context *context, const struct evaluation *evaluation,
			struct rank_answers *pending, struct error *error)
{
	struct failures failures = FAILURES_INIT;
	struct group_answer answer;
	struct buffer out = BUFFER_INIT;
	size_t results = 0;

	while (rank_answers_take(pending, &answer)) {
		if (answer.error) {
			failures_add(&failures, answer.rank, answer.error);
			context->failed_rank = pending->count == 1 ? answer.rank : -1;
		} else {
			append_result(context, evaluation, &answer);
			results++;
		}
	}
	failures_append(&out, &failures);
	if (failures.count > 0 && results == 0)
		error_set(error, "%s", out.data);
	else if (failures.count > 0)
		script_append_error(context, -1, evaluation->control.command, out.data);
	if (failures.count > 0)
		context->status = STATUS_FINDING;
	failures_clear(&failures);
	buffer_clear(&out);
	return results > 0 ? 0 : -1;
}

static int evaluate(struct command_context *context, struct evaluation *evaluation,
		    struct error *error)
{
	struct engine *engine = context->engine;
	struct control *control = &evaluation->control;
	struct rank_answers *pending;
	int rank = -1;
	int result;

	if (control_choose(control, context, error) < 0)
		return -1;
	pending = rank_answers_new(engine, control->command);
	pending->tells_results = true;
	while ((rank = rankset_next(&control->chosen, rank)) >= 0)
		command_print_ask(pending, engine, evaluation, rank);
	if (context->screen) {
		rank_answers_leave(pending);
		return 0;
	}
	rank_answers_wait(pending);
	result = take_results(context, evaluation, pending, error);
	rank_answers_free(pending);
	return result;
}

static int print_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	char *expression = arguments_text(arguments, 0, arguments->count);
	struct evaluation evaluation = {
		.control = { .command = "print", .need = CONTROL_STOPPED },
		.expression = expression,
	};
	int result;

	if (expression[0] == '\0')
		result =
			error_set(error, "print needs a Python expression: use `print len(batch)`");
	else
		result = evaluate(context, &evaluation, error);
	control_clear(&evaluation.control);
	free(expression);
	return result;
}

const struct command command_print = {
	.name = "print",
	.alias = "p",
	.synopsis = "EXPR [ranks SET]",
	.help = "evaluate EXPR in the selected frame of each stopped rank",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = print_run,
};

/* Returns the index of the first = outside brackets and strings; text's length: no such =. */
static size_t find_equals(const char *text)
{
	int depth = 0;
	char quote = 0;
	size_t at;

	for (at = 0; text[at] != '\0'; at++) {
		char c = text[at];

		if (quote) {
			quote = c == quote ? 0 : quote;
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if (c == '(' || c == '[' || c == '{') {
			depth++;
		} else if (c == ')' || c == ']' || c == '}') {
			depth--;
		} else if (c == '=' && depth == 0) {
			return at;
		}
	}
	return at;
}

/* Removes blanks at both ends in place; returns a pointer into text. */
static char *command_print_trim(char *text)
{
	size_t length;

	text += strspn(text, " \t");
	length = strlen(text);
	while (length > 0 && strchr(" \t", text[length - 1]))
		text[--length] = '\0';
	return text;
}

/* Without `ranks SET`, `assign` applies to the rank whose locals are shown. */
static void mean_looked_at(struct command_context *context)
{
	const struct rank *rank = session_looked_at(&context->engine->session);

	if (context->ranks_text || !rank || rank->process.rank < 0)
		return;
	snprintf(context->named, sizeof(context->named), "%d", rank->process.rank);
	context->ranks_text = context->named;
}

static int assign_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	char *text = arguments_text(arguments, 0, arguments->count);
	size_t at = find_equals(text);
	struct evaluation evaluation = {
		.control = { .command = "assign", .need = CONTROL_STOPPED },
	};
	int result = -1;

	if (text[at] == '=') {
		text[at] = '\0';
		evaluation.name = command_print_trim(text);
		evaluation.expression = command_print_trim(text + at + 1);
	}
	if (text[at] == '\0' && evaluation.name && *evaluation.name && *evaluation.expression &&
	    *evaluation.expression != '=') {
		mean_looked_at(context);
		result = evaluate(context, &evaluation, error);
	} else {
		error_set(error,
			  "assign needs a variable and an expression: use `assign rate = 0.1`");
	}
	control_clear(&evaluation.control);
	free(text);
	return result;
}

const struct command command_assign = {
	.name = "assign",
	.synopsis = "NAME = VALUE [ranks SET]",
	.help = "set a variable of the selected frame of the selected rank",
	.screen_synopsis = "[NAME = VALUE [ranks SET]]",
	.screen_help = "set a variable of the selected frame; without arguments: ask for the value "
		       "of the variable under the cursor",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = assign_run,
};

static void append_display(struct buffer *out, const struct display *display)
{
	buffer_printf(out, "display %d: ", display->id);
	format_text(out, display->expression);
	if (display->value || display->error) {
		buffer_append_string(out, display->value ? " = " : ": ");
		format_text(out, display->value ? display->value : display->error);
	}
	buffer_append_char(out, '\n');
}

static json_t *display_to_json(const struct display *display)
{
	json_t *json = json_object();

	json_object_set_new(json, "id", json_integer(display->id));
	json_set_text(json, "expression", display->expression);
	json_set_text(json, "value", display->value);
	json_set_text(json, "error", display->error);
	return json;
}

static bool are_displayed(const struct engine *engine, void *data)
{
	const struct displays *displays = &engine->session.choice.displays;

	(void)data;
	for (size_t i = 0; i < displays->count; i++) {
		if (displays->items[i].is_asked)
			return false;
	}
	return true;
}

/* Prints the display expressions; a shell first waits for those requested at the last stop. */
static void command_print_list(struct command_context *context)
{
	const struct displays *displays = &context->engine->session.choice.displays;
	json_t *json = context->is_json ? json_array() : NULL;

	if (!context->screen)
		engine_wait(context->engine, are_displayed, NULL,
			    context->engine->settings.timeout);
	for (size_t i = 0; i < displays->count; i++) {
		if (json)
			json_array_append_new(json, display_to_json(&displays->items[i]));
		else
			append_display(context->out, &displays->items[i]);
	}
	if (json)
		format_document(context->out, json_pack("{s:o}", "displays", json));
	else if (displays->count == 0)
		buffer_append_string(context->out,
				     "no display expressions: add one with `display EXPR`\n");
}

void command_display_stop(struct command_context *context)
{
	struct engine *engine = context->engine;
	const struct rank *rank = session_looked_at(&engine->session);

	if (engine->session.choice.displays.count == 0 || !rank ||
	    rank->debugger.state != DEBUGGER_STOPPED)
		return;
	debuggers_ask_displays(engine);
	command_print_list(context);
}

static int display_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	struct session *session = &context->engine->session;
	char *expression = arguments_text(arguments, 0, arguments->count);
	int id;

	if (expression[0] == '\0') {
		free(expression);
		command_print_list(context);
		return 0;
	}
	if (command_check_job(context->engine, arguments->name, error) < 0) {
		free(expression);
		return -1;
	}
	id = displays_add(&session->choice.displays, expression, error);
	free(expression);
	if (id < 0)
		return -1;
	session->revision++;
	debuggers_ask_displays(context->engine);
	if (context->screen)
		engine_say(context->engine, false,
			   "display %d is shown with the locals at each stop", id);
	else
		command_print_list(context);
	return 0;
}

const struct command command_display = {
	.name = "display",
	.synopsis = "[EXPR]",
	.help = "evaluate EXPR at each stop of the selected rank; without EXPR: list the displays",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN,
	.run = display_run,
};

static int undisplay_run(struct command_context *context, const struct arguments *arguments,
			 struct error *error)
{
	struct session *session = &context->engine->session;
	int id;

	if (arguments_integer(arguments->words[0], "display", 1, INT_MAX, &id, error) < 0)
		return -1;
	if (!displays_remove(&session->choice.displays, id))
		return error_set(
			error, "display %d does not exist: use `display` to list the displays", id);
	session->revision++;
	return 0;
}

const struct command command_undisplay = {
	.name = "undisplay",
	.synopsis = "ID",
	.help = "remove display ID",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = undisplay_run,
};
