/*
 * command-locals: the variables of one frame of one thread of one rank.
 */
#include <limits.h>
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
#include "engine/format.h"
#include "engine/frame-locals.h"
#include "model/place.h"
#include "protocol/stack.h"
#include "protocol/variable.h"

/*
 * The frame to read: the frame that the command names, else the selected frame, else the innermost
 * frame of the user's code.
 */
struct spot {
	const struct rank *rank;
	const struct thread *thread;
	int depth;
	/* the session's selection if rank is the selected rank; else none */
	struct selection selection;
	bool has_secrets; /* true: values that look like secrets are not masked */
};

static int command_locals_choose_rank(struct command_context *context, struct spot *spot,
				      const char *text, struct error *error)
{
	const struct session *session = &context->engine->session;
	int number = -1;

	if (!text && !context->engine->settings.script && session->rank_count > 1)
		return error_set(error, "locals needs a rank; usage: locals %s",
				 command_locals.synopsis);
	if (text && arguments_integer(text, "rank", 0, RANKSET_MAXIMUM, &number, error) < 0)
		return -1;
	spot->rank = text ? session_find_rank(session, number) : session_selected(session);
	if (!spot->rank)
		return error_set(error, "no rank %s", text ? text : "is selected");
	if (spot->rank->process.pid <= 0)
		return error_set(error, "no process of rank %d was found",
				 spot->rank->process.rank);
	if (spot->rank == session_selected(session))
		spot->selection = session->choice.selection;
	return 0;
}

static int choose_thread(struct command_context *context, struct spot *spot, const char *text,
			 struct error *error)
{
	int tid = spot->selection.tid;

	if (text && arguments_integer(text, "thread", -INT_MAX, INT_MAX, &tid, error) < 0)
		return -1;
	if (tid != 0)
		spot->thread = rank_find_thread(spot->rank, tid);
	if (text && !spot->thread)
		return error_set(error, "rank %d has no Python thread %d", spot->rank->process.rank,
				 tid);
	if (!spot->thread)
		spot->thread = rank_main_thread(spot->rank);
	if (spot->thread && spot->thread->sample.stack &&
	    spot->thread->sample.stack->frame_count > 0)
		return 0;
	context->status = STATUS_NOTHING;
	error_set(error, "%s", spot->rank->error ? spot->rank->error : "the thread has no stack");
	format_clause(error->message);
	return error_prefix(error, "rank %d", spot->rank->process.rank);
}

static int command_locals_choose_frame(struct spot *spot, const char *text, struct error *error)
{
	const struct stack *stack = spot->thread->sample.stack;

	spot->depth = spot->selection.depth;
	if (text)
		return arguments_integer(text, "frame of the stack", 0,
					 (long)stack->frame_count - 1, &spot->depth, error);
	if (spot->depth < 0 || (size_t)spot->depth >= stack->frame_count)
		spot->depth = (int)place_user_frame(&spot->rank->process, stack);
	return 0;
}

static void command_locals_append(struct command_context *context, const struct spot *spot,
				  const struct variable_list *list)
{
	const struct process *process = &spot->rank->process;
	const struct frame *frame = &spot->thread->sample.stack->frames[spot->depth];
	json_t *json;

	if (!context->is_json) {
		buffer_printf(context->out, "rank %d  ", process->rank);
		format_text_frame(context->out, frame);
		buffer_append_char(context->out, '\n');
		format_text_variables(context->out, list, "  ");
		return;
	}
	json = json_object();
	json_object_set_new(json, "rank", json_integer(process->rank));
	json_object_set_new(json, "tid", json_integer(spot->thread->sample.tid));
	json_object_set_new(json, "frame", format_json_frame(process, frame, (size_t)spot->depth));
	json_object_set_new(json, "variables", format_json_variables(list));
	format_document(context->out, json);
}

/* Only one rank is asked, so ranks without an answer do not make the status partial. */
static int command_locals_answer(struct command_context *context, const struct spot *spot,
				 struct error *error)
{
	struct variable_list list = { .total = -1 };
	int result = frame_locals_read(context->engine, spot->rank, spot->thread->sample.tid,
				       spot->depth, &list, error);

	context->status = STATUS_DONE;
	if (!spot->has_secrets)
		variable_list_mask(&list);
	if (result == 0) {
		command_locals_append(context, spot, &list);
	} else {
		context->status = STATUS_NOTHING;
		format_clause(error->message);
		error_prefix(error, "rank %d", spot->rank->process.rank);
	}
	variable_list_clear(&list);
	return result;
}

/* `locals 2` (without `rank`) is a frequent first attempt, so a number is recognised. */
static bool command_locals_is_number(const char *word)
{
	return word[0] != '\0' && word[strspn(word, "0123456789")] == '\0';
}

static int locals_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct spot spot = {
		.depth = -1,
		.selection = { .depth = -1 },
		.has_secrets = arguments_has(arguments, "--secrets"),
	};

	if (command_locals_is_number(arguments_word(arguments, 0)))
		return error_set(error,
				 "locals takes the rank after --rank: use `locals --rank %.20s`",
				 arguments->words[0]);
	if (arguments_refuse_any(arguments, error) < 0)
		return -1;
	if (collect_samples(context, 0, error) < 0)
		return -1;
	context->status = STATUS_USAGE;
	if (command_locals_choose_rank(context, &spot, arguments_value(arguments, "--rank"),
				       error) < 0 ||
	    choose_thread(context, &spot, arguments_value(arguments, "--thread"), error) < 0 ||
	    command_locals_choose_frame(&spot, arguments_value(arguments, "--frame"), error) < 0)
		return -1;
	return command_locals_answer(context, &spot, error);
}

const struct command command_locals = {
	.name = "locals",
	.synopsis = "--rank R [--thread TID] [--frame DEPTH] [--secrets]",
	.help = "print the variables of a frame (frame 0 is the innermost)",
	.flags = COMMAND_REST | COMMAND_SHELL,
	.run = locals_run,
};
