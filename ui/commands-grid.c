/*
 * commands-grid: filter, order and grouping of the grid's ranks, and the commands for the next rank
 * and the next outlier.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/grid.h"
#include "ui/ranklist.h"
#include "ui/view-type.h"

static void select_at(struct app *app, const struct ranklist *list, size_t at)
{
	const struct ranklist_row row = { .kind = RANKLIST_RANK, .at = at };

	ranklist_select(list, &app->engine->session, &app->view, &row);
}

/* Selects the next rank, or the next outlier, in the grid's order. Returns false if there is
 * none. */
static bool go_to_next(struct app *app, int direction, bool is_outlier)
{
	struct ranklist list;
	bool is_found = false;
	int count;

	ranklist_make(&list, &app->engine->session, &app->view);
	count = (int)list.rank_count;
	for (int i = 1; i <= count && !is_found; i++) {
		int at = (list.at + direction * i) % count;

		/* If no rank is selected, `previous` selects the last rank. */
		if (list.at < 0 && direction < 0)
			at++;
		at = (at + count) % count;
		is_found = !is_outlier || list.ranks[at]->is_outlier;
		if (is_found)
			select_at(app, &list, (size_t)at);
	}
	ranklist_clear(&list);
	return is_found;
}

const struct rank *command_find_rank(const struct session *session, const char *text,
				     struct error *error)
{
	const struct rank *rank = NULL;
	char *end;
	long number = strtol(text, &end, 10);

	if (end != text && *end == '\0' && number >= 0 && number <= INT_MAX)
		rank = session_find_rank(session, (int)number);
	if (rank == NULL)
		error_set(error, "rank %.20s not found", text);
	return rank;
}

int look_at_rank(struct app *app, const char *text, struct error *error)
{
	struct session *session = &app->engine->session;
	const struct rank *rank = command_find_rank(session, text, error);

	if (rank == NULL)
		return -1;
	session->choice.selection = (struct selection){
		.rank = rank->process.rank,
		.depth = -1,
	};
	app->view.order.group = 0;
	session->revision++;
	return 0;
}

static int rank_on_screen(struct command_context *context, const struct arguments *arguments,
			  struct error *error)
{
	struct app *app = command_app(context);
	int direction = arguments_direction(arguments);

	if (app->engine->session.rank_count == 0)
		return error_set(error, "no rank found yet");
	if (direction == 0)
		return look_at_rank(app, arguments->words[0], error);
	if (!go_to_next(app, direction, false))
		return error_set(error, "the filter hides all ranks (Esc clears the filter)");
	return 0;
}

const struct command_hook screen_rank = { .command = &command_rank, .run = rank_on_screen };

static int outlier_run(struct command_context *context, const struct arguments *arguments,
		       struct error *error)
{
	struct app *app = command_app(context);

	if (!go_to_next(app, arguments_direction(arguments), true))
		return error_set(error, ranklist_filter(&app->view) != NULL
						? "no rank that matches the filter is an outlier"
						: "no rank is an outlier");
	return 0;
}

const struct command command_outlier = {
	.name = "outlier",
	.synopsis = "next | previous",
	.help = "select the next or previous outlier",
	.flags = COMMAND_MOVES | COMMAND_SCREEN,
	.run = outlier_run,
};

static void sort_by_next(struct app *app)
{
	struct rank_order *order = &app->view.order;
	struct ranklist list;

	ranklist_make(&list, &app->engine->session, &app->view);
	order->sort = (enum column)((order->sort + 1) % COLUMN_COUNT);
	/* On one host, sorting by host would change nothing. */
	if (order->sort == COLUMN_HOST && !list.has_hosts)
		order->sort = (enum column)(order->sort + 1);
	order->is_reversed = false;
	ranklist_clear(&list);
}

/* Sorting by the present column again reverses the order. */
void sort_by(struct app *app, enum column column)
{
	struct rank_order *order = &app->view.order;

	order->is_reversed = order->sort == column && !order->is_reversed;
	order->sort = column;
}

static int sort_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	struct rank_order *order = &app->view.order;
	enum column column;

	if (arguments_is(arguments, "reverse"))
		order->is_reversed = !order->is_reversed;
	else if (arguments->count == 0 || arguments_is(arguments, "next"))
		sort_by_next(app);
	else if (column_parse(arguments->words[0], &column))
		sort_by(app, column);
	else
		return arguments_refuse(arguments, error);
	return 0;
}

const struct command command_sort = {
	.name = "sort",
	.synopsis = "[next | reverse | COLUMN]",
	.help = "sort ranks by rank, host, age, cpu, \u2026",
	.takes = "rank, host, pid, state, activity, function, place, age, cpu, memory, class, next "
		 "or reverse",
	.flags = COMMAND_SCREEN,
	.run = sort_run,
};

static int group_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	static const char *const names[GROUPING_COUNT] = {
		[GROUPING_NONE] = "none",
		[GROUPING_CLASS] = "class",
		[GROUPING_HOST] = "host",
	};
	static const char *const said[GROUPING_COUNT] = {
		[GROUPING_NONE] = "not grouped",
		[GROUPING_CLASS] = "grouped by class",
		[GROUPING_HOST] = "grouped by host",
	};
	struct view *view = &command_app(context)->view;
	struct rank_order *order = &view->order;
	int grouping = ((int)order->grouping + 1) % GROUPING_COUNT;

	(void)error;
	if (arguments->count > 0)
		grouping = arguments_choice(arguments, names, GROUPING_COUNT);
	order->grouping = (enum grouping)grouping;
	order->group = 0;
	view_say(view, false, said[grouping]);
	return 0;
}

const struct command command_group = {
	.name = "group",
	.synopsis = "[class | host | none]",
	.help = "group ranks by class or by host; none: do not group",
	.flags = COMMAND_SCREEN,
	.run = group_run,
};

/* If the filter hides the selected rank, selects the first rank that the filter shows. */
static void follow_filter(struct app *app)
{
	struct ranklist list;

	ranklist_make(&list, &app->engine->session, &app->view);
	if (list.at < 0 && list.rank_count > 0)
		select_at(app, &list, 0);
	ranklist_clear(&list);
}

static int filter_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	struct app *app = command_app(context);
	char *text = arguments_join(arguments, 0, arguments->count);

	(void)error;
	free(app->view.order.filter);
	app->view.order.filter = NULL;
	if (*text != '\0')
		app->view.order.filter = text;
	else
		free(text);
	follow_filter(app);
	return 0;
}

const struct command command_filter = {
	.name = "filter",
	.synopsis = "[TEXT]",
	.help = "show only ranks with TEXT in their row; without TEXT: show all ranks",
	.flags = COMMAND_REST | COMMAND_SCREEN,
	.run = filter_run,
};

/*
 * Changing the focus (the ranks that commands act on) by the item under the cursor.
 */

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

/* Focuses the ranks of the group under the cursor. Returns false if the cursor is not on a
 * group. */
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
		return error_set(error, "no rank found yet");
	if (type->toggle != NULL)
		return type->toggle(app, error);
	return error_set(error, "no rank under the cursor (Esc goes back)");
}

const struct command command_toggle = {
	.name = "toggle",
	.synopsis = "",
	.help = "add the ranks under the cursor to the focus, or remove them from the focus",
	.flags = COMMAND_SCREEN,
	.run = toggle_run,
};
