/*
 * watch-nan: the sequence of looks.
 *
 * A look reads the value in one rank while the rank runs. Looks visit the ranks in turn, with one
 * request at a time. An answer's duration is an upper bound of its cost, so the pause after a look
 * is the duration divided by WATCH_NAN_SHARE. When a NaN is found, the step's number is requested
 * first, as the rank continues to run; then the ranks are paused if requested; then the NaN is
 * reported.
 */
#include "engine/watch-nan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "engine/tensor-requests.h"
#include "model/debug-state.h"
#include "protocol/tensoranswer.h"

/*
 * Limits in seconds: of a look at one value, of a look at a list of tensors, and of the pause after
 * a look.
 */
#define LOOK_SECONDS 2.0
#define LIST_SECONDS 20.0
#define PAUSE_MINIMUM 0.02
#define PAUSE_MAXIMUM 5.0
/* Between the two looks that find the same NaN in a rank with an agent (defer_to_agent()). */
#define SUSPECT_SECONDS 3.0

/* Variables that may hold the step's number, the likeliest first. */
static const char *const step_names[WATCH_NAN_STEPS] = {
	"step", "global_step", "iteration", "batch_idx", "it", "i", "epoch", "n_iter",
};

static void clear_find(struct nan_find *find)
{
	free(find->value);
	free(find->tensor);
	free(find->func);
	free(find->file);
	free(find->step_name);
	free(find->step_value);
	*find = (struct nan_find){ .rank = -1, .first = -1 };
}

/* Stops the timer and cancels the open look. */
static void stop_looking(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;

	if (watch->timer)
		loop_timer_stop(watch->timer);
	watch->timer = NULL;
	request_cancel(engine, watch->look);
	watch->look = NULL;
}

void watch_nan_clear(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;

	stop_looking(engine);
	request_group_free(watch->ways);
	request_group_free(watch->steps);
	watch_nan_disarm(engine);
	free(watch->expression);
	free(watch->failure);
	rankset_clear(&watch->ranks);
	rankset_clear(&watch->exact);
	rankset_clear(&watch->settled);
	rankset_clear(&watch->listed);
	clear_find(&watch->found);
	*watch = (struct watch_nan){ .found = { .rank = -1, .first = -1 }, .suspect = -1 };
}

/*
 *
 * Looks while the ranks run
 */

static void watch_nan_on_due(void *data);
static void watch_nan_take_value(struct engine *engine, json_t *body, const char *error,
				 void *data);
static void take_list(struct engine *engine, json_t *body, const char *error, void *data);

static void watch_nan_look_in(struct engine *engine, double seconds)
{
	struct watch_nan *watch = &engine->watch_nan;

	watch->timer = loop_timer(engine->loop, seconds, 0, watch_nan_on_due, engine);
}

/* A rank that exited before it was followed has state PROCESS_UNREADABLE, not PROCESS_EXITED. */
static bool watch_nan_is_there(const struct rank *rank)
{
	return rank && rank->process.pid > 0 && !rank_is_gone(rank) &&
	       rank->process.state != PROCESS_UNREADABLE;
}

/*
 * Returns the suspect, else the next living rank after watch->rank that is not settled; NULL if
 * there is none.
 */
static const struct rank *watch_nan_next_rank(const struct watch_nan *watch,
					      const struct session *session)
{
	int first = -1;
	int rank = -1;

	if (watch->suspect >= 0 && watch_nan_is_there(session_find_rank(session, watch->suspect)))
		return session_find_rank(session, watch->suspect);
	while ((rank = rankset_next(&watch->ranks, rank)) >= 0) {
		const struct rank *found = session_find_rank(session, rank);

		if (!watch_nan_is_there(found) || (rankset_contains(&watch->exact, rank) &&
						   rankset_contains(&watch->settled, rank)))
			continue;
		if (rank > watch->rank)
			return found;
		if (first < 0)
			first = rank;
	}
	return first < 0 ? NULL : session_find_rank(session, first);
}

static bool is_any_left(const struct watch_nan *watch, const struct session *session)
{
	int rank = -1;

	while ((rank = rankset_next(&watch->ranks, rank)) >= 0) {
		const struct rank *found = session_find_rank(session, rank);

		if (watch_nan_is_there(found))
			return true;
	}
	return false;
}

/* Requests the tensors in the value, from watch->start on. */
static void ask_list(struct engine *engine, const struct rank *rank)
{
	struct watch_nan *watch = &engine->watch_nan;
	json_t *arguments = tensor_question_innermost(rank, watch->expression);

	json_set_text(arguments, "statistics", "auto");
	json_object_set_new(arguments, "gradients", json_boolean(watch->is_of_gradients));
	json_object_set_new(arguments, "start", json_integer((json_int_t)watch->start));
	json_object_set_new(arguments, "timeout", json_real(LIST_SECONDS));
	watch->look = request_start(engine, rank->node, "parameters", arguments, take_list, NULL);
}

static void watch_nan_look(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;
	const struct rank *rank = watch_nan_next_rank(watch, &engine->session);
	const struct tensor_question wanted = {
		.statistics = "auto",
		.timeout = LOOK_SECONDS,
	};

	/* All living ranks are settled: look again later, as an agent may end. */
	if (!rank) {
		watch_nan_look_in(engine, PAUSE_MAXIMUM);
		return;
	}
	watch->rank = rank->process.rank;
	watch->is_armed_look = rankset_contains(&watch->exact, watch->rank);
	watch->asked_at = loop_now();
	if (watch->is_of_gradients || rankset_contains(&watch->listed, watch->rank)) {
		watch->start = 0;
		ask_list(engine, rank);
		return;
	}
	watch->look = request_start(
		engine, rank->node, "tensor",
		tensor_question_arguments(
			engine, tensor_question_innermost(rank, watch->expression), &wanted),
		watch_nan_take_value, NULL);
}

static void watch_nan_on_due(void *data)
{
	struct engine *engine = data;
	struct watch_nan *watch = &engine->watch_nan;

	loop_timer_stop(watch->timer);
	watch->timer = NULL;
	watch_nan_look(engine);
}

/*
 * Judging answers
 */

static bool is_number_type(const char *type)
{
	static const char *const types[] = {
		"float",	 "complex",	     "numpy.float16",	"numpy.float32",
		"numpy.float64", "numpy.longdouble", "numpy.complex64", "numpy.complex128",
	};

	for (size_t i = 0; type && i < ARRAY_LENGTH(types); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

/*
 * Judges a plain number by its repr. Returns 1 for a NaN or an infinity, 0 for any other number, -1
 * if the value is not a number.
 */
static int judge_value(struct nan_find *find, const struct variable *value)
{
	const char *text = value->value;
	const char *type = value->type;

	if (type && (strcmp(type, "int") == 0 || strcmp(type, "bool") == 0))
		return 0;
	if (!is_number_type(type))
		return -1;
	find->nan_count = strstr(text, "nan") != NULL;
	find->infinity_count = strstr(text, "inf") != NULL;
	if (find->nan_count + find->infinity_count == 0)
		return 0;
	find->value = xstrdup(text);
	return 1;
}

static char *watch_nan_describe(const struct tensor_statistics *statistics)
{
	struct buffer out = BUFFER_INIT;

	/* The tensor is a scalar, such as a loss. */
	if (statistics->count == 1)
		return xstrdup(statistics->nan_count > 0 ? "nan" : "infinite");

	if (statistics->nan_count > 0) {
		text_count(&out, statistics->nan_count);
		buffer_append_string(&out, " NaN");
	}
	if (statistics->infinity_count > 0) {
		buffer_append_string(&out, out.length > 0 ? ", " : "");
		text_count(&out, statistics->infinity_count);
		buffer_append_string(&out, " Inf");
	}
	buffer_append_string(&out, " of ");
	text_count(&out, statistics->count);
	return buffer_take(&out);
}

static int judge_tensor(struct nan_find *find, const struct tensor *tensor, struct error *error)
{
	const struct tensor_statistics *statistics = &tensor->statistics;

	if (!tensor->has_statistics)
		return error_set(error, "%s",
				 tensor->unread ? tensor->unread : "the elements were not read");
	if (statistics->nan_count + statistics->infinity_count == 0)
		return 0;
	find->nan_count = statistics->nan_count;
	find->infinity_count = statistics->infinity_count;
	find->value = watch_nan_describe(statistics);
	return 1;
}

/*
 * Returns 1 if a NaN or an infinity was found, 0 if not; -1 and sets the error if the value cannot
 * be judged.
 */
static int watch_nan_judge(struct nan_find *find, const struct tensor_answer *answer,
			   struct error *error)
{
	const char *type = answer->value.type;
	int result;

	if (answer->has_tensor)
		return judge_tensor(find, &answer->tensor, error);
	result = judge_value(find, &answer->value);
	if (result < 0)
		error_set(error, "the value is neither a number nor a tensor (type: %s)",
			  type ? type : "unknown");
	return result;
}

/*
 * Finds the first tensor with a NaN. Returns 1 if there is one, else 0, also if no tensor was read.
 */
static int judge_list(struct nan_find *find, const struct tensor_parameters *page)
{
	for (size_t i = 0; i < page->count; i++) {
		const struct tensor_parameter *item = &page->items[i];

		if (!item->tensor.has_statistics || judge_tensor(find, &item->tensor, NULL) == 0)
			continue;
		find->tensor = xstrdup(item->name);
		return 1;
	}
	return 0;
}

static void take_frame(struct nan_find *find, const char *func, const char *file, int line,
		       int depth)
{
	if (!func)
		return;
	find->func = xstrdup(func);
	find->file = xstrdup(file ? file : "");
	find->line = line;
	find->depth = depth;
}

static void watch_nan_tell(struct engine *engine, void *data);

/* Requests all variables that may hold the step's number in the frame of the NaN. */
static void ask_steps(struct engine *engine, const struct rank *rank)
{
	struct watch_nan *watch = &engine->watch_nan;
	const struct nan_find *find = &watch->found;
	const struct tensor_question wanted = { .timeout = LOOK_SECONDS };

	watch->steps = request_group_new(engine, NULL, watch_nan_tell, NULL);
	for (size_t i = 0; i < WATCH_NAN_STEPS; i++)
		request_group_add(
			watch->steps, rank->node, rank->process.rank, "tensor",
			tensor_question_arguments(
				engine,
				tensor_question_at(rank, step_names[i], find->depth, find->func),
				&wanted),
			NULL);
}

static void pause_all(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;
	int rank = -1;

	while ((rank = rankset_next(&watch->ranks, rank)) >= 0) {
		struct rank *found = session_find_rank(&engine->session, rank);

		if (!watch_nan_is_there(found) || debug_state_is_stopped(found))
			continue;
		/* Until the rank stops, `continue` withdraws the pause. */
		found->is_pausing = true;
		request_post(engine, found->node, "pause",
			     json_pack("{s:i}", "pid", (int)found->process.pid));
	}
}

static void begin_found(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;
	const struct rank *rank = session_find_rank(&engine->session, watch->found.rank);

	watch->state = WATCH_NAN_STEPPING;
	stop_looking(engine);
	if (watch->found.func && rank)
		ask_steps(engine, rank);
	if (watch->stops)
		pause_all(engine);
	if (!watch->steps)
		watch_nan_tell(engine, NULL);
}

static void take_failure(struct watch_nan *watch, const struct error *error)
{
	free(watch->failure);
	watch->failure = xasprintf("rank %d: %s", watch->rank, error->message);
}

/* Fills *answer, which the caller clears even after a failure. */
static int watch_nan_read_answer(const json_t *body, const char *failure,
				 struct tensor_answer *answer, struct error *error)
{
	*answer = (struct tensor_answer){ .has_tensor = false };
	return failure ? error_set(error, "%s", failure)
		       : tensor_answer_from_json(answer, body, error);
}

/*
 * Returns the result of the look (see end_look()). Where the rank's agent has the breakpoint, a NaN
 * counts only if the next look finds it, too: until then the agent can report it with its line.
 */
static int defer_to_agent(struct watch_nan *watch, int result)
{
	bool is_exact = rankset_contains(&watch->exact, watch->rank);
	bool was_suspect = watch->suspect == watch->rank;

	watch->suspect = -1;
	if (is_exact && watch->is_armed_look && result <= 0)
		rankset_add(&watch->settled, watch->rank);
	if (!is_exact || result <= 0 || was_suspect)
		return result;
	clear_find(&watch->found);
	watch->suspect = watch->rank;
	return 0;
}

/* Handles the result of a look; result is a return value of watch_nan_judge(). */
static void end_look(struct engine *engine, int result, const struct error *error)
{
	struct watch_nan *watch = &engine->watch_nan;
	double took = loop_now() - watch->asked_at;
	double pause;

	watch_nan_note_armed(engine);
	result = defer_to_agent(watch, result);
	if (result < 0)
		take_failure(watch, error);
	else
		watch->looks++;
	if (result > 0) {
		watch->found.rank = watch->rank;
		begin_found(engine);
	} else {
		pause = fmax(PAUSE_MINIMUM, fmin(took / WATCH_NAN_SHARE, PAUSE_MAXIMUM));
		watch_nan_look_in(engine, watch->suspect >= 0 ? SUSPECT_SECONDS : pause);
	}
}

/* True if the value may contain tensors. */
static bool is_to_be_listed(const struct tensor_answer *answer)
{
	const char *type = answer->value.type;

	return !answer->has_tensor && type && strcmp(type, "str") != 0 &&
	       strcmp(type, "NoneType") != 0 && strcmp(type, "int") != 0 &&
	       strcmp(type, "bool") != 0 && !is_number_type(type);
}

static void watch_nan_take_value(struct engine *engine, json_t *body, const char *failure,
				 void *data)
{
	struct watch_nan *watch = &engine->watch_nan;
	const struct rank *rank = session_find_rank(&engine->session, watch->rank);
	struct error error = ERROR_INIT;
	struct tensor_answer answer;
	int result = watch_nan_read_answer(body, failure, &answer, &error);
	bool is_list = result == 0 && is_to_be_listed(&answer);

	(void)data;
	watch->look = NULL;
	if (result == 0)
		result = watch_nan_judge(&watch->found, &answer, &error);
	if (result > 0)
		take_frame(&watch->found, answer.func, answer.file, answer.line, answer.depth);
	tensor_answer_clear(&answer);
	if (!is_list || !watch_nan_is_there(rank)) {
		end_look(engine, result, &error);
		return;
	}
	/* The error is kept, and reported if the list has no tensors either. */
	take_failure(watch, &error);
	rankset_add(&watch->listed, watch->rank);
	watch->start = 0;
	ask_list(engine, rank);
}

static void take_frame_json(struct nan_find *find, const json_t *frame)
{
	take_frame(find, json_get_string(frame, "func", NULL), json_get_string(frame, "file", NULL),
		   json_get_count(frame, "lineno"), json_get_count(frame, "depth"));
}

/*
 * Returns -1 and sets the error if the value has no readable tensors; 0 if it has some, or if later
 * pages may have some.
 */
static int check_list(const struct watch_nan *watch, const struct tensor_parameters *page,
		      struct error *error)
{
	const struct tensor_parameter *first = page->items;

	for (size_t i = 0; i < page->count; i++)
		if (page->items[i].tensor.has_statistics)
			return 0;
	/* Later pages may have readable tensors, and gradients may be computed later. */
	if (watch->start > 0 || watch->is_of_gradients)
		return 0;
	if (page->count == 0)
		return error_set(error, "no tensor found in the value");
	if (first->tensor.unread || first->error)
		return error_set(error, "%s: %s", first->name,
				 first->error ? first->error : first->tensor.unread);
	return 0;
}

/* Takes one page of the tensors in the value. */
static void take_list(struct engine *engine, json_t *body, const char *failure, void *data)
{
	struct watch_nan *watch = &engine->watch_nan;
	const struct rank *rank = session_find_rank(&engine->session, watch->rank);
	struct tensor_parameters page = { .total = -1 };
	struct error error = ERROR_INIT;
	int result = -1;
	bool is_more;

	(void)data;
	watch->look = NULL;
	if (failure)
		error_set(&error, "%s", failure);
	else if (tensor_parameters_from_json(&page, body, &error) == 0 &&
		 check_list(watch, &page, &error) == 0)
		result = judge_list(&watch->found, &page);
	if (result > 0)
		take_frame_json(&watch->found, json_object_get(body, "frame"));
	watch->start += (int64_t)page.count;
	is_more = result == 0 && page.count > 0 && watch->start < page.total &&
		  watch_nan_is_there(rank);
	/* The variable may have another type at the next look. */
	if (result < 0)
		rankset_remove(&watch->listed, watch->rank);
	/* The value has no list of tensors: report the earlier error, which names its type. */
	if (strstr(error.message, "is not a module") && watch->failure)
		error_set(&error, "%s", strstr(watch->failure, ": ") + 2);
	tensor_parameters_clear(&page);
	if (is_more)
		ask_list(engine, rank);
	else
		end_look(engine, result, &error);
}

/* Stores the variable as the step if it is an int and no earlier variable was stored. */
static void take_step(struct nan_find *find, const char *name, const struct variable *value)
{
	if (find->step_name || !value->type || strcmp(value->type, "int") != 0)
		return;
	find->step_name = xstrdup(name);
	find->step_value = xstrdup(value->value);
}

static void take_steps(struct watch_nan *watch)
{
	struct group_answer come;

	for (size_t i = 0; watch->steps && request_group_take(watch->steps, &come); i++) {
		struct tensor_answer answer;

		if (watch_nan_read_answer(come.body, come.error, &answer, NULL) == 0)
			take_step(&watch->found, step_names[i], &answer.value);
		tensor_answer_clear(&answer);
	}
	request_group_free(watch->steps);
	watch->steps = NULL;
}

/* Reports the NaN. At this time the step is known, or cannot be read. */
static void watch_nan_tell(struct engine *engine, void *data)
{
	struct watch_nan *watch = &engine->watch_nan;
	struct buffer out = BUFFER_INIT;

	(void)data;
	take_steps(watch);

	watch->state = WATCH_NAN_FOUND;
	watch_nan_release(engine, watch->found.rank);
	watch_nan_disarm(engine);
	if (engine->is_screen) {
		watch_nan_append(&out, watch);
		log_write(LOG_WARNING, "%s", out.data);
		engine_say(engine, true, "%s", out.data);
		buffer_clear(&out);
	}
	engine->session.revision++;
}

static void check_over(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;

	if (is_any_left(watch, &engine->session) && !engine_is_deaf(engine))
		return;
	watch->state = WATCH_NAN_OVER;
	stop_looking(engine);
	if (engine->is_screen)
		engine_say(engine, false, "watch-nan: %s; no NaN found in %s",
			   engine_is_deaf(engine) ? "connection to probetui-node lost"
						  : "all ranks have exited",
			   watch->expression);
}

void watch_nan_follow(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;

	watch_nan_note_armed(engine);
	if (watch_nan_take_stop(engine))
		begin_found(engine);
	if (watch->state == WATCH_NAN_LOOKING)
		check_over(engine);
}

int watch_nan_begin(struct engine *engine, const char *expression, bool is_of_gradients, bool stops,
		    const struct rankset *ranks, struct error *error)
{
	struct watch_nan *watch = &engine->watch_nan;

	watch_nan_clear(engine);
	rankset_copy(&watch->ranks, ranks);
	if (!is_any_left(watch, &engine->session)) {
		watch_nan_clear(engine);
		return error_set(error, "watch-nan: no rank to watch");
	}
	watch->expression = xstrdup(expression);
	watch->is_of_gradients = is_of_gradients;
	watch->stops = stops;
	watch->state = WATCH_NAN_LOOKING;
	watch->rank = -1;
	watch->stops_seen = engine->session.stops.count;
	/* Agents check values that Python lines assign; gradients are written by C code. */
	if (!is_of_gradients)
		watch_nan_ask_agents(engine);
	watch_nan_look(engine);
	return 0;
}
