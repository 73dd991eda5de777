/*
 * commands-focus: changing the focus (the ranks that commands act on) by the item under the cursor.
 */
#include "banned.h"
#include "base/error.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/ranklist.h"
#include "ui/view-type.h"

/* Sets the focus to these ranks; if the focus is already these ranks, sets it to all ranks. */
void focus_these(struct session *session, const struct rankset *these)
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

/* Adds the rank to the focus or removes the rank; when the focus is all ranks, sets the focus to
 * this rank alone. */
void focus_toggle(struct session *session, int rank)
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

/* Focuses the ranks of the group under the cursor; false: the cursor is not on a group. */
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

int home_toggle(struct app *app, struct error *error)
{
	struct session *session = &app->engine->session;

	if (is_on_breakpoints(app))
		return toggle_breakpoint(app, error);
	if (!toggle_group(app))
		focus_toggle(session, session_selected(session)->process.rank);
	return 0;
}

static int toggle_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);
	const struct session *session = &app->engine->session;
	const struct view_type *type = view_type_shown(session, &app->view);

	(void)arguments;
	if (session_selected(session) == NULL && !is_on_breakpoints(app))
		return error_set(error, "there is no rank yet.");
	if (type->toggle != NULL)
		return type->toggle(app, error);
	return error_set(error, "no rank is under the cursor here; Esc leads back.");
}

const struct command command_toggle = {
	.name = "toggle",
	.synopsis = "",
	.help = "add the ranks under the cursor to the focus, or remove them",
	.flags = COMMAND_SCREEN,
	.run = toggle_run,
};
