/* command-eval: runs code in running or stopped ranks; ranks with equal answers share a row. */
#include <stdlib.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/rank-answers.h"
#include "engine/rank-query.h"

/*
 * An exception raised by the code is a finding; a rank that was not reached makes the answer
 * partial.
 */
static void command_eval_judge(struct command_context *context,
			       const struct answer_classes *classes)
{
	bool is_raised = false;

	for (size_t i = classes->value_count; i < classes->count; i++) {
		if (classes->items[i].is_raised)
			is_raised = true;
		else
			context->status = STATUS_PARTIAL;
	}
	collect_finding(context, is_raised);
}

/* Returns -1, and sets *error to each rank's reason, if no rank has run the code. */
static int check_reached(struct command_context *context, const struct answers *answers,
			 const struct answer_classes *classes, struct error *error)
{
	struct failures failures = FAILURES_INIT;
	struct buffer out = BUFFER_INIT;

	for (size_t i = 0; i < classes->count; i++) {
		const struct answer_class *class = &classes->items[i];
		int rank = -1;

		if (!class->is_failure || class->is_raised)
			break;
		while ((rank = rankset_next(&class->ranks, rank)) >= 0)
			failures_add(&failures, rank, class->text);
	}
	if (failures.count == classes->count) {
		failures_append(&out, &failures);
		error_set(error, "%s: %s", answers->kind == ANSWERS_EVAL ? "eval" : "execute",
			  out.data);
		context->status = STATUS_NOTHING;
	}
	failures_clear(&failures);
	buffer_clear(&out);
	return context->status == STATUS_NOTHING ? -1 : 0;
}

int command_answer_evaluated(struct command_context *context, struct error *error)
{
	const struct answers *answers = rank_query_answers(context->engine);
	struct answer_classes classes;
	int result;

	rank_query_wait(context->engine);
	answer_classes_make(&classes, answers);
	result = check_reached(context, answers, &classes, error);
	if (result == 0)
		command_eval_judge(context, &classes);
	if (context->is_json)
		format_document(context->out, format_json_answers(answers, &classes));
	else if (result == 0)
		format_text_answers(context->out, answers, &classes);
	answer_classes_clear(&classes);
	return result;
}

static int eval_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	char *code = arguments_text(arguments, 0, arguments->count);
	int result;

	if (code[0] == '\0')
		result = error_set(error, "eval needs Python code: use `eval len(batch)`");
	else
		result = rank_query_begin(context, "eval", code, ANSWERS_EVAL, error);
	free(code);
	return result;
}

const struct command command_eval = {
	.name = "eval",
	.synopsis = "CODE [ranks SET]",
	.help = "run Python code in each running or stopped rank and show one row per answer",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = eval_run,
	.answer = command_answer_evaluated,
};
