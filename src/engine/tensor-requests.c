#include "engine/tensor-requests.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "engine/tensor-export.h"
#include "model/debug-state.h"
#include "protocol/stack.h"
#include "protocol/tensor.h"

/* Pause after a reading, as a multiple of the reading's duration. */
#define TIMES_OF_COST 10.0
/* Seconds after which the user can cancel a request. */
#define LONG_SECONDS 0.3

void tensor_asking_clear(struct engine *engine)
{
	struct tensor_asking *asking = &engine->tensor;

	request_cancel(engine, asking->request);
	tensor_export_free(asking->export);
	free(asking->find);
	*asking = (struct tensor_asking){ .request = NULL };
}

static struct tensorview *view_of(struct engine *engine)
{
	return &engine->session.tensorview;
}

static bool tensor_requests_is_readable(const struct tensorview *view)
{
	return view->has_tensor && view->tensor.unread == NULL && view->tensor.element_count > 0;
}

static bool is_long(enum tensor_work work)
{
	return work == TENSOR_WORK_WHOLE || work == TENSOR_WORK_FIND || work == TENSOR_WORK_EXPORT;
}

/* Drops the open request; also cancels a long request in the node. */
static void tensor_requests_drop(struct engine *engine)
{
	struct tensor_asking *asking = &engine->tensor;
	struct tensorview *view = view_of(engine);

	if (!asking->request)
		return;
	if (is_long(asking->work) && view->pid > 0 && !engine_is_deaf(engine))
		request_post(engine, view->node, "cancel",
			     json_pack("{s:i}", "pid", (int)view->pid));
	request_cancel(engine, asking->request);
	asking->request = NULL;
	view->work = TENSOR_WORK_NONE;
}

/* Cancels the export and removes the incomplete file. */
static void drop_export(struct engine *engine)
{
	struct tensor_asking *asking = &engine->tensor;

	if (!asking->export)
		return;
	engine_say(engine, false, "export cancelled: %s was not written",
		   tensor_export_path(asking->export));
	tensor_export_free(asking->export);
	asking->export = NULL;
}

void tensor_look(struct engine *engine, const char *expression)
{
	tensor_requests_drop(engine);
	drop_export(engine);
	tensor_asking_clear(engine);
	tensorview_look(view_of(engine), expression);
	engine->session.revision++;
}

static void begin_reading(struct engine *engine, const struct rank *rank)
{
	struct tensor_asking *asking = &engine->tensor;
	const struct session *session = &engine->session;
	size_t node = rank->node;
	pid_t pid = rank->process.pid;

	tensorview_begin_reading(view_of(engine));
	asking->epoch = rank->epoch;
	asking->stops = session_find_stop(session, node, pid, 0);
	asking->touched = session_find_touched(session, node, pid);
	asking->has_whole = false;
	asking->is_old = false;
}

/* True if the rank has run or was changed since the tensor was read. */
static bool is_old(const struct engine *engine, const struct rank *rank)
{
	const struct tensor_asking *asking = &engine->tensor;
	const struct session *session = &engine->session;
	size_t node = rank->node;
	pid_t pid = rank->process.pid;
	uint64_t stops = session_find_stop(session, node, pid, 0);

	if (asking->is_old || asking->touched != session_find_touched(session, node, pid) ||
	    asking->stops != stops)
		return true;
	return stops == 0 && asking->epoch != rank->epoch;
}

static void tensor_requests_take(struct engine *engine, json_t *body, const char *failure,
				 void *data);

static void tensor_requests_ask(struct engine *engine, const struct rank *rank,
				enum tensor_work work, const struct tensor_question *wanted)
{
	struct tensor_asking *asking = &engine->tensor;
	struct tensorview *view = view_of(engine);

	asking->request = request_start(
		engine, rank->node, "tensor",
		tensor_question_arguments(
			engine, tensor_question_place(engine, rank, view->expression), wanted),
		tensor_requests_take, NULL);
	asking->work = work;
	asking->reading = view->reading;
	asking->asked_at = engine_now(engine);
	view->work = work;
}

static void ask_look(struct engine *engine, const struct rank *rank, const struct tensor_want *want)
{
	const struct tensorview *view = view_of(engine);
	struct tensor_question wanted = { .slice = &want->slice };

	begin_reading(engine, rank);
	/*
	 * All elements of a large tensor were read: do not replace their statistics by a sample's.
	 */
	if (!engine->tensor.is_large || view->tensor.share < 1) {
		wanted.statistics = "auto";
		wanted.bin_count = want->bin_count;
	}
	tensor_requests_ask(engine, rank, TENSOR_WORK_LOOK, &wanted);
}

/* Requests the next part of the heat map. Returns false if the heat map is complete. */
static bool ask_map(struct engine *engine, const struct rank *rank, const struct tensor_want *want)
{
	struct tensorview *view = view_of(engine);
	const struct tensor *tensor = &view->tensor;
	struct tensor_slice slice;
	bool is_shown = tensor_heat_is_of(&view->heat, &want->plane, tensor, want->row_maximum,
					  want->column_maximum, want->column);
	bool is_next = tensor_heat_is_of(&view->next_heat, &want->plane, tensor, want->row_maximum,
					 want->column_maximum, want->column);

	if (!is_shown)
		tensor_heat_clear(&view->heat);
	if (!is_next) {
		if (is_shown && view->heat_reading == view->reading)
			return false;
		tensor_heat_clear(&view->next_heat);
		tensor_heat_begin(&view->next_heat, &want->plane, tensor, want->row_maximum,
				  want->column_maximum, want->column);
		view->heat_reading = view->reading;
	}
	if (!tensor_heat_next(&view->next_heat, &slice))
		return false;
	tensor_requests_ask(engine, rank, TENSOR_WORK_HEAT,
			    &(struct tensor_question){ .slice = &slice });
	return true;
}

static void ask_find(struct engine *engine, const struct rank *rank)
{
	struct tensor_asking *asking = &engine->tensor;
	const struct tensor_question wanted = {
		.find = asking->find,
		.after = asking->after,
	};

	tensor_requests_ask(engine, rank, TENSOR_WORK_FIND, &wanted);
	free(asking->find);
	asking->find = NULL;
}

static bool wants_whole(const struct engine *engine)
{
	const struct tensor_asking *asking = &engine->tensor;
	const struct tensorview *view = &engine->session.tensorview;

	return view->tensor.has_statistics && view->tensor.unread == NULL &&
	       !asking->has_ended_whole && !asking->has_whole &&
	       (view->tensor.share < 1 || view->statistics_reading != view->reading) &&
	       engine_now(engine) >= asking->whole_at;
}

static void ask_whole(struct engine *engine, const struct rank *rank,
		      const struct tensor_want *want)
{
	const struct tensor_question wanted = {
		.statistics = "whole",
		.bin_count = want->bin_count,
	};

	tensor_requests_ask(engine, rank, TENSOR_WORK_WHOLE, &wanted);
}

static void ask_part(struct engine *engine, const struct rank *rank)
{
	struct tensor_question wanted = { .statistics = NULL };

	wanted.data_count = tensor_export_next(engine->tensor.export, &wanted.data_start);
	tensor_requests_ask(engine, rank, TENSOR_WORK_EXPORT, &wanted);
}

/* Returns the selected rank if requests can be sent for this rank, else NULL. */
static const struct rank *rank_to_ask(const struct engine *engine)
{
	const struct rank *rank = session_looked_at(&engine->session);

	if (rank == NULL || rank->process.pid <= 0 || rank->state == RANK_EXITED ||
	    engine_is_deaf(engine))
		return NULL;
	return rank;
}

/* Sends the next request, by priority. */
static void ask_next(struct engine *engine, const struct rank *rank, const struct tensor_want *want)
{
	const struct tensor_asking *asking = &engine->tensor;
	const struct tensorview *view = view_of(engine);
	bool is_due = engine_now(engine) >= asking->look_at && is_old(engine, rank);

	if (view->reading == 0 || (!tensor_requests_is_readable(view) && is_due)) {
		ask_look(engine, rank, want);
		return;
	}
	if (!tensor_requests_is_readable(view))
		return;
	if (asking->export != NULL)
		ask_part(engine, rank);
	else if (asking->find != NULL)
		ask_find(engine, rank);
	else if (is_due)
		ask_look(engine, rank, want);
	else if (want->slice.row_count > 0 && !tensorview_covers(view, &want->slice))
		tensor_requests_ask(engine, rank, TENSOR_WORK_SLICE,
				    &(struct tensor_question){ .slice = &want->slice });
	else if ((!want->wants_map || !ask_map(engine, rank, want)) && wants_whole(engine))
		ask_whole(engine, rank, want);
}

void tensor_want(struct engine *engine, const struct tensor_want *want)
{
	struct tensorview *view = view_of(engine);
	const struct rank *rank = rank_to_ask(engine);

	if (view->expression == NULL || rank == NULL)
		return;
	if (view->pid != rank->process.pid || view->node != rank->node) {
		tensor_requests_drop(engine);
		drop_export(engine);
		tensor_asking_clear(engine);
		tensorview_move(view, rank->process.rank, rank->node, rank->process.pid);
	}
	if (!engine->tensor.request)
		ask_next(engine, rank, want);
}

void tensor_find(struct engine *engine, const char *what, int64_t after)
{
	struct tensor_asking *asking = &engine->tensor;

	/* A search by the user comes before the statistics of all elements. */
	if (asking->work == TENSOR_WORK_WHOLE)
		tensor_requests_drop(engine);
	free(asking->find);
	asking->find = xstrdup(what);
	asking->after = after;
}

void tensor_rest(struct engine *engine)
{
	if (engine->tensor.work != TENSOR_WORK_EXPORT && is_long(engine->tensor.work))
		tensor_requests_drop(engine);
}

int tensor_export(struct engine *engine, const char *path, struct error *error)
{
	struct tensor_asking *asking = &engine->tensor;
	const struct tensorview *view = view_of(engine);

	if (asking->export)
		return error_set(error,
				 "already exporting to %s: wait, or cancel that export (Esc)",
				 tensor_export_path(asking->export));
	if (!tensor_requests_is_readable(view))
		return error_set(error, "nothing to export: no elements of the tensor were read");
	if (asking->work == TENSOR_WORK_WHOLE)
		tensor_requests_drop(engine);
	asking->export = tensor_export_new(path, &view->tensor, error);
	return asking->export ? 0 : -1;
}

void tensor_again(struct engine *engine)
{
	engine->tensor.is_old = true;
	engine->tensor.has_ended_whole = false;
	engine->tensor.look_at = 0;
	engine->tensor.whole_at = 0;
}

bool tensor_cancel(struct engine *engine)
{
	struct tensor_asking *asking = &engine->tensor;

	if (asking->export) {
		tensor_requests_drop(engine);
		drop_export(engine);
		return true;
	}
	if (!asking->request || !is_long(asking->work) ||
	    engine_now(engine) - asking->asked_at < LONG_SECONDS)
		return false;
	if (asking->work == TENSOR_WORK_WHOLE)
		asking->has_ended_whole = true;
	tensor_requests_drop(engine);
	return true;
}

/* Sets the time of the next reading from the duration of the reading that has ended. */
static void set_pace(struct engine *engine)
{
	struct tensor_asking *asking = &engine->tensor;
	double now = engine_now(engine);
	double pause = (now - asking->asked_at) * TIMES_OF_COST;

	if (asking->work == TENSOR_WORK_WHOLE)
		asking->whole_at = now + pause;
	else if (now + pause > asking->look_at)
		asking->look_at = now + pause;
}

static void say_written(struct engine *engine)
{
	const struct tensor_export *export = engine->tensor.export;
	const char *rest = "";

	if (tensor_export_is_torn(export))
		rest = "; the tensor changed during the export";
	else if (tensor_export_is_live(export))
		rest = " while the rank was running; the tensor may have changed during the export";
	engine_say(engine, false, "%s was written%s", tensor_export_path(export), rest);
}

/* Writes the elements of an answer, or reports its error. */
static void tensor_requests_take_part(struct engine *engine, const json_t *body,
				      struct error *error)
{
	struct tensor_asking *asking = &engine->tensor;
	const struct rank *rank = rank_to_ask(engine);
	int64_t start;
	bool is_bad = error_is_set(error) || tensor_export_add(asking->export, body, error) < 0;

	if (is_bad)
		engine_say(engine, true, "tensor-export: %s", error->message);
	else
		view_of(engine)->done = tensor_export_done(asking->export);
	if (!is_bad && tensor_export_next(asking->export, &start) > 0) {
		/* Continue the export even if the pane is hidden. */
		if (rank != NULL)
			ask_part(engine, rank);
		else
			drop_export(engine);
		return;
	}
	if (!is_bad)
		say_written(engine);
	tensor_export_free(asking->export);
	asking->export = NULL;
}

static void tensor_requests_take(struct engine *engine, json_t *body, const char *failure,
				 void *data)
{
	struct tensor_asking *asking = &engine->tensor;
	struct tensorview *view = view_of(engine);
	struct error error = ERROR_INIT;

	(void)data;
	asking->request = NULL;
	view->work = TENSOR_WORK_NONE;
	engine->session.revision++;
	if (failure)
		error_set(&error, "%s", failure);
	if (asking->work == TENSOR_WORK_EXPORT && asking->export) {
		tensor_requests_take_part(engine, body, &error);
		return;
	}
	set_pace(engine);
	if (asking->work == TENSOR_WORK_WHOLE)
		asking->has_whole = true;
	if (failure || tensorview_take(view, asking->work, body, engine_now(engine), &error) < 0)
		tensorview_fail(view, error.message);
	if (asking->work == TENSOR_WORK_LOOK && view->has_tensor && view->tensor.share < 1)
		asking->is_large = true;
}

/*
 * Returns the thread in which an expression is evaluated; NULL: the main thread, which the node
 * finds.
 */
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

/* Returns the depth at which the lookup begins; -1: at the innermost frame. */
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

/* Sends the number of frames, as a debugger in the process may have added its own frames on top. */
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
