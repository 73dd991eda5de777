#include "engine/tensor-question.h"

#include "banned.h"
#include "base/json.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "model/debug-state.h"
#include "model/ptrace-state.h"
#include "protocol/stack.h"
#include "protocol/tensorslice.h"

/* The thread to ask; NULL: the main thread, which the node finds. */
static const struct thread *thread_of(const struct session *session, const struct rank *rank)
{
	if (session_looked_at(session) == rank && session->choice.selection.tid != 0)
		return session_selected_thread(session);
	return debug_state_is_stopped(rank) ? control_thread(session, rank)
					    : rank_main_thread(rank);
}

static bool is_place_chosen(const struct session *session, const struct rank *rank)
{
	return debug_state_is_stopped(rank) || session->choice.selection.depth >= 0;
}

/* Depth at which the lookup begins; -1: the innermost frame. */
static int depth_of(const struct session *session, const struct rank *rank)
{
	const struct rank *looked_at = session_looked_at(session);
	int depth;

	if (!looked_at || !is_place_chosen(session, looked_at))
		return -1;
	depth = debug_state_is_stopped(looked_at) ? control_depth(session, looked_at)
						  : session_selected_depth(session);
	if (rank == looked_at)
		return depth;
	return depth < 0 ? -1 : debug_state_same_function(rank, looked_at, depth);
}

static json_t *tensor_question_make_place(const struct rank *rank, const char *expression)
{
	json_t *place = json_object();

	json_object_set_new(place, "pid", json_integer(rank->process.pid));
	json_set_text(place, "expression", expression);
	return place;
}

static void set_tid(json_t *place, pid_t tid)
{
	json_object_set_new(place, "tid", json_integer(tid));
}

/*
 * Sends the number of frames, as a debugger in the process may have put frames of its own on top.
 */
static void set_frame_count(json_t *place, const struct stack *stack)
{
	json_object_set_new(place, "frames", json_integer((json_int_t)stack->frame_count));
}

static void set_frame(json_t *place, int depth, const char *function)
{
	json_object_set_new(place, "depth", json_integer(depth));
	json_set_text(place, "function", function);
}

static void tensor_question_choose_frame(json_t *place, const struct session *session,
					 const struct rank *rank)
{
	const struct thread *thread = thread_of(session, rank);
	const struct stack *stack = thread ? thread->sample.stack : NULL;
	int depth = depth_of(session, rank);

	if (thread)
		set_tid(place, thread->sample.tid);
	else if (debug_state_is_stopped(rank))
		set_tid(place, control_tid(session, rank));
	if (depth < 0 || !stack || (size_t)depth >= stack->frame_count || stack->dropped_count > 0)
		return;
	set_frame_count(place, stack);
	set_frame(place, depth, stack->frames[depth].code->func);
}

json_t *tensor_question_place(const struct engine *engine, const struct rank *rank,
			      const char *expression)
{
	json_t *place = tensor_question_innermost(rank, expression);

	tensor_question_choose_frame(place, &engine->session, rank);
	return place;
}

json_t *tensor_question_innermost(const struct rank *rank, const char *expression)
{
	json_t *place = tensor_question_make_place(rank, expression);

	json_object_set_new(place, "search", json_true());
	return place;
}

json_t *tensor_question_at(const struct rank *rank, const char *expression, int depth,
			   const char *function)
{
	const struct thread *thread =
		debug_state_is_stopped(rank) ? rank_find_thread(rank, rank->debugger.tid) : NULL;
	const struct stack *stack = thread ? thread->sample.stack : NULL;
	json_t *place = tensor_question_make_place(rank, expression);

	set_frame(place, depth, function);
	if (stack) {
		set_tid(place, thread->sample.tid);
		set_frame_count(place, stack);
	}
	return place;
}

static void tensor_question_add_elements(json_t *arguments, const struct tensor_question *ask)
{
	if (ask->statistics)
		json_set_text(arguments, "statistics", ask->statistics);
	if (ask->bin_count > 0)
		json_object_set_new(arguments, "bins", json_integer(ask->bin_count));
	if (ask->wants_hash)
		json_object_set_new(arguments, "hash", json_true());
	if (ask->block_count > 0)
		json_object_set_new(arguments, "blocks", json_integer(ask->block_count));
	if (ask->slice && ask->slice->row_count > 0 && ask->slice->column_count > 0)
		json_object_set_new(arguments, "slice", tensor_slice_to_json(ask->slice));
	if (ask->find) {
		json_set_text(arguments, "find", ask->find);
		json_object_set_new(arguments, "after", json_integer(ask->after));
	}
	if (ask->data_count > 0)
		json_object_set_new(arguments, "data",
				    json_pack("{s:I, s:I}", "start", (json_int_t)ask->data_start,
					      "count", (json_int_t)ask->data_count));
}

json_t *tensor_question_arguments(const struct engine *engine, json_t *owned_place,
				  const struct tensor_question *ask)
{
	tensor_question_add_elements(owned_place, ask);
	if (ask->timeout > 0)
		json_object_set_new(owned_place, "timeout", json_real(ask->timeout));
	else
		request_set_timeout(owned_place, engine, engine->settings.timeout);
	return owned_place;
}
