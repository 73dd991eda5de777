/*
 * command-compare: compare evaluates one expression in several ranks; broadcast types one line at
 * the debuggers' prompts. Ranks with equal answers share a row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/configfile.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-query.h"
#include "model/paramdiff.h"

/*
 * Sets the exit status: partial if values could not be compared, a finding if they differ. The
 * value of a single rank needs no comparison, unless the value is a tensor.
 */
static void command_compare_judge(struct command_context *context, const struct answers *answers,
				  const struct answer_classes *classes)
{
	const struct paramdiff *parts = answers->parts;
	size_t known = 0;

	for (size_t i = 0; i < classes->value_count; i++) {
		const struct answer_class *class = &classes->items[i];

		if (!class->is_sure && (class->tensor || answers->count > 1))
			context->status = STATUS_PARTIAL;
		known += !class->is_unknown;
	}
	if (classes->value_count == 0)
		context->status = STATUS_NOTHING;
	collect_finding(context, (known > 1 && !answer_classes_are_shards(classes)) ||
					 answer_classes_have_nan(classes) ||
					 (parts && paramdiff_is_finding(parts)));
}

/* Compares the tensors' elements, for a tolerance or for the difference in detail. */
static void command_compare_compare_elements(struct engine *engine)
{
	if (!engine->rank_query.wants_difference && !(engine->session.answers.tolerance > 0))
		return;
	value_difference_begin_all(engine);
	value_difference_wait(engine);
}

/* For `compare`, differing ranks are a finding; `broadcast` never has a finding. */
static int command_compare_answer(struct command_context *context, struct error *error)
{
	struct engine *engine = context->engine;
	const struct answers *answers = &engine->session.answers;
	struct answer_classes classes;

	(void)error;
	rank_query_wait(engine);
	if (answers->kind == ANSWERS_COMPARE)
		command_compare_compare_elements(engine);
	answer_classes_make(&classes, answers);
	if (classes.count > classes.value_count)
		context->status = STATUS_PARTIAL;
	if (answers->kind == ANSWERS_COMPARE)
		command_compare_judge(context, answers, &classes);
	if (context->is_json)
		format_document(context->out, format_json_answers(answers, &classes));
	else
		format_text_answers(context->out, answers, &classes);
	answer_classes_clear(&classes);
	return 0;
}

/* Letters of a command's name: pdb ends the name at the first other character. */
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* pdb takes "quit()" and "q=1" as the command quit, too. */
static bool begins_with_quit(const char *line)
{
	static const char *const words[] = { "q", "quit", "exit", "EOF" };
	size_t length;

	line += strspn(line, " \t");
	length = strspn(line, NAME_LETTERS);
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
		if (strlen(words[i]) == length && strncmp(words[i], line, length) == 0)
			return true;
	return false;
}

/* True if any command of the line is quit; pdb separates commands at every ;;, even in a string. */
static bool is_quit(const char *line)
{
	while (line && !begins_with_quit(line)) {
		line = strstr(line, ";;");
		line = line ? line + 2 : NULL;
	}
	return line != NULL;
}

/*
 * Asks before a line that ends programs ("x;; q()" as well as "q"). Returns 1 if the line may be
 * sent, also without a question; otherwise, the result of control_confirm().
 */
static int command_compare_confirm(struct command_context *context, const char *name,
				   const char *line, struct error *error)
{
	struct control control = { .command = name, .need = CONTROL_STOPPED };
	int result = 1;

	if (!is_quit(line))
		return result;
	result = control_choose(&control, context, error);
	if (result == 0)
		result = control_confirm_quit(&control, context, error);
	control_clear(&control);
	return result;
}

/* Options before the expression. */
struct options {
	bool wants_difference;
	double tolerance;
};

static int read_tolerance(struct options *options, const char *text, struct error *error)
{
	struct settings settings = { .tolerance = 0 };

	if (setting_find("tolerance", error)->set(&settings, text, error) < 0)
		return -1;
	options->tolerance = settings.tolerance;
	return 0;
}

/*
 * Refuses options after the expression, which Python would take as a part of the expression, and
 * unknown options.
 */
static int command_compare_check_words(const struct arguments *arguments, struct error *error)
{
	static const char *const names[] = { "--difference", "--sample", "--tolerance" };
	const char *first = arguments_word(arguments, 0);

	if (strncmp(first, "--", 2) == 0)
		return error_set(error, "compare has no option '%.40s'; usage: compare %s", first,
				 command_compare.synopsis);
	for (size_t i = 1; i < arguments->count; i++)
		for (size_t j = 0; j < ARRAY_LENGTH(names); j++)
			if (strcmp(arguments->words[i], names[j]) == 0)
				return error_set(
					error,
					"%s must come before the expression; usage: compare %s",
					names[j], command_compare.synopsis);
	return 0;
}

static int read_options(struct options *options, const struct arguments *arguments,
			struct error *error)
{
	const char *tolerance = arguments_value(arguments, "--tolerance");

	if (command_compare_check_words(arguments, error) < 0)
		return -1;
	options->wants_difference = arguments_has(arguments, "--difference");
	return tolerance ? read_tolerance(options, tolerance, error) : 0;
}

static int compare_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	struct engine *engine = context->engine;
	struct options options = { .tolerance = engine->settings.tolerance };
	char *question;
	int result;

	if (read_options(&options, arguments, error) < 0)
		return -1;
	engine->rank_query.wants_sample = arguments_has(arguments, "--sample");
	question = arguments_text(arguments, 0, arguments->count);
	result = question[0] == '\0'
			 ? error_set(error,
				     "compare needs a Python expression: use `compare loss.item()`")
			 : rank_query_begin(context, arguments->name, question, ANSWERS_COMPARE,
					    error);
	free(question);
	if (result < 0)
		return -1;
	engine->session.answers.tolerance = options.tolerance;
	engine->rank_query.wants_difference = options.wants_difference;
	return 0;
}

const struct command command_compare = {
	.name = "compare",
	.synopsis = "[--tolerance X] [--difference] [--sample] EXPR [ranks SET]",
	.help = "compare EXPR across running or stopped ranks and print one row per value; exit "
		"status 1 if values differ",
	.screen_synopsis = "[EXPR [ranks SET]]",
	.screen_help =
		"compare EXPR across the stopped ranks; without EXPR: refresh the comparison",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = compare_run,
	.answer = command_compare_answer,
};

static int broadcast_run(struct command_context *context, const struct arguments *arguments,
			 struct error *error)
{
	char *line = arguments_text(arguments, 0, arguments->count);
	int result;

	if (line[0] == '\0')
		result = error_set(error, "broadcast needs a debugger command to send to the "
					  "ranks, for example `broadcast pp batch`");
	else
		result = command_compare_confirm(context, arguments->name, line, error);
	if (result > 0)
		result = rank_query_begin(context, arguments->name, line, ANSWERS_BROADCAST, error);
	free(line);
	return result;
}

const struct command command_broadcast = {
	.name = "broadcast",
	.synopsis = "[--yes] LINE [ranks SET]",
	.help = "send LINE to the debugger prompt of each stopped rank and show one row per answer",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = broadcast_run,
	.answer = command_compare_answer,
};
