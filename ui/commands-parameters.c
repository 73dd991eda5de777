/*
 * commands-parameters: `diff-params` on the screen, and the commands of the view of differing
 * parameters.
 */
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "engine/parameter-compare.h"
#include "model/paramdiff.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/commands.h"
#include "ui/views/pane-parameters.h"

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
		return error_set(error, "no parameter is known to differ.");
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
