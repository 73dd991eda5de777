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
#include "engine/survey.h"

/* Ranks that differ are a finding; of a broadcast nothing is. */
static void append_answers(struct command_context *context)
{
	const struct answers *answers = &context->engine->session.answers;
	struct answer_classes classes;

	answer_classes_make(&classes, answers);
	if (classes.count > classes.value_count)
		context->status = STATUS_PARTIAL;
	if (answers->kind == ANSWERS_COMPARE)
		gather_finding(context, classes.value_count > 1);
	if (context->is_json)
		format_document(context->out,
				format_json_answers(answers, &classes));
	else
		format_text_answers(context->out, answers, &classes);
	answer_classes_clear(&classes);
}

/* The letters of a name, as pdb tells where its command's name ends. */
#define NAME_LETTERS                                                           \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* "quit()" and "q=1" are that command, too. */
static bool begins_with_quit(const char *line)
{
	static const char *const words[] = { "q", "quit", "exit", "EOF" };
	size_t length;

	line += strspn(line, " \t");
	length = strspn(line, NAME_LETTERS);
	for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
		if (strlen(words[i]) == length &&
		    strncmp(words[i], line, length) == 0)
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
static int confirm(struct command_context *context, const char *name,
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

static int run(struct command_context *context, int argc, char **argv,
	       const char *what, enum answers_kind kind,
	       struct error *error)
{
	char *question = command_tail(context, argc, argv, 1);
	int result = 1;

	if (question[0] == '\0')
		result = error_set(error, "%s needs %s", argv[0], what);
	else if (kind == ANSWERS_BROADCAST)
		result = confirm(context, argv[0], question, error);
	if (result > 0)
		result = survey_begin(context, argv[0], question, kind, error);
	free(question);
	/* A screen shows them as they come. */
	if (result < 0 || context->screen)
		return result;
	survey_wait(context->engine);
	append_answers(context);
	return 0;
}

int command_compare(struct command_context *context, int argc, char **argv,
		    struct error *error)
{
	return run(context, argc, argv,
		   "an expression of the program: compare loss.item()", false,
		   error);
}

int command_broadcast(struct command_context *context, int argc, char **argv,
		      struct error *error)
{
	return run(context, argc, argv,
		   "a line for the debuggers' prompts: broadcast pp batch",
		   ANSWERS_BROADCAST, error);
}
