/*
 * commands-focus: which ranks commands act on, by what is under the cursor.
 */
#include "banned.h"
#include "base/error.h"
#include "engine/engine.h"
#include "ui/answerrows.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/pane-parameters.h"
#include "ui/pane.h"
#include "ui/ranklist.h"

/* The focus becomes these ranks; every rank when it is these already. */
static void focus_these(struct session *session, const struct rankset *these)
{
	bool is_again =
		!session->choice.is_focus_all && rankset_is_equal(&session->choice.focus, these);

	if (is_again) {
		rankset_clear(&session->choice.focus);
		session_add_ranks(session, &session->choice.focus);
	} else {
		rankset_copy(&session->choice.focus, these);
	}
	session->choice.is_focus_all = is_again;
	session->revision++;
}

/* Joins the focus or leaves it; from every rank, it is left alone in it. */
static void toggle_rank(struct session *session, int rank)
{
	struct rankset focus = RANKSET_INIT;

	if (!session->choice.is_focus_all)
		rankset_copy(&focus, &session->choice.focus);
	if (rankset_contains(&focus, rank))
		rankset_remove(&focus, rank);
	else
		rankset_add(&focus, rank);
	session->choice.is_focus_all = rankset_count(&focus) == 0;
	if (session->choice.is_focus_all)
		session_add_ranks(session, &focus);
	rankset_copy(&session->choice.focus, &focus);
	rankset_clear(&focus);
	session->revision++;
}

/* The ranks of the group that the cursor is on; false: it is on a rank. */
static bool toggle_group(struct app *app)
{
	struct session *session = &app->engine->session;
	const struct ranklist_group *group = NULL;
	struct rankset these = RANKSET_INIT;
	struct ranklist list;
	bool is_found;

	ranklist_make(&list, session, &app->view);
	if (app->view.pane == PANE_GRID && list.cursor >= 0 &&
	    list.rows[list.cursor].kind == RANKLIST_GROUP)
		group = ranklist_group_at(&list, list.rows[list.cursor].at);
	for (size_t i = 0; group != NULL && i < group->count; i++)
		rankset_add(&these, list.ranks[group->first + i]->process.rank);
	is_found = group != NULL;
	ranklist_clear(&list);
	if (is_found)
		focus_these(session, &these);
	rankset_clear(&these);
	return is_found;
}

static int toggle_branch(struct app *app, struct error *error)
{
	struct session *session = &app->engine->session;
	struct merged merged;
	int result = -1;

	merged_make(&merged, session, &app->view);
	if (merged.row_count > 0) {
		focus_these(session, &merged.rows[merged.cursor].tree.node->ranks);
		result = 0;
	}
	merged_clear(&merged);
	return result < 0 ? error_set(error, "there is no branch here.") : 0;
}

static int toggle_answer(struct app *app, struct error *error)
{
	struct session *session = &app->engine->session;
	struct answer_rows rows;
	int cursor;

	answer_rows_make(&rows, session);
	cursor = answer_rows_cursor(&rows, &app->view);
	if (cursor >= 0)
		focus_these(session, answer_rows_ranks(&rows, (size_t)cursor));
	answer_rows_clear(&rows);
	return cursor < 0 ? error_set(error, "no answer has come yet.") : 0;
}

static int toggle_parameter(struct app *app, struct error *error)
{
	struct session *session = &app->engine->session;
	int cursor = parameters_cursor(session, &app->view);

	if (cursor < 0)
		return error_set(error, "no parameter is known to differ.");
	focus_these(session, parameters_odd(parameters_row(session, (size_t)cursor)));
	return 0;
}

static int toggle_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);
	struct session *session = &app->engine->session;
	const struct rank *rank = session_selected(session);

	(void)arguments;
	if (is_on_breakpoints(app))
		return toggle_breakpoint(app, error);
	if (rank == NULL)
		return error_set(error, "there is no rank yet.");
	switch (view_shown(&app->engine->session, &app->view)) {
	case VIEW_MERGED:
		return toggle_branch(app, error);
	case VIEW_COMPARE:
		return toggle_answer(app, error);
	case VIEW_PARAMETERS:
		return toggle_parameter(app, error);
	case VIEW_HOME:
		if (toggle_group(app))
			return 0;
		toggle_rank(session, rank->process.rank);
		return 0;
	case VIEW_DIFF:
		toggle_rank(session, rank->process.rank);
		return 0;
	case VIEW_JOBS:
	case VIEW_BREAKPOINTS:
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT:
	case VIEW_CONSOLE:
	case VIEW_TERMINAL:
	case VIEW_REPL:
	case VIEW_TENSOR:
	case VIEW_DIFFERENCE:
	case VIEW_KIND_COUNT:
		break;
	}
	return error_set(error, "no rank is under the cursor here; Esc leads back.");
}

const struct command command_toggle = {
	.name = "toggle",
	.synopsis = "",
	.help = "focus on what is under the cursor, too; or no more",
	.flags = COMMAND_SCREEN,
	.run = toggle_run,
};
