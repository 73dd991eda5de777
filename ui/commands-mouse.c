/*
 * commands-mouse: clicks and the wheel act on the mouse target that was drawn at the cell.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/canvas.h"
#include "ui/commands.h"
#include "ui/ranklist.h"

#define WHEEL_ROWS 3

static void choose_pane(struct app *app, const struct mouse_target *hit)
{
	app->view.pane = (enum pane)hit->value;
}

static void commands_mouse_choose_rank(struct app *app, const struct mouse_target *hit)
{
	app->view.pane = PANE_GRID;
	app->view.order.group = 0;
	select_rank(&app->engine->session, hit->value);
}

static void choose_row(struct app *app, const struct mouse_target *hit)
{
	struct session *session = &app->engine->session;
	struct ranklist list;

	app->view.pane = PANE_GRID;
	ranklist_make(&list, session, &app->view);
	if ((size_t)hit->value < list.row_count)
		ranklist_select(&list, session, &app->view, &list.rows[hit->value]);
	ranklist_clear(&list);
}

static void choose_group(struct app *app, const struct mouse_target *hit)
{
	struct session *session = &app->engine->session;
	struct ranklist_row row = { .kind = RANKLIST_GROUP, .at = (size_t)hit->value };
	struct ranklist list;

	app->view.pane = PANE_GRID;
	ranklist_make(&list, session, &app->view);
	if (row.at < list.rank_count && list.group_count > 0)
		ranklist_select(&list, session, &app->view, &row);
	ranklist_clear(&list);
}

static void choose_column(struct app *app, const struct mouse_target *hit)
{
	sort_by(app, (enum column)hit->value);
}

static void commands_mouse_choose_frame(struct app *app, const struct mouse_target *hit)
{
	const struct session *session = &app->engine->session;
	const struct thread *thread = session_selected_thread(session);

	app->view.pane = PANE_STACK;
	/* The drawn frame may no longer exist. */
	if (thread != NULL && thread->sample.stack != NULL &&
	    (size_t)hit->value < thread->sample.stack->frame_count)
		select_depth(&app->engine->session, hit->value);
}

static void choose_local(struct app *app, const struct mouse_target *hit)
{
	app->view.pane = PANE_LOCALS;
	app->view.locals_cursor = hit->value;
}

/* The merged stacks beside the source have no cursor, so a click opens the branch at once. */
static void choose_branch(struct app *app, const struct mouse_target *hit)
{
	app->view.cursors[VIEW_MERGED] = hit->value;
	open_branch(app);
}

static void choose_breakpoint(struct app *app, const struct mouse_target *hit)
{
	if (app->view.kind == VIEW_HOME)
		app->view.pane = PANE_BREAKPOINTS;
	app->view.cursors[VIEW_BREAKPOINTS] = hit->value;
}

/* Moves the cursor of the shown view, which is a list. */
static void choose_list_row(struct app *app, const struct mouse_target *hit)
{
	app->view.cursors[view_shown(&app->engine->session, &app->view)] = hit->value;
}

static void choose_element(struct app *app, const struct mouse_target *hit)
{
	tensor_point(app, hit->value);
}

static void press_key(struct app *app, const struct mouse_target *hit)
{
	commands_run(app, hit->line);
}

struct hit_form {
	enum mouse_target_kind kind;
	void (*choose)(struct app *app, const struct mouse_target *hit);
	bool can_open;
};

static const struct hit_form forms[] = {
	{ MOUSE_TARGET_PANE, choose_pane, false },
	{ MOUSE_TARGET_RANK, commands_mouse_choose_rank, true },
	{ MOUSE_TARGET_ROW, choose_row, true },
	{ MOUSE_TARGET_GROUP, choose_group, true },
	{ MOUSE_TARGET_COLUMN, choose_column, false },
	{ MOUSE_TARGET_FRAME, commands_mouse_choose_frame, true },
	{ MOUSE_TARGET_LOCAL, choose_local, true },
	{ MOUSE_TARGET_MERGED, choose_branch, true },
	{ MOUSE_TARGET_BREAKPOINT, choose_breakpoint, true },
	{ MOUSE_TARGET_LIST, choose_list_row, true },
	{ MOUSE_TARGET_ELEMENT, choose_element, false },
	{ MOUSE_TARGET_KEY, press_key, false },
};

static const struct hit_form *commands_mouse_form_of(enum mouse_target_kind kind)
{
	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++)
		if (forms[i].kind == kind)
			return &forms[i];
	return NULL;
}

/*
 * Parses a row or column, counted from 1, into an index from 0. Returns -1 if the text is not such
 * a number.
 */
static int commands_mouse_parse_place(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end != '\0' || number < 1 || number > INT_MAX)
		return -1;
	return (int)number - 1;
}

static int click_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	struct app *app = command_app(context);
	bool opens = strcmp(arguments_word(arguments, 2), "open") == 0;
	int row = commands_mouse_parse_place(arguments->words[0]);
	int column = commands_mouse_parse_place(arguments->words[1]);
	const struct mouse_target *found;
	const struct hit_form *form;
	struct mouse_target hit;

	if (row < 0 || column < 0 || (arguments->count > 2 && !opens))
		return arguments_refuse(arguments, error);
	found = mouse_target_list_find(&app->canvas.hits, row, column, MOUSE_TARGET_ANY);
	if (found == NULL)
		return 0;
	/* Copy the target: a command may draw and so replace the list of targets. */
	hit = *found;
	form = commands_mouse_form_of(hit.kind);
	form->choose(app, &hit);
	if (!opens || !form->can_open)
		return 0;
	return open_under_cursor(context, error);
}

const struct command command_click = {
	.name = "click",
	.synopsis = "ROW COLUMN [open]",
	.help = "select or open the item at a cell",
	.takes = "a row, a column [open]",
	.flags = COMMAND_SCREEN | COMMAND_INTERNAL,
	.run = click_run,
};

/* Scrolls the pane under the mouse; the focused pane stays the same. */
static int wheel_run(struct command_context *context, const struct arguments *arguments,
		     struct error *error)
{
	struct app *app = command_app(context);
	int row = commands_mouse_parse_place(arguments->words[0]);
	int column = commands_mouse_parse_place(arguments_word(arguments, 1));
	const char *way = arguments_word(arguments, 2);
	bool is_up = strcmp(way, "up") == 0;
	enum pane pane = app->view.pane;
	const struct mouse_target *hit;
	int count = WHEEL_ROWS;

	if (row < 0 || column < 0 || (!is_up && strcmp(way, "down") != 0))
		return arguments_refuse(arguments, error);
	hit = mouse_target_list_find(&app->canvas.hits, row, column, MOUSE_TARGET_PANE);
	if (hit != NULL && app->view.kind == VIEW_HOME) {
		app->view.pane = (enum pane)hit->value;
		/* One wheel step in the grid moves by one rank, or by one row of ranks. */
		if (app->view.pane == PANE_GRID)
			count = 1;
	}
	for (int i = 0; i < count; i++)
		move_in_view(app, is_up ? MOVE_UP : MOVE_DOWN);
	app->view.pane = pane;
	return 0;
}

const struct command command_wheel = {
	.name = "wheel",
	.synopsis = "ROW COLUMN up | down",
	.help = "scroll the pane at a cell",
	.takes = "a row, a column, up or down",
	.flags = COMMAND_SCREEN | COMMAND_INTERNAL,
	.run = wheel_run,
};
