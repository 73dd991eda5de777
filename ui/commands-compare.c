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
#include "engine/rank-query.h"
#include "ui/answerrows.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/commands.h"

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
		error_set(error, "compare needs an expression of the program: compare loss.item()");
	else if (answers->kind == ANSWERS_BROADCAST)
		error_set(error, "a line is not given to debuggers again by itself: broadcast LINE "
				 "does that.");
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

/* Returns the class under the cursor; NULL and an error: no rank has answered yet. */
static const struct answer_class *class_under(const struct app *app, const struct answer_rows *rows,
					      struct error *error)
{
	int cursor = answer_rows_cursor(rows, &app->view);
	const struct answer_class *class = NULL;

	if (cursor >= 0)
		class = answer_rows_class(rows, (size_t)cursor);
	if (class == NULL)
		error_set(error, "no answer has come yet.");
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
		return error_set(error, "visit goes to a rank of the comparison; open it first.");
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
	return cursor < 0 ? error_set(error, "no rank was asked.") : 0;
}

const struct command command_visit = {
	.name = "visit",
	.synopsis = "[tensor]",
	.help = "select the first rank of the comparison's row, or its tensor",
	.takes = "nothing, or tensor",
	.flags = COMMAND_SCREEN,
	.run = visit_run,
};
