/* command-params: parameters and buffers that should be equal on all replicas. */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/parameter-compare.h"
#include "engine/rank-answers.h"
#include "model/answers.h"
#include "model/paramdiff.h"
#include "model/tensorformat.h"

#define DEFAULT_EXPRESSION "model"

static void command_params_append_errors(struct buffer *out, const struct paramdiff *diff)
{
	struct failures failures = FAILURES_INIT;

	for (size_t i = 0; i < diff->rank_count; i++)
		if (diff->ranks[i].error)
			failures_add(&failures, diff->ranks[i].rank, diff->ranks[i].error);
	if (failures.count > 0)
		failures_append_lines(out, &failures);
	failures_clear(&failures);
}

static void command_params_append_text(struct buffer *out, const struct paramdiff *diff)
{
	bool is_any = false;

	for (size_t i = 0; i < diff->rank_count; i++)
		is_any = is_any || !diff->ranks[i].error;
	if (is_any) {
		paramdiff_append_sentence(out, diff);
		buffer_append_char(out, '\n');
	}
	format_text_parameters(out, diff);
	command_params_append_errors(out, diff);
}

static void command_params_judge(struct command_context *context, const struct paramdiff *diff)
{
	size_t failed = 0;

	for (size_t i = 0; i < diff->rank_count; i++)
		failed += diff->ranks[i].error != NULL;
	context->status = STATUS_DONE;
	if (failed > 0 || diff->counts[PARAMDIFF_UNREAD] > 0 || diff->row_count == 0)
		context->status = STATUS_PARTIAL;
	if (failed == diff->rank_count)
		context->status = STATUS_NOTHING;
	collect_finding(context, paramdiff_is_finding(diff));
}

static int diff_params_run(struct command_context *context, const struct arguments *arguments,
			   struct error *error)
{
	bool is_of_gradients = arguments_has(arguments, "--gradients");
	char *expression = arguments_text(arguments, 0, arguments->count);
	int result = parameter_compare_begin(
		context, expression[0] ? expression : DEFAULT_EXPRESSION, is_of_gradients, error);

	free(expression);
	return result;
}

static int command_params_answer(struct command_context *context, struct error *error)
{
	const struct paramdiff *diff = &context->engine->session.paramdiff;

	(void)error;
	parameter_compare_wait(context->engine);
	command_params_judge(context, diff);
	if (context->is_json)
		format_document(context->out, format_json_parameters(diff));
	else
		command_params_append_text(context->out, diff);
	return 0;
}

const struct command command_diff_params = {
	.name = "diff-params",
	.synopsis = "[--gradients] [EXPR] [ranks SET]",
	.help = "compare all parameters and buffers of EXPR (default: model) across the ranks; "
		"exit status 1 if any differ",
	.screen_synopsis = "[[--gradients] EXPR [ranks SET]]",
	.screen_help = "compare all parameters of EXPR (such as model) across the ranks; without "
		       "EXPR: refresh the comparison",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN | COMMAND_RANKS,
	.run = diff_params_run,
	.answer = command_params_answer,
};
