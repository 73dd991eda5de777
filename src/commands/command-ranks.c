/* command-ranks: commands about the current state of all ranks: ranks, verdict and stacks. */
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
#include "engine/engine.h"
#include "engine/format-collectives.h"
#include "engine/format.h"
#include "engine/frame-locals.h"
#include "engine/record.h"
#include "model/place.h"
#include "model/stacktree.h"
#include "model/wait-graph.h"
#include "protocol/stack.h"

static void append_ranks_json(struct command_context *context)
{
	const struct session *session = &context->engine->session;
	json_t *ranks = json_array();

	for (size_t i = 0; i < session->rank_count; i++) {
		if (format_is_chosen(&context->ranks, session->ranks[i]))
			json_array_append_new(ranks, format_json_rank(session, session->ranks[i]));
	}
	format_document(context->out, ranks);
}

static int ranks_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	const struct session *session = &context->engine->session;
	int result;

	(void)arguments;
	result = collect_samples(context, VERDICT_SECONDS, error);
	if (result == 0 && collect_named(context, error) < 0)
		return -1;
	if (context->is_json)
		append_ranks_json(context);
	else
		format_text_ranks(context->out, session, &context->ranks);
	if (result == 0)
		collect_finding(context, verdict_is_finding(&session->verdict));
	return result;
}

const struct command command_ranks = {
	.name = "ranks",
	.synopsis = "[ranks SET]",
	.help = "list the ranks with state, class (ranks with equal stacks) and location",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_LIVE | COMMAND_RANKS,
	.run = ranks_run,
};

/* Prints the facts about collectives that the verdict was read off. */
static void append_why(struct command_context *context)
{
	struct wait_graph graph;

	wait_graph_make(&graph, &context->engine->session);
	if (graph.edge_count > 0) {
		format_text_waits(context->out, &graph);
	} else {
		buffer_append_string(context->out, "  ");
		wait_sentence_append_nothing(context->out, &context->engine->session);
		buffer_append_char(context->out, '\n');
	}
	wait_graph_clear(&graph);
}

static int verdict_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	const char *span = arguments_value(arguments, "--for");
	const struct session *session = &context->engine->session;
	double seconds = 0;
	int result;

	if (span && arguments_seconds(span, "--for", &seconds, error) < 0)
		return -1;
	context->engine->skips_names = !context->engine->settings.record;
	result = span ? collect_samples(context, seconds, error) : collect_verdict(context, error);
	context->engine->skips_names = false;
	if (context->is_json)
		format_document(context->out, format_json_verdict(session));
	else if (result == 0)
		format_text_verdict(context->out, session);
	if (result == 0 && !context->is_json && arguments_has(arguments, "--why"))
		append_why(context);
	if (result == 0)
		collect_finding(context, verdict_is_finding(&session->verdict));
	return result;
}

const struct command command_verdict = {
	.name = "verdict",
	.synopsis = "[--for SECONDS] [--why]",
	.help = "print the verdict on the job: which rank is the outlier, and where it is; with "
		"--why: who waits for whom",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_LIVE,
	.run = verdict_run,
};

static void command_ranks_append_thread(struct command_context *context, const struct rank *rank,
					const struct thread *thread,
					const struct frame_locals *locals)
{
	const struct stack *stack = session_shown_stack(&context->engine->session, thread);
	int depth = 0;

	format_text_thread(context->out, thread);
	for (size_t i = 0; stack && i < stack->frame_count; i++) {
		const struct frame *frame = &stack->frames[i];
		int python_depth = depth;

		depth += frame->code->type == FRAME_PYTHON;
		if (place_is_within_agent(stack, i))
			continue;
		buffer_append_string(context->out, "    ");
		format_text_frame(context->out, frame);
		buffer_append_char(context->out, '\n');
		if (frame->code->type == FRAME_PYTHON)
			frame_locals_append(context->out, locals, rank, thread->sample.tid,
					    python_depth);
	}
	if (stack && stack->dropped_count > 0)
		buffer_printf(context->out, "    … %zu more frames were not read\n",
			      stack->dropped_count);
}

static void command_ranks_append_rank(struct command_context *context, const struct rank *rank,
				      const struct frame_locals *locals)
{
	format_text_rank(context->out, &context->engine->session, rank);
	for (size_t i = 0; i < rank->thread_count; i++)
		command_ranks_append_thread(context, rank, &rank->threads[i], locals);
	for (size_t i = 0; i < rank->child_count; i++)
		command_ranks_append_rank(context, rank->children[i], locals);
}

static void append_stacks_json(struct command_context *context, const struct frame_locals *locals)
{
	const struct session *session = &context->engine->session;
	json_t *ranks = json_array();

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		json_t *json;

		if (!format_is_chosen(&context->ranks, rank))
			continue;
		json = format_json_rank(session, rank);
		frame_locals_join(json, locals, rank->node);
		json_array_append_new(ranks, json);
	}
	format_document(context->out, ranks);
}

static void append_stacks(struct command_context *context, const struct frame_locals *locals)
{
	const struct session *session = &context->engine->session;

	if (context->is_json) {
		append_stacks_json(context, locals);
		return;
	}
	for (size_t i = 0; i < session->rank_count; i++) {
		if (format_is_chosen(&context->ranks, session->ranks[i]))
			command_ranks_append_rank(context, session->ranks[i], locals);
	}
}

static void command_ranks_append_merged(struct command_context *context)
{
	const struct engine *engine = context->engine;
	bool has_all = rankset_count(&context->ranks) == 0;
	struct stacktree_node *root = stacktree_new_of(&engine->session, STACKTREE_LINE,
						       has_all ? NULL : &context->ranks);

	if (context->is_json)
		format_document(context->out, format_json_tree(&engine->session, root));
	else
		format_text_tree(context->out, root, engine->settings.is_ascii);
	stacktree_free(root);
}

/* The options --merge, --native, --locals and --secrets. */
struct look {
	bool is_merged;
	bool is_native;
	bool has_locals;
	bool has_secrets;
};

static int show_stacks(struct command_context *context, const struct look *look,
		       struct error *error)
{
	const struct session *session = &context->engine->session;
	struct frame_locals *locals = NULL;
	/* The merged tree marks outliers; finding outliers needs samples over VERDICT_SECONDS. */
	int result = collect_samples(context, look->is_merged ? VERDICT_SECONDS : 0, error);

	if (result == 0 && !look->is_merged)
		result = collect_settled(context, error);
	if (result == 0 && collect_named(context, error) < 0)
		return -1;
	if (look->has_locals && result == 0)
		locals = frame_locals_new(context->engine, &context->ranks, look->has_secrets);
	if (look->is_merged)
		command_ranks_append_merged(context);
	else if (result == 0 || context->is_json)
		append_stacks(context, locals);
	frame_locals_free(locals);
	if (result == 0)
		collect_finding(context, verdict_is_finding(&session->verdict));
	return result;
}

static int stacks_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	const struct look look = {
		.is_merged = arguments_has(arguments, "--merge"),
		.is_native = arguments_has(arguments, "--native"),
		.has_locals = arguments_has(arguments, "--locals"),
		.has_secrets = arguments_has(arguments, "--secrets"),
	};
	struct engine *engine = context->engine;
	bool was_native = engine->session.choice.shows_native;
	int result;

	if (look.is_merged && look.has_locals)
		return error_set(error, "merged stacks have no locals: omit --merge or --locals");
	if (look.has_secrets && !look.has_locals)
		return error_set(error, "--secrets shows values that --locals masks: add --locals");
	if (look.is_native)
		engine_use_native(engine, true);
	result = show_stacks(context, &look, error);
	if (look.is_native)
		engine_use_native(engine, was_native);
	return result;
}

const struct command command_stacks = {
	.name = "stacks",
	.alias = "dump backtrace",
	.synopsis = "[--merge] [--native] [--locals [--secrets]] [PID | ranks SET]",
	.help = "print the stacks of all threads; with --merge: one tree of the stacks of all "
		"ranks",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_LIVE | COMMAND_RANKS | COMMAND_PID,
	.run = stacks_run,
};
