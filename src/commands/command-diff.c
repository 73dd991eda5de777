/*
 * command-diff: how the stacks of two ranks, or of two sets, differ.
 */
#include <math.h>
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
#include "model/rankselect.h"
#include "model/stacktree.h"

/* One side of the diff: ranks that all have this stack. */
struct side {
	struct rankset ranks;
	const struct stack *stack;
	const struct process *process;
	bool is_part; /* true: the named set has other stacks, too */
};

/* Reduces the side's ranks to those with the most frequent stack. */
static void keep_largest_class(struct side *side, const struct session *session)
{
	struct rankset largest = RANKSET_INIT;

	for (size_t i = 0; i < session->verdict.class_count; i++) {
		struct rankset both = RANKSET_INIT;

		rankset_copy(&both, &side->ranks);
		rankset_intersect(&both, &session->verdict.classes[i].ranks);
		if (rankset_count(&both) > rankset_count(&largest))
			rankset_copy(&largest, &both);
		rankset_clear(&both);
	}
	if (rankset_count(&largest) > 0)
		rankset_copy(&side->ranks, &largest);
	rankset_clear(&largest);
}

static int choose_set(struct command_context *context, struct side *side, const char *text,
		      struct error *error)
{
	const struct session *session = &context->engine->session;
	struct buffer names = BUFFER_INIT;
	struct rankset named = RANKSET_INIT;

	if (rankselect_find(text, session, &named, error) < 0) {
		rankset_clear(&named);
		return -1;
	}
	rankset_copy(&side->ranks, &named);
	keep_largest_class(side, session);
	side->is_part = !rankset_is_equal(&side->ranks, &named);
	if (side->is_part && context->notes) {
		rankset_append_named(&names, &side->ranks);
		buffer_printf(
			context->notes,
			"'%s' selects ranks with different stacks; the diff uses the stack of %s\n",
			text, names.data);
		buffer_clear(&names);
	}
	rankset_clear(&named);
	return 0;
}

static int command_diff_choose(struct command_context *context, struct side *side, const char *text,
			       struct error *error)
{
	const struct session *session = &context->engine->session;
	const struct rank *rank;
	const struct thread *thread;
	int status = context->status;

	context->status = STATUS_USAGE;
	if (choose_set(context, side, text, error) < 0)
		return -1;
	rank = session_find_rank(session, rankset_first(&side->ranks));
	thread = rank_main_thread(rank);
	side->process = &rank->process;
	side->stack = thread ? thread->sample.stack : NULL;
	context->status = side->stack ? status : STATUS_PARTIAL;
	if (side->stack)
		return 0;
	error_set(error, "%s", rank->error ? rank->error : "the main thread has no stack");
	format_clause(error->message);
	return error_prefix(error, "rank %d", rank->process.rank);
}

static bool is_different(const struct stackdiff *diff)
{
	for (size_t i = 0; i < diff->row_count; i++) {
		if (diff->rows[i].op != '=')
			return true;
	}
	return false;
}

static void append_sides(struct buffer *out, const struct side *a, const struct side *b)
{
	buffer_append_string(out, "-  ");
	rankset_append_counted(out, &a->ranks);
	buffer_append_string(out, "\n+  ");
	rankset_append_counted(out, &b->ranks);
	buffer_append_string(out, "\n\n");
}

static void append_diff(struct command_context *context, const struct side *a, const struct side *b)
{
	struct stackdiff diff;

	stackdiff_make(&diff, a->stack, b->stack);
	if (context->is_json) {
		json_t *json = json_object();

		json_object_set_new(json, "a", format_json_set(&a->ranks));
		json_object_set_new(json, "b", format_json_set(&b->ranks));
		json_object_set_new(json, "rows", format_json_rows(&diff, a->process, b->process));
		format_document(context->out, json);
	} else {
		append_sides(context->out, a, b);
		format_text_diff(context->out, &diff);
	}
	/* Different stacks within one side are a finding, too. */
	collect_finding(context, is_different(&diff) || a->is_part || b->is_part);
	stackdiff_clear(&diff);
}

static int diff_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct side a = { .stack = NULL };
	struct side b = { .stack = NULL };
	int result = -1;

	if (collect_for(context,
			fmax(collect_seconds(arguments->words[0]),
			     collect_seconds(arguments->words[1])),
			error) < 0)
		return -1;
	if (command_diff_choose(context, &a, arguments->words[0], error) == 0 &&
	    command_diff_choose(context, &b, arguments->words[1], error) == 0) {
		append_diff(context, &a, &b);
		result = 0;
	}
	rankset_clear(&a.ranks);
	rankset_clear(&b.ranks);
	return result;
}

const struct command command_diff = {
	.name = "diff",
	.synopsis = "A B",
	.help = "diff the stacks of A and B (each a rank, a set of ranks or majority)",
	.screen_synopsis = "[majority | RANK [RANK] | Ts]",
	.screen_help = "diff the selected rank's stack with that of the majority, of RANK, or of "
		       "the same rank T seconds ago",
	.takes = "one or two ranks",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = diff_run,
};
