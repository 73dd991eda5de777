/*
 * command-compare: one expression, or one line for the debuggers' prompts, in
 * several ranks, equal answers together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/command.h"
#include "engine/commands.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/gather.h"
#include "engine/setting.h"
#include "engine/survey.h"
#include "model/paramdiff.h"

#define COMPARE_USAGE "[--tolerance X] [--difference] [--sample] EXPR [ranks SET]"

/* What was not compared may differ; of one rank alone nothing is to be. */
static void judge(struct command_context *context, const struct answers *answers,
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
	gather_finding(context, (known > 1 && !answer_classes_are_shards(classes)) ||
					answer_classes_have_nan(classes) ||
					(parts && paramdiff_is_finding(parts)));
}

/* Ranks that differ are a finding; of a broadcast nothing is. */
static void append_answers(struct command_context *context)
{
	const struct answers *answers = &context->engine->session.answers;
	struct answer_classes classes;

	answer_classes_make(&classes, answers);
	if (classes.count > classes.value_count)
		context->status = STATUS_PARTIAL;
	if (answers->kind == ANSWERS_COMPARE)
		judge(context, answers, &classes);
	if (context->is_json)
		format_document(context->out, format_json_answers(answers, &classes));
	else
		format_text_answers(context->out, answers, &classes);
	answer_classes_clear(&classes);
}

/* The letters of a name, as pdb tells where its command's name ends. */
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* "quit()" and "q=1" are that command, too. */
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

/* pdb parts commands at ;; wherever it stands, and so in strings. */
static bool is_quit(const char *line)
{
	while (line && !begins_with_quit(line)) {
		line = strstr(line, ";;");
		line = line ? line + 2 : NULL;
	}
	return line != NULL;
}

/* What ends programs is asked about, however it is said; as command_confirm. */
static int confirm(struct command_context *context, const char *name, const char *line,
		   struct error *error)
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

/* The words in front of an expression. */
struct options {
	bool wants_difference;
	bool wants_sample;
	double tolerance;
	int first; /* the expression's */
};

/* An option behind the expression would be taken for a part of it, as Python
 * would. */
static int check_tail(int argc, char **argv, struct error *error)
{
	for (int i = 2; i < argc; i++)
		if (strcmp(argv[i], "--difference") == 0 || strcmp(argv[i], "--sample") == 0 ||
		    strcmp(argv[i], "--tolerance") == 0)
			return error_set(
				error,
				"%s stands in front of the expression: compare " COMPARE_USAGE,
				argv[i]);
	return 0;
}

static int take_tolerance(struct options *options, const char *text, struct error *error)
{
	struct settings settings = { .tolerance = 0 };

	if (!text)
		return error_set(error,
				 "--tolerance needs a number: compare --tolerance 1e-6 loss");
	if (setting_find("tolerance", error)->set(&settings, text, error) < 0)
		return -1;
	options->tolerance = settings.tolerance;
	return 0;
}

static int take_options(struct options *options, int argc, char **argv, struct error *error)
{
	int at = 1;

	for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
		if (strcmp(argv[at], "--difference") == 0)
			options->wants_difference = true;
		else if (strcmp(argv[at], "--sample") == 0)
			options->wants_sample = true;
		else if (strcmp(argv[at], "--tolerance") != 0)
			return error_set(error,
					 "'%.40s' is no option of compare: compare " COMPARE_USAGE,
					 argv[at]);
		else if (take_tolerance(options, argv[++at], error) < 0)
			return -1;
	}
	options->first = at;
	return check_tail(argc - at + 1, argv + at - 1, error);
}

/* Whether classes are within the tolerance, or how they differ, takes a look
 * at their elements. */
static void compare_elements(struct engine *engine, const struct options *options)
{
	if (!options->wants_difference && !(options->tolerance > 0))
		return;
	differing_begin_all(engine);
	differing_wait(engine);
}

static int compare_run(struct command_context *context, int argc, char **argv, struct error *error)
{
	struct engine *engine = context->engine;
	struct options options = { .tolerance = engine->settings.tolerance };
	char *question;
	int result;

	if (take_options(&options, argc, argv, error) < 0)
		return -1;
	engine->survey.wants_sample = options.wants_sample;
	question = command_tail(context, argc, argv, options.first);
	result =
		question[0] == '\0'
			? error_set(
				  error,
				  "compare needs an expression of the program: compare loss.item()")
			: survey_begin(context, argv[0], question, ANSWERS_COMPARE, error);
	free(question);
	if (result < 0)
		return -1;
	engine->session.answers.tolerance = options.tolerance;
	engine->survey.wants_difference = options.wants_difference;
	if (context->screen)
		return 0;
	survey_wait(engine);
	compare_elements(engine, &options);
	append_answers(context);
	return 0;
}

const struct command command_compare = {
	.name = "compare",
	.synopsis = "[--tolerance X] [--difference] [--sample] EXPR [ranks SET]",
	.help = "EXPR in each rank, stopped or not, equal values and tensors together; 1: they "
		"differ",
	.screen_synopsis = "[EXPR [ranks SET]]",
	.screen_help = "EXPR in each stopped rank, equal values together; alone: again",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = compare_run,
};

static int broadcast_run(struct command_context *context, int argc, char **argv,
			 struct error *error)
{
	char *line = command_tail(context, argc, argv, 1);
	int result;

	if (line[0] == '\0')
		result = error_set(
			error,
			"broadcast needs a line for the debuggers' prompts: broadcast pp batch");
	else
		result = confirm(context, argv[0], line, error);
	if (result > 0)
		result = survey_begin(context, argv[0], line, ANSWERS_BROADCAST, error);
	free(line);
	/* A screen shows them as they come. */
	if (result < 0 || context->screen)
		return result;
	survey_wait(context->engine);
	append_answers(context);
	return 0;
}

const struct command command_broadcast = {
	.name = "broadcast",
	.synopsis = "[--yes] LINE [ranks SET]",
	.help = "LINE to the prompt of each stopped rank, equal answers together",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS | COMMAND_ASKS,
	.run = broadcast_run,
};
