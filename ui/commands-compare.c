/*
 * commands-compare: a question to several ranks, and the view of the answers.
 */
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "engine/commands.h"
#include "engine/engine.h"
#include "engine/survey.h"
#include "ui/answerrows.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/pane.h"

static void show(struct app *app)
{
	app->view.compare_cursor = 0;
	view_open(&app->view, VIEW_COMPARE);
}

/* The last question again, of the ranks as they are now. */
static int ask_again(struct command_context *context, struct error *error)
{
	const struct answers *answers = &context->engine->session.answers;
	char *question = xstrdup_or_null(answers->question);
	int result = -1;

	if (question == NULL)
		error_set(error, "compare needs an expression of the program: "
				 "compare loss.item()");
	else
		result = survey_begin(context, "compare", question,
				      answers->kind, error);
	free(question);
	return result;
}

int ui_compare(struct command_context *context, int argc, char **argv,
	       struct error *error)
{
	if ((argc == 1 ? ask_again(context, error)
		       : command_compare(context, argc, argv, error)) < 0)
		return -1;
	show(command_app(context));
	return 0;
}

int ui_broadcast(struct command_context *context, int argc, char **argv,
		 struct error *error)
{
	if (command_broadcast(context, argc, argv, error) < 0)
		return -1;
	/* It is asked about first. */
	if (context->question != NULL)
		return 0;
	show(command_app(context));
	return 0;
}

void open_answer(struct app *app)
{
	struct session *session = &app->engine->session;
	struct answer_rows rows;
	int cursor;

	answer_rows_make(&rows, session);
	cursor = answer_rows_cursor(&rows, &app->view);
	if (cursor >= 0) {
		select_rank(session, rankset_first(answer_rows_ranks(
					     &rows, (size_t)cursor)));
		view_open(&app->view, VIEW_HOME);
	}
	answer_rows_clear(&rows);
}
