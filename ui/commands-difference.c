/*
 * commands-difference: commands on compared answers: the element-wise difference of two tensors,
 * the tolerance of a comparison, and displays or NaN watches of the compared expression.
 */
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/tensor-compare.h"
#include "model/tensordiff.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/commands.h"
#include "ui/comparetable.h"

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
		return error_set(error, "the others are held against these; Enter on another row "
					"shows how it differs.");
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
		return error_set(error, "difference belongs to the comparison; = opens one.");
	return commands_difference_begin(app, app->view.difference.rank,
					 app->view.difference.against, error);
}

const struct command command_difference = {
	.name = "difference",
	.synopsis = "",
	.help = "show how the row's tensor differs, element by element; alone: refresh",
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
	/* Tensors can only be compared within a tolerance by their elements. */
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
		return error_set(
			error,
			"nothing is compared that could be watched; = compares an expression.");
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
	.help = "refresh the comparison at each stop; watch a tensor for NaN",
	.flags = COMMAND_SCREEN,
	.run = follow_run,
};
