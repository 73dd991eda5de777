#include "engine/parameter-compare.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/replay.h"
#include "engine/request.h"
#include "engine/tensor-compare.h"
#include "engine/tensor-requests.h"
#include "model/paramdiff.h"

/* Minimum time-out in seconds: ranks read all elements, which takes longer than other requests. */
#define SECONDS_MINIMUM 60.0
/* Rows and columns of the heat map of the first tensor that differs. */
#define ROWS 64
#define COLUMNS 128

static double parameter_compare_seconds_of(const struct engine *engine)
{
	double seconds = engine->settings.timeout;

	return engine->settings.has_timeout || seconds > SECONDS_MINIMUM ? seconds
									 : SECONDS_MINIMUM;
}

static struct paramdiff *parameter_compare_diff_of(struct engine *engine,
						   const struct parameter_compare *params)
{
	return params->is_of_answers ? engine->session.answers.parts : &engine->session.paramdiff;
}

static void clear(struct parameter_compare *params)
{
	bool is_of_answers = params->is_of_answers;

	request_group_free(params->group);
	tensor_compare_free(params->comparison);
	*params = (struct parameter_compare){ .is_of_answers = is_of_answers };
}

void parameter_compare_clear(struct engine *engine)
{
	clear(&engine->params);
	parameter_compare_drop_parts(engine);
}

/* Requests the next page of a rank's parameters; number is the rank's index in the paramdiff. */
static void parameter_compare_ask(struct engine *engine, struct parameter_compare *params,
				  size_t number)
{
	struct paramdiff *diff = parameter_compare_diff_of(engine, params);
	const struct paramdiff_rank *of = &diff->ranks[number];
	const struct rank *rank = session_find_rank(&engine->session, of->rank);
	size_t *tag;
	json_t *arguments;

	/* A rank may exit between two pages. */
	if (!rank || rank_is_gone(rank)) {
		paramdiff_fail(diff, number, "the rank has exited");
		return;
	}
	arguments = tensor_question_place(engine, rank, diff->expression);
	json_object_set_new(arguments, "hash", json_true());
	json_set_text(arguments, "statistics", "whole");
	json_object_set_new(arguments, "gradients", json_boolean(diff->is_of_gradients));
	if (diff->has_values)
		json_object_set_new(arguments, "values", json_true());
	json_object_set_new(arguments, "start", json_integer((json_int_t)of->count));
	request_set_timeout(arguments, engine, parameter_compare_seconds_of(engine));
	tag = xcalloc(1, sizeof(*tag));
	*tag = number;
	request_group_add(params->group, rank->node, of->rank, "parameters", arguments, tag);
}

static void parameter_compare_recall(struct engine *engine, struct paramdiff *diff,
				     const struct rank *rank)
{
	size_t number = paramdiff_add_rank(diff, rank->process.rank);
	struct replay_answers recalled = {
		.command = "parameters",
		.expression = diff->expression,
		.is_of_gradients = diff->is_of_gradients,
		.has_values = diff->has_values,
	};

	while (!diff->ranks[number].is_done) {
		struct tensor_parameters page = { .total = -1 };
		struct error error = ERROR_INIT;
		json_t *body;

		recalled.start = (int64_t)diff->ranks[number].count;
		body = replay_answers_find(engine, rank, &recalled, &error);
		if (body && tensor_parameters_from_json(&page, body, &error) == 0)
			paramdiff_take(diff, number, &page);
		else
			paramdiff_fail(diff, number, error.message);
		tensor_parameters_clear(&page);
		json_decref(body);
	}
}

/* Replay: compares the recorded answers. */
static int parameter_compare_recall_all(struct command_context *context, const char *expression,
					bool is_of_gradients, struct error *error)
{
	struct engine *engine = context->engine;
	struct session *session = &engine->session;

	if ((!context->screen && collect_ranks(context, error) < 0) ||
	    collect_named(context, error) < 0)
		return -1;
	paramdiff_begin(&session->paramdiff, expression, is_of_gradients, engine_now(engine));
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rank->process.pid > 0 && format_is_chosen(&context->ranks, rank))
			parameter_compare_recall(engine, &session->paramdiff, rank);
	}
	paramdiff_judge(&session->paramdiff);
	session->paramdiff.is_over = true;
	session->revision++;
	return 0;
}

/* Takes one page and requests the next page. */
static void take_page(struct engine *engine, const struct group_answer *answer, void *data)
{
	struct parameter_compare *params = data;
	struct paramdiff *diff = parameter_compare_diff_of(engine, params);
	struct tensor_parameters page = { .total = -1 };
	size_t number = *(const size_t *)answer->tag;
	struct error error = ERROR_INIT;

	if (answer->error)
		error_set(&error, "%s", answer->error);
	else if (tensor_parameters_from_json(&page, answer->body, &error) == 0)
		paramdiff_take(diff, number, &page);
	if (error_is_set(&error))
		paramdiff_fail(diff, number, error.message);
	tensor_parameters_clear(&page);
	if (!diff->ranks[number].is_done)
		parameter_compare_ask(engine, params, number);
	engine->session.revision++;
}

static void parameter_compare_judge(struct engine *engine, void *data);

static void begin_group(struct engine *engine, struct parameter_compare *params)
{
	clear(params);
	params->group = request_group_new(engine, take_page, parameter_compare_judge, params);
}

/* Calls parameter_compare_judge() if no request is open, as no answer would call it. */
static void judge_if_none(struct engine *engine, struct parameter_compare *params)
{
	if (request_group_open_count(params->group) == 0)
		parameter_compare_judge(engine, params);
}

int parameter_compare_begin(struct command_context *context, const char *expression,
			    bool is_of_gradients, struct error *error)
{
	struct engine *engine = context->engine;
	struct session *session = &engine->session;
	struct control control = {
		.command = "diff-params",
		.need = CONTROL_THERE,
	};
	int rank = -1;

	if (engine->replay)
		return parameter_compare_recall_all(context, expression, is_of_gradients, error);
	if (control_choose(&control, context, error) < 0) {
		if (context->status == STATUS_DONE)
			context->status = STATUS_NOTHING;
		control_clear(&control);
		return -1;
	}
	begin_group(engine, &engine->params);
	paramdiff_begin(&session->paramdiff, expression, is_of_gradients, engine_now(engine));
	while ((rank = rankset_next(&control.chosen, rank)) >= 0)
		parameter_compare_ask(engine, &engine->params,
				      paramdiff_add_rank(&session->paramdiff, rank));
	while ((rank = rankset_next(&control.others, rank)) >= 0)
		paramdiff_fail(&session->paramdiff, paramdiff_add_rank(&session->paramdiff, rank),
			       "not compared: the rank has exited");
	judge_if_none(engine, &engine->params);
	session->revision++;
	control_clear(&control);
	return 0;
}

/*
 * Elements of the first tensor that differs
 */

static char *parameter_compare_name_of(const struct paramdiff *diff,
				       const struct paramdiff_row *row, int way)
{
	return parampath_make(diff->expression, row->name, way, diff->is_of_gradients);
}

/* Uses the way of naming that worked for the first tensor. */
char *parameter_compare_name(const struct engine *engine, const struct paramdiff_row *row)
{
	const struct paramdiff *diff = &engine->session.paramdiff;
	bool is_known = diff->is_over && diff->has_difference && !diff->difference.error;
	char *name = NULL;

	if (is_known)
		name = parameter_compare_name_of(diff, row, engine->params.way - 1);
	return name ? name : parameter_compare_name_of(diff, row, 0);
}

/*
 * Returns the class with the most ranks, except class `but`. Among equal classes, the class with
 * the lowest rank wins.
 */
static size_t largest(const struct paramdiff_row *row, size_t but)
{
	size_t best = but == 0 ? 1 : 0;

	for (size_t i = best + 1; i < row->class_count; i++) {
		const struct rankset *ranks = &row->classes[i].ranks;
		const struct rankset *most = &row->classes[best].ranks;
		size_t count = rankset_count(ranks);

		if (i != but &&
		    (count > rankset_count(most) ||
		     (count == rankset_count(most) && rankset_first(ranks) < rankset_first(most))))
			best = i;
	}
	return best;
}

/*
 * Sets *against to a rank of the class with the most ranks, and *rank to a rank of the largest
 * other class.
 */
static void choose_pair(const struct paramdiff_row *row, int *rank, int *against)
{
	size_t most = largest(row, row->class_count);
	size_t other = largest(row, most);

	*rank = rankset_first(&row->classes[other].ranks);
	*against = rankset_first(&row->classes[most].ranks);
}

static void parameter_compare_on_moved(struct engine *engine, void *data);

static char *name_first(const struct paramdiff *diff, int way)
{
	const struct paramdiff_row *row = diff->first < 0 ? NULL : &diff->rows[diff->first];

	return row && row->how == PARAMDIFF_ELEMENTS ? parameter_compare_name_of(diff, row, way)
						     : NULL;
}

/*
 * Starts the comparison of elements. Returns false if there are no elements to compare, or no
 * further way to name the tensor.
 */
static bool begin_comparison(struct engine *engine, struct parameter_compare *params)
{
	struct paramdiff *diff = parameter_compare_diff_of(engine, params);
	struct difference *difference = &diff->difference;
	char *expression = name_first(diff, params->way);
	struct tensor_compare_question question = {
		.expression = expression,
		.row_count = ROWS,
		.column_count = COLUMNS,
	};

	if (!expression)
		return false;
	choose_pair(&diff->rows[diff->first], &question.rank, &question.against);
	params->comparison =
		tensor_compare_new(engine, &question, parameter_compare_on_moved, params);
	free(expression);
	diff->has_difference = true;
	difference_clear(difference);
	difference->rank = question.rank;
	difference->against = question.against;
	return true;
}

/*
 * Stores the comparison's result, or its error; the next comparison uses the next way of naming the
 * tensor.
 */
static void end_comparison(struct engine *engine, struct parameter_compare *params)
{
	struct difference *difference = &parameter_compare_diff_of(engine, params)->difference;
	const char *error = tensor_compare_error(params->comparison);

	difference->state = error ? DIFFERENCE_FAILED : DIFFERENCE_DONE;
	free(difference->error);
	difference->error = xstrdup_or_null(error);
	tensordiff_clear(&difference->found);
	tensor_compare_take(params->comparison, &difference->found);
	tensor_compare_free(params->comparison);
	params->comparison = NULL;
	params->way++;
}

/* Tries the ways of naming the tensor until a comparison is running. */
static void pair(struct engine *engine, struct parameter_compare *params)
{
	struct paramdiff *diff = parameter_compare_diff_of(engine, params);
	bool is_under_way = begin_comparison(engine, params);

	while (is_under_way && tensor_compare_is_over(params->comparison)) {
		end_comparison(engine, params);
		is_under_way = diff->difference.error && !engine_is_deaf(engine) &&
			       begin_comparison(engine, params);
	}
	diff->is_over = !is_under_way;
	engine->session.revision++;
}

static void parameter_compare_on_moved(struct engine *engine, void *data)
{
	struct parameter_compare *params = data;
	struct paramdiff *diff = parameter_compare_diff_of(engine, params);

	tensor_compare_progress(params->comparison, &diff->difference.done,
				&diff->difference.total);
	engine->session.revision++;
	if (!tensor_compare_is_over(params->comparison))
		return;
	end_comparison(engine, params);
	if (diff->difference.error && !engine_is_deaf(engine))
		pair(engine, params);
	else
		diff->is_over = true;
}

/* Called when all pages have come. */
static void parameter_compare_judge(struct engine *engine, void *data)
{
	struct parameter_compare *params = data;

	paramdiff_judge(parameter_compare_diff_of(engine, params));
	params->way = 0;
	if (!params->is_late)
		pair(engine, params);
}

static bool is_busy(const struct parameter_compare *params)
{
	return (params->group && request_group_open_count(params->group) > 0) || params->comparison;
}

/* Compares recorded answers: a replay has all answers at once. */
static void recall_parts(struct engine *engine, struct paramdiff *parts,
			 const struct rankset *ranks)
{
	int rank = -1;

	while ((rank = rankset_next(ranks, rank)) >= 0)
		parameter_compare_recall(engine, parts, session_find_rank(&engine->session, rank));
	paramdiff_judge(parts);
	parts->is_over = true;
}

void parameter_compare_begin_parts(struct engine *engine, const struct rankset *ranks)
{
	struct answers *answers = &engine->session.answers;
	struct parameter_compare *params = &engine->parts;
	int rank = -1;

	params->is_of_answers = true;
	begin_group(engine, params);
	if (!answers->parts)
		answers->parts = xcalloc(1, sizeof(*answers->parts));
	paramdiff_begin(answers->parts, answers->question, false, engine_now(engine));
	answers->parts->has_values = true;
	if (engine->replay) {
		recall_parts(engine, answers->parts, ranks);
		return;
	}
	while ((rank = rankset_next(ranks, rank)) >= 0)
		parameter_compare_ask(engine, params, paramdiff_add_rank(answers->parts, rank));
	judge_if_none(engine, params);
}

void parameter_compare_drop_parts(struct engine *engine)
{
	clear(&engine->parts);
}

bool parameter_compare_is_busy(const struct engine *engine)
{
	return is_busy(&engine->params);
}

bool parameter_compare_are_parts_busy(const struct engine *engine)
{
	return is_busy(&engine->parts);
}

static void cancel(struct engine *engine, const struct parameter_compare *params)
{
	const struct paramdiff *diff = parameter_compare_diff_of(engine, params);

	for (size_t i = 0; is_busy(params) && i < diff->rank_count; i++) {
		const struct rank *rank = session_find_rank(&engine->session, diff->ranks[i].rank);

		if (rank && rank->process.pid > 0)
			request_post(engine, rank->node, "cancel",
				     json_pack("{s:i}", "pid", (int)rank->process.pid));
	}
}

void parameter_compare_cancel(struct engine *engine)
{
	cancel(engine, &engine->params);
	cancel(engine, &engine->parts);
}

static bool parameter_compare_is_over(const struct engine *engine, void *data)
{
	(void)engine;
	return !is_busy(data);
}

static void await_all(struct engine *engine, struct parameter_compare *params)
{
	char late[160];

	engine_wait(engine, parameter_compare_is_over, params,
		    parameter_compare_seconds_of(engine));
	if (!is_busy(params))
		return;
	cancel(engine, params);
	snprintf(late, sizeof(late), REQUEST_LATE, parameter_compare_seconds_of(engine));
	params->is_late = true;
	request_group_expire(params->group, late);
	clear(params);
	parameter_compare_diff_of(engine, params)->is_over = true;
}

void parameter_compare_wait(struct engine *engine)
{
	await_all(engine, &engine->params);
}

void parameter_compare_wait_parts(struct engine *engine)
{
	await_all(engine, &engine->parts);
}
