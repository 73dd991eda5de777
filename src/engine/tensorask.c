#include "engine/tensorask.h"

#include <string.h>

#include "banned.h"
#include "base/base64.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "model/held.h"
#include "model/outside.h"
#include "protocol/stack.h"

/* The thread that is asked; NULL: the main thread, whichever that is. */
static const struct thread *thread_of(const struct session *session,
				      const struct rank *rank)
{
	if (session_looked_at(session) == rank &&
	    session->choice.selection.tid != 0)
		return session_selected_thread(session);
	return held_is_stopped(rank) ? control_thread(session, rank)
				     : rank_main_thread(rank);
}

static bool is_place_chosen(const struct session *session,
			    const struct rank *rank)
{
	return held_is_stopped(rank) || session->choice.selection.depth >= 0;
}

/* -1: from the innermost one on. */
static int depth_of(const struct session *session, const struct rank *rank)
{
	const struct rank *looked_at = session_looked_at(session);
	int depth;

	if (!looked_at || !is_place_chosen(session, looked_at))
		return -1;
	depth = held_is_stopped(looked_at) ? control_depth(session, looked_at)
					   : session_selected_depth(session);
	if (rank == looked_at)
		return depth;
	return depth < 0 ? -1 : held_same_function(rank, looked_at, depth);
}

static json_t *make_place(const struct rank *rank, const char *expression)
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

/* A debugger in it may have frames of its own on top of these. */
static void set_frame_count(json_t *place, const struct stack *stack)
{
	json_object_set_new(place, "frames",
			    json_integer((json_int_t)stack->frame_count));
}

static void set_frame(json_t *place, int depth, const char *function)
{
	json_object_set_new(place, "depth", json_integer(depth));
	json_set_text(place, "function", function);
}

static void choose_frame(json_t *place, const struct session *session,
			 const struct rank *rank)
{
	const struct thread *thread = thread_of(session, rank);
	const struct stack *stack = thread ? thread->sample.stack : NULL;
	int depth = depth_of(session, rank);

	if (thread)
		set_tid(place, thread->sample.tid);
	else if (held_is_stopped(rank))
		set_tid(place, control_tid(session, rank));
	if (depth < 0 || !stack || (size_t)depth >= stack->frame_count ||
	    stack->dropped_count > 0)
		return;
	set_frame_count(place, stack);
	set_frame(place, depth, stack->frames[depth].code->func);
}

json_t *tensorask_place(const struct engine *engine, const struct rank *rank,
			const char *expression)
{
	json_t *place = tensorask_innermost(rank, expression);

	choose_frame(place, &engine->session, rank);
	return place;
}

json_t *tensorask_innermost(const struct rank *rank, const char *expression)
{
	json_t *place = make_place(rank, expression);

	json_object_set_new(place, "search", json_true());
	return place;
}

json_t *tensorask_at(const struct rank *rank, const char *expression,
		     int depth, const char *function)
{
	const struct thread *thread =
		held_is_stopped(rank)
			? rank_find_thread(rank, rank->debugger.tid)
			: NULL;
	const struct stack *stack = thread ? thread->sample.stack : NULL;
	json_t *place = make_place(rank, expression);

	set_frame(place, depth, function);
	if (stack) {
		set_tid(place, thread->sample.tid);
		set_frame_count(place, stack);
	}
	return place;
}

static void add_elements(json_t *arguments, const struct tensorask *ask)
{
	if (ask->statistics)
		json_set_text(arguments, "statistics", ask->statistics);
	if (ask->bin_count > 0)
		json_object_set_new(arguments, "bins",
				    json_integer(ask->bin_count));
	if (ask->wants_hash)
		json_object_set_new(arguments, "hash", json_true());
	if (ask->block_count > 0)
		json_object_set_new(arguments, "blocks",
				    json_integer(ask->block_count));
	if (ask->slice && ask->slice->row_count > 0 &&
	    ask->slice->column_count > 0)
		json_object_set_new(arguments, "slice",
				    tensor_slice_to_json(ask->slice));
	if (ask->find) {
		json_set_text(arguments, "find", ask->find);
		json_object_set_new(arguments, "after",
				    json_integer(ask->after));
	}
	if (ask->data_count > 0)
		json_object_set_new(
			arguments, "data",
			json_pack("{s:I, s:I}", "start",
				  (json_int_t)ask->data_start, "count",
				  (json_int_t)ask->data_count));
}

int64_t tensorask_send(struct engine *engine, json_t *owned_place,
		       const struct tensorask *ask)
{
	add_elements(owned_place, ask);
	if (ask->timeout > 0)
		json_object_set_new(owned_place, "timeout",
				    json_real(ask->timeout));
	else
		request_set_timeout(owned_place, engine,
				    engine->settings.timeout);
	return engine_ask(engine, "tensor", owned_place);
}

/* A list of one has its checks. */
static int read_value(struct tensorask_answer *answer, struct error *error)
{
	json_t *list = json_pack(
		"{s:[O]}", "variables", json_object_get(answer->body, "value"));
	int result;

	if (!list)
		return error_set(error, "the answer has no value");
	result = variable_list_from_json(&answer->value, list, error);
	json_decref(list);
	return result;
}

static int read_data(struct tensorask_answer *answer, struct error *error)
{
	const char *data = json_get_string(answer->body, "data", NULL);

	if (data &&
	    base64_decode(&answer->data, data, strlen(data)) < 0)
		return error_set(error, "the elements came as no base64, or as "
					"too much");
	return 0;
}

int tensorask_read(struct tensorask_answer *answer, json_t *owned_body,
		   struct error *error)
{
	const json_t *tensor = json_object_get(owned_body, "tensor");
	const json_t *slice = json_object_get(owned_body, "slice");
	const json_t *frame = json_object_get(owned_body, "frame");

	tensor_init(&answer->tensor);
	buffer_init(&answer->data, TENSOR_DATA_MAXIMUM);
	answer->value.total = -1;
	answer->body = owned_body;
	answer->func = json_get_string(frame, "func", NULL);
	answer->depth = (int)json_get_integer(frame, "depth", -1);
	answer->is_tensor = json_is_object(tensor);
	answer->has_slice = json_is_object(slice);
	if (read_value(answer, error) < 0 || read_data(answer, error) < 0)
		return -1;
	if (answer->is_tensor &&
	    tensor_from_json(&answer->tensor, tensor, error) < 0)
		return -1;
	return answer->has_slice ? tensor_slice_from_json(&answer->slice, slice,
							  error)
				 : 0;
}

void tensorask_answer_clear(struct tensorask_answer *answer)
{
	variable_list_clear(&answer->value);
	tensor_clear(&answer->tensor);
	tensor_slice_clear(&answer->slice);
	buffer_clear(&answer->data);
	json_decref(answer->body);
	*answer = (struct tensorask_answer){ .is_tensor = false };
}

const struct variable *
tensorask_value(const struct tensorask_answer *answer)
{
	return answer->value.count > 0 ? &answer->value.items[0] : NULL;
}
