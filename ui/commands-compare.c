/*
 * commands-compare: `compare` and `broadcast` on the screen, and the commands of the view of the
 * answers.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "engine/parameter-compare.h"
#include "engine/rank-query.h"
#include "engine/tensor-compare.h"
#include "model/paramdiff.h"
#include "model/tensordiff.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/comparetable.h"
#include "ui/views/pane-parameters.h"

static void commands_compare_show(struct command_context *context)
{
	struct view *view = &command_app(context)->view;

	view->cursors[VIEW_COMPARE] = 0;
	view_open(view, VIEW_COMPARE);
}

/* Repeats the last question; the ranks answer with their present values. */
static int commands_compare_ask_again(struct command_context *context, struct error *error)
{
	const struct answers *answers = &context->engine->session.answers;
	char *question = xstrdup_or_null(answers->question);
	int result = -1;

	if (question == NULL)
		error_set(error, "compare needs a Python expression: use `:compare loss.item()`");
	else if (answers->kind == ANSWERS_BROADCAST)
		error_set(error, "the last broadcast is not repeated automatically: use "
				 "`:broadcast LINE` to send the line again");
	else
		result = rank_query_begin(context, "compare", question, answers->kind, error);
	free(question);
	return result;
}

/* `compare` without arguments repeats the last question. */
static int compare_on_screen(struct command_context *context, const struct arguments *arguments,
			     struct error *error)
{
	return arguments->count == 0 ? commands_compare_ask_again(context, error)
				     : command_compare.run(context, arguments, error);
}

const struct command_hook screen_compare = {
	.command = &command_compare,
	.run = compare_on_screen,
	.after = commands_compare_show,
};

const struct command_hook screen_broadcast = { .command = &command_broadcast,
					       .after = commands_compare_show };

/* Returns the class under the cursor; returns NULL and sets the error if no rank has answered
 * yet. */
static const struct answer_class *class_under(const struct app *app, const struct answer_rows *rows,
					      struct error *error)
{
	int cursor = answer_rows_cursor(rows, &app->view);
	const struct answer_class *class = NULL;

	if (cursor >= 0)
		class = answer_rows_class(rows, (size_t)cursor);
	if (class == NULL)
		error_set(error, "no rank has answered yet: try again");
	return class;
}

/* Appends the question, the ranks and the whole answer of a class, with the traceback if there is
 * one. */
static void append_whole(struct buffer *out, const struct answers *answers,
			 const struct answer_class *class)
{
	const struct answer *first = class->first;

	buffer_append_string(out, answers->question);
	buffer_append_string(out, "\n");
	rankset_append_named(out, &class->ranks);
	if (first->type != NULL && !class->is_failure)
		buffer_printf(out, ": %s", first->type);
	buffer_append_string(out, "\n\n");
	buffer_append_string(out, class->text);
	if (first->traceback != NULL)
		buffer_printf(out, "\n\n%s", first->traceback);
	if (out->data[out->length - 1] != '\n')
		buffer_append_char(out, '\n');
}

int open_answer(struct command_context *context, struct error *error)
{
	struct app *app = command_app(context);
	const struct session *session = &app->engine->session;
	const struct answer_class *class;
	struct answer_rows rows;
	int result = 0;

	answer_rows_make(&rows, session);
	class = class_under(app, &rows, error);
	if (class != NULL && class->tensor != NULL)
		result = open_difference(app, &rows.classes, class, error);
	else if (class != NULL)
		append_whole(context->out, &session->answers, class);
	answer_rows_clear(&rows);
	return class != NULL ? result : -1;
}

/* Opens the tensor view for the selected rank's value of the compared expression. */
static void show_tensor(struct app *app)
{
	char *line = xasprintf("tensor %s", app->engine->session.answers.question);

	commands_run(app, line);
	free(line);
}

static int visit_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	struct app *app = command_app(context);
	struct session *session = &app->engine->session;
	bool to_tensor = arguments_is(arguments, "tensor");
	struct answer_rows rows;
	int cursor;

	if (app->view.kind != VIEW_COMPARE)
		return error_set(error,
				 "the command visit works only in a comparison: open one (=)");
	answer_rows_make(&rows, session);
	cursor = answer_rows_cursor(&rows, &app->view);
	if (cursor >= 0) {
		select_rank(session, rankset_first(answer_rows_ranks(&rows, (size_t)cursor)));
		if (to_tensor)
			show_tensor(app);
		else
			view_open(&app->view, VIEW_HOME);
	}
	answer_rows_clear(&rows);
	return cursor < 0 ? error_set(error, "the comparison has no ranks") : 0;
}

const struct command command_visit = {
	.name = "visit",
	.synopsis = "[tensor]",
	.help = "in a comparison: select the first rank of the row under the cursor; tensor: also "
		"show the rank's tensor",
	.takes = "nothing, or tensor",
	.flags = COMMAND_SCREEN,
	.run = visit_run,
};

/*
 * `diff-params` on the screen, and the commands of the view of differing
 * parameters.
 */

/* Repeats the last comparison of parameters with the ranks' present values. */
static int commands_parameters_ask_again(struct command_context *context, struct error *error)
{
	const struct paramdiff *diff = &context->engine->session.paramdiff;
	char *expression = xstrdup(diff->expression);
	int result = parameter_compare_begin(context, expression, diff->is_of_gradients, error);

	free(expression);
	return result;
}

static int diff_params_on_screen(struct command_context *context, const struct arguments *arguments,
				 struct error *error)
{
	const struct session *session = &context->engine->session;

	return arguments->count == 0 && session->paramdiff.expression != NULL
		       ? commands_parameters_ask_again(context, error)
		       : command_diff_params.run(context, arguments, error);
}

static void commands_parameters_show(struct command_context *context)
{
	struct view *view = &command_app(context)->view;

	view->cursors[VIEW_PARAMETERS] = 0;
	view_open(view, VIEW_PARAMETERS);
}

const struct command_hook screen_diff_params = {
	.command = &command_diff_params,
	.run = diff_params_on_screen,
	.after = commands_parameters_show,
};

int open_parameter(struct command_context *context, struct error *error)
{
	struct app *app = command_app(context);
	const struct session *session = &app->engine->session;
	int cursor = parameters_cursor(session, &app->view);
	const struct paramdiff *diff = &session->paramdiff;
	struct buffer line = BUFFER_INIT;
	struct rankset ranks = RANKSET_INIT;
	char *name;

	if (cursor < 0)
		return error_set(error, "no differing parameter found");
	name = parameter_compare_name(app->engine, parameters_row(session, (size_t)cursor));
	for (size_t i = 0; i < diff->rank_count; i++)
		rankset_add(&ranks, diff->ranks[i].rank);
	buffer_printf(&line, "compare %s ranks ", name);
	rankset_append(&line, &ranks);
	commands_run(app, line.data);
	free(name);
	rankset_clear(&ranks);
	buffer_clear(&line);
	return 0;
}

bool stop_parameters(struct app *app)
{
	if (!parameter_compare_is_busy(app->engine))
		return false;
	parameter_compare_cancel(app->engine);
	return true;
}

/*
 * Commands on compared answers: the element-wise difference of two tensors,
 * the tolerance of a comparison, and displays or NaN watches of the compared expression.
 */

static void commands_difference_show(struct app *app, const struct difference *difference)
{
	app->view.difference.rank = difference->rank;
	app->view.difference.against = difference->against;
	view_open(&app->view, VIEW_DIFFERENCE);
}

static int commands_difference_begin(struct app *app, int rank, int against, struct error *error)
{
	if (command_check_job(app->engine, "difference", error) < 0)
		return -1;
	if (value_difference_begin(app->engine, rank, against, error) < 0)
		return -1;
	commands_difference_show(app,
				 difference_find(&app->engine->session.answers, rank, against));
	return 0;
}

int open_difference(struct app *app, const struct answer_classes *classes,
		    const struct answer_class *class, struct error *error)
{
	const struct answers *answers = &app->engine->session.answers;
	const struct difference *known;
	const struct answer_class *other = answer_classes_reference(classes);

	if (class == other)
		return error_set(error, "the selected row is the reference: press Enter on another "
					"row to compare that row with the reference");
	known = difference_of(answers, class, other);
	if (known == NULL || known->state == DIFFERENCE_FAILED)
		return commands_difference_begin(app, rankset_first(&class->ranks),
						 rankset_first(&other->ranks), error);
	commands_difference_show(app, known);
	return 0;
}

static int difference_run(struct command_context *context, const struct arguments *arguments,
			  struct error *error)
{
	struct app *app = command_app(context);

	(void)arguments;
	if (app->view.kind == VIEW_COMPARE)
		return open_answer(context, error);
	if (app->view.kind != VIEW_DIFFERENCE)
		return error_set(error,
				 "the command difference works only in a comparison: open one (=)");
	return commands_difference_begin(app, app->view.difference.rank,
					 app->view.difference.against, error);
}

const struct command command_difference = {
	.name = "difference",
	.synopsis = "",
	.help = "in a comparison: compare the row's tensor element by element; in a difference: "
		"refresh the difference",
	.flags = COMMAND_SCREEN,
	.run = difference_run,
};

bool stop_difference(struct app *app)
{
	const struct view *view = &app->view;
	const struct difference *difference = difference_find(
		&app->engine->session.answers, view->difference.rank, view->difference.against);

	if (difference == NULL || difference->state != DIFFERENCE_READING)
		return false;
	value_difference_cancel(app->engine, difference->rank, difference->against);
	return true;
}

void apply_tolerance(struct app *app)
{
	struct engine *engine = app->engine;
	struct answers *answers = &engine->session.answers;

	if (answers->question == NULL || answers->kind != ANSWERS_COMPARE)
		return;
	answers->tolerance = engine->settings.tolerance;
	/* A tolerance applies to tensors only if their elements are compared. */
	if (answers->tolerance > 0 && answers_come(answers) == answers->count)
		value_difference_begin_all(engine);
	engine->session.revision++;
}

/* Displays the compared expression at each stop; a tensor is watched for NaN instead. */
static int follow_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);
	const struct answers *answers = &app->engine->session.answers;
	struct answer_classes classes;
	char *line;

	(void)arguments;
	if (answers->question == NULL || answers->kind != ANSWERS_COMPARE)
		return error_set(error, "no comparison to follow: compare an expression (=)");
	answer_classes_make(&classes, answers);
	line = xasprintf(comparetable_is_wanted(&classes) ? "watch-nan %s" : "display %s",
			 answers->question);
	answer_classes_clear(&classes);
	commands_run(app, line);
	free(line);
	return 0;
}

const struct command command_follow = {
	.name = "follow",
	.synopsis = "",
	.help = "in a comparison of tensors: watch the tensors for NaN; of other values: show the "
		"value at each stop",
	.flags = COMMAND_SCREEN,
	.run = follow_run,
};
