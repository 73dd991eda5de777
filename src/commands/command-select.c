/*
 * command-select: selects rank, thread, frame and focus. On the screen the panes follow the
 * selection; a shell prints the selected place.
 */
#include <limits.h>
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
#include "protocol/stack.h"

/* Returns the frames of the selected thread (borrowed); NULL: *error says why there are none. */
static const struct stack *selected_stack(const struct session *session, struct error *error)
{
	const struct rank *rank = session_selected(session);
	const struct thread *thread = session_selected_thread(session);

	if (!rank) {
		error_set(error, "no rank is selected");
		return NULL;
	}
	if (!thread || !thread->sample.stack) {
		error_set(error, "rank %d has no stack", rank->process.rank);
		return NULL;
	}
	return thread->sample.stack;
}

static void command_select_append_place(struct command_context *context)
{
	const struct session *session = &context->engine->session;
	const struct rank *rank = session_selected(session);
	const struct thread *thread = session_selected_thread(session);
	int depth = session_selected_depth(session);
	const struct frame *frame = NULL;

	if (!rank || !thread)
		return;
	if (thread->sample.stack && depth >= 0)
		frame = &thread->sample.stack->frames[depth];
	if (context->is_json) {
		json_t *json = json_object();

		json_object_set_new(json, "rank", json_integer(rank->process.rank));
		json_object_set_new(json, "tid", json_integer(thread->sample.tid));
		json_object_set_new(json, "frame",
				    frame ? format_json_frame(&rank->process, frame, (size_t)depth)
					  : json_null());
		format_document(context->out, json);
		return;
	}
	buffer_printf(context->out, "rank %d  ", rank->process.rank);
	if (frame)
		format_text_frame(context->out, frame);
	buffer_append_char(context->out, '\n');
}

static int command_select_look_for(struct command_context *context, double seconds,
				   struct error *error)
{
	int result = context->screen ? 0 : collect_for(context, seconds, error);

	if (result == 0)
		context->status = STATUS_DONE;
	return result;
}

/* A shell samples the rank before it prints the place. */
static int command_select_look(struct command_context *context, struct error *error)
{
	return command_select_look_for(context, 0, error);
}

static int command_select_answer(struct command_context *context, struct error *error)
{
	(void)error;
	command_select_append_place(context);
	return 0;
}

static int command_select_read_number(const struct arguments *arguments, long minimum, int *number,
				      struct error *error)
{
	return arguments_integer(arguments->words[0], arguments->name, minimum, INT_MAX, number,
				 error);
}

static int rank_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct session *session = &context->engine->session;
	int number;

	if (command_select_read_number(arguments, 0, &number, error) < 0 ||
	    command_select_look(context, error) < 0)
		return -1;
	if (!session_find_rank(session, number))
		return error_set(error, "no rank %d", number);
	session->choice.selection = (struct selection){ .rank = number, .depth = -1 };
	session->revision++;
	return 0;
}

const struct command command_rank = {
	.name = "rank",
	.synopsis = "N",
	.help = "select rank N",
	.screen_synopsis = "next | previous | N",
	.screen_help = "select the next or previous rank, or rank N",
	.takes = "next, previous or N",
	.flags = COMMAND_MOVES | COMMAND_SHELL | COMMAND_SCREEN,
	.run = rank_run,
	.answer = command_select_answer,
};

static int thread_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct session *session = &context->engine->session;
	const struct rank *rank;
	int tid;

	if (command_select_read_number(arguments, -INT_MAX, &tid, error) < 0 ||
	    command_select_look(context, error) < 0)
		return -1;
	rank = session_selected(session);
	if (!rank)
		return error_set(error, "no rank is selected");
	if (!rank_find_thread(rank, tid))
		return error_set(error, "rank %d has no Python thread %d", rank->process.rank, tid);
	session->choice.selection.tid = tid;
	session->choice.selection.pid = 0;
	session->choice.selection.depth = -1;
	session->revision++;
	return 0;
}

const struct command command_thread = {
	.name = "thread",
	.synopsis = "TID",
	.help = "select thread TID of the selected rank",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = thread_run,
	.answer = command_select_answer,
};

static int command_select_select_depth(struct command_context *context, int depth,
				       struct error *error)
{
	struct session *session = &context->engine->session;
	const struct stack *stack = selected_stack(session, error);

	if (!stack)
		return -1;
	if (depth < 0)
		return error_set(error, "the selected frame is the innermost frame");
	if ((size_t)depth >= stack->frame_count)
		return error_set(error, "the selected frame is the outermost frame");
	session->choice.selection.depth = depth;
	session->revision++;
	return 0;
}

static int frame_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	const struct stack *stack;
	int depth;

	if (command_select_read_number(arguments, 0, &depth, error) < 0 ||
	    command_select_look(context, error) < 0)
		return -1;
	stack = selected_stack(&context->engine->session, error);
	if (!stack)
		return -1;
	if ((size_t)depth >= stack->frame_count)
		return error_set(error, "no frame %d: the outermost frame is %zu", depth,
				 stack->frame_count - 1);
	return command_select_select_depth(context, depth, error);
}

const struct command command_frame = {
	.name = "frame",
	.synopsis = "N",
	.help = "select frame N; 0 is the innermost",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = frame_run,
	.answer = command_select_answer,
};

static int command_select_step(struct command_context *context, const struct arguments *arguments,
			       int direction, struct error *error)
{
	const struct session *session = &context->engine->session;
	const struct stack *stack;
	int count, depth, from, last;

	if (arguments_count(arguments, &count, error) < 0 ||
	    command_select_look(context, error) < 0)
		return -1;
	from = session_selected_depth(session);
	stack = selected_stack(session, error);
	if (!stack)
		return -1;
	/* A count beyond the last frame selects the last frame, as in pdb. */
	last = direction > 0 ? (int)stack->frame_count - 1 - from : from;
	depth = from + direction * (count < last || last < 1 ? count : last);
	return command_select_select_depth(context, depth, error);
}

static int up_run(struct command_context *context, const struct arguments *arguments,
		  struct error *error)
{
	return command_select_step(context, arguments, 1, error);
}

const struct command command_up = {
	.name = "up",
	.alias = "u",
	.synopsis = "[COUNT]",
	.help = "select the caller's frame",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = up_run,
	.answer = command_select_answer,
};

static int down_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	return command_select_step(context, arguments, -1, error);
}

const struct command command_down = {
	.name = "down",
	.alias = "d",
	.synopsis = "[COUNT]",
	.help = "select the called frame",
	.flags = COMMAND_SHELL | COMMAND_SCREEN,
	.run = down_run,
	.answer = command_select_answer,
};

static int focus_answer(struct command_context *context, struct error *error)
{
	const struct session *session = &context->engine->session;

	(void)error;
	if (context->is_json) {
		format_document(context->out, json_pack("{s:o}", "focus",
							format_json_set(&session->choice.focus)));
		return 0;
	}
	buffer_append_string(context->out, "focus ");
	rankset_append_counted(context->out, &session->choice.focus);
	buffer_append_char(context->out, '\n');
	return 0;
}

static int focus_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	struct session *session = &context->engine->session;
	struct rankset focus = RANKSET_INIT;
	char *text;
	int result;

	if (arguments->count == 0)
		return error_set(error,
				 "focus needs a set of ranks, such as 0-7,16, outlier or all");
	text = arguments_join(arguments, 0, arguments->count);
	result = command_select_look_for(context, collect_seconds(text), error);
	if (result == 0)
		result = rankselect_find(text, session, &focus, error);
	if (result == 0) {
		rankset_copy(&session->choice.focus, &focus);
		session->choice.is_focus_all = strcmp(text, "all") == 0;
		session->revision++;
	}
	rankset_clear(&focus);
	free(text);
	return result;
}

const struct command command_focus = {
	.name = "focus",
	.synopsis = "SET",
	.help = "set the ranks that commands act on; all: every rank",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN,
	.run = focus_run,
	.answer = focus_answer,
};

static void command_select_append_names(struct command_context *context)
{
	const struct session *session = &context->engine->session;
	json_t *json = context->is_json ? json_object() : NULL;

	for (size_t i = 0; i < session->choice.name_count; i++) {
		const struct rankname *named = &session->choice.names[i];

		if (json) {
			json_object_set_new(json, named->name, format_json_set(&named->ranks));
			continue;
		}
		buffer_printf(context->out, "@%-16s  ", named->name);
		rankset_append_counted(context->out, &named->ranks);
		buffer_append_char(context->out, '\n');
	}
	if (json)
		format_document(context->out, json_pack("{s:o}", "names", json));
	else if (session->choice.name_count == 0)
		buffer_append_string(context->out,
				     "no named sets of ranks: add one with `name NAME SET`\n");
}

static int name_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct session *session = &context->engine->session;
	struct rankset named = RANKSET_INIT;
	char *text;
	int result;

	if (arguments->count == 0) {
		command_select_append_names(context);
		return 0;
	}
	if (arguments->count == 1)
		return error_set(error,
				 "name %.40s needs a set of ranks, such as 0-7,16 or outlier; use "
				 "`name` to list the named sets",
				 arguments->words[0]);
	text = arguments_join(arguments, 1, arguments->count);
	result = command_select_look_for(context, collect_seconds(text), error);
	if (result == 0)
		result = rankselect_find(text, session, &named, error);
	if (result == 0)
		result = rankname_set(session, arguments->words[0], &named, error);
	if (result == 0 && !context->screen)
		command_select_append_names(context);
	rankset_clear(&named);
	free(text);
	return result;
}

const struct command command_name = {
	.name = "name",
	.synopsis = "[NAME SET]",
	.help = "give a set of ranks the name @NAME; without arguments: list the names",
	.flags = COMMAND_REST | COMMAND_SHELL | COMMAND_SCREEN,
	.run = name_run,
};

static void append_where_json(struct command_context *context, const struct rank *rank,
			      const struct thread *thread, int depth)
{
	const struct session *session = &context->engine->session;
	json_t *json = json_object();

	json_object_set_new(json, "rank", json_integer(rank->process.rank));
	json_object_set_new(json, "frame", json_integer(depth));
	json_object_set_new(json, "thread", format_json_thread(session, rank, thread));
	format_document(context->out, json);
}

static int where_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	const struct session *session = &context->engine->session;
	const struct stack *stack;
	int depth;

	(void)arguments;
	if (command_select_look(context, error) < 0)
		return -1;
	stack = selected_stack(session, error);
	if (!stack)
		return -1;
	depth = session_selected_depth(session);
	if (context->is_json) {
		append_where_json(context, session_selected(session),
				  session_selected_thread(session), depth);
		return 0;
	}
	for (size_t i = 0; i < stack->frame_count; i++) {
		buffer_append_string(context->out, (int)i == depth ? "> " : "  ");
		format_text_frame(context->out, &stack->frames[i]);
		buffer_append_char(context->out, '\n');
	}
	return 0;
}

const struct command command_where = {
	.name = "where",
	.alias = "w",
	.synopsis = "",
	.help = "print the stack of the selected rank and thread",
	.flags = COMMAND_SHELL,
	.run = where_run,
};
