/*
 * commands-focus: which ranks commands act on, by what is under the cursor.
 */
#include "banned.h"
#include "base/error.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/pane.h"

/* The focus becomes these ranks; every rank when it is these already. */
static void focus_these(struct session *session, const struct rankset *these)
{
	bool is_again = !session->is_focus_all &&
			rankset_is_equal(&session->focus, these);

	if (is_again) {
		rankset_clear(&session->focus);
		session_add_ranks(session, &session->focus);
	} else {
		rankset_copy(&session->focus, these);
	}
	session->is_focus_all = is_again;
	session->revision++;
}

/* Joins the focus or leaves it; from every rank, it is left alone in it. */
static void toggle_rank(struct session *session, int rank)
{
	struct rankset focus = RANKSET_INIT;

	if (!session->is_focus_all)
		rankset_copy(&focus, &session->focus);
	if (rankset_contains(&focus, rank))
		rankset_remove(&focus, rank);
	else
		rankset_add(&focus, rank);
	session->is_focus_all = rankset_count(&focus) == 0;
	if (session->is_focus_all)
		session_add_ranks(session, &focus);
	rankset_copy(&session->focus, &focus);
	rankset_clear(&focus);
	session->revision++;
}

static int toggle_branch(struct app *app, struct error *error)
{
	struct session *session = &app->engine->session;
	struct merged merged;
	int result = -1;

	merged_make(&merged, session, &app->view);
	if (merged.row_count > 0) {
		focus_these(session,
			    &merged.rows[merged.cursor].tree.node->ranks);
		result = 0;
	}
	merged_clear(&merged);
	return result < 0 ? error_set(error, "there is no branch here.") : 0;
}

int ui_toggle(struct command_context *context, int argc, char **argv,
	      struct error *error)
{
	struct app *app = command_app(context);
	struct session *session = &app->engine->session;
	const struct rank *rank = session_selected(session);

	(void)argc;
	(void)argv;
	if (rank == NULL)
		return error_set(error, "there is no rank yet.");
	switch (view_shown(&app->engine->session, &app->view)) {
	case VIEW_MERGED:
		return toggle_branch(app, error);
	case VIEW_HOME:
	case VIEW_DIFF:
		toggle_rank(session, rank->process.rank);
		return 0;
	case VIEW_JOBS:
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT:
	case VIEW_KIND_COUNT:
		break;
	}
	return error_set(error, "no rank is under the cursor here; Esc leads "
				"back.");
}
