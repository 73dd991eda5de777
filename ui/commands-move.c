/*
 * commands-move: moving the selection, and the cursor of the shown view.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "model/source.h"
#include "protocol/stack.h"
#include "ui/app.h"
#include "ui/commands.h"
#include "ui/grid.h"
#include "ui/layout.h"
#include "ui/list.h"
#include "ui/pane.h"
#include "ui/view-type.h"
#include "ui/views/pane-breakpoints.h"

static const char *const move_names[MOVE_COUNT] = {
	[MOVE_UP] = "up",	[MOVE_DOWN] = "down",	    [MOVE_LEFT] = "left",
	[MOVE_RIGHT] = "right", [MOVE_PAGE_UP] = "page-up", [MOVE_PAGE_DOWN] = "page-down",
	[MOVE_FIRST] = "first", [MOVE_LAST] = "last",
};

static struct session *session_of(const struct command_context *context)
{
	return &context->engine->session;
}

void select_rank(struct session *session, int number)
{
	session->choice.selection = (struct selection){ .rank = number, .depth = -1 };
	session->revision++;
}

/* Drops native frames, which have no locals and no readable source; returns the new count. */
static size_t keep_python(struct stack_row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].depth >= 0)
			rows[kept++] = rows[i];
	return kept;
}

/* Returns the selectable rows of the stack pane, innermost first; free() them. Sets *at to the row
 * of the cursor. */
static struct stack_row *selected_rows(const struct app *app, size_t *count, int *at)
{
	const struct session *session = &app->engine->session;
	int depth = session_selected_depth(session);
	struct stack_row *rows;

	*count = 0;
	*at = 0;
	if (session_selected(session) == NULL || depth < 0)
		return NULL;
	rows = pane_stack_rows(session, app->view.is_unfolded, count);
	*count = keep_python(rows, *count);
	while (*at + 1 < (int)*count && rows[*at + 1].depth <= depth)
		(*at)++;
	return rows;
}

void select_depth(struct session *session, int depth)
{
	session->choice.selection.rank = session_selected(session)->process.rank;
	session->choice.selection.depth = depth;
	session->revision++;
}

/* Like in pdb, a count that is too large moves to the last frame. */
static int step_frame(struct command_context *context, const struct arguments *arguments,
		      int direction, struct error *error)
{
	struct stack_row *rows;
	size_t count;
	int at, steps, last;

	if (arguments_count(arguments, &steps, error) < 0)
		return -1;
	rows = selected_rows(command_app(context), &count, &at);
	last = direction > 0 ? (int)count - 1 - at : at;
	if (last > 0) {
		at += direction * (steps < last ? steps : last);
		select_depth(session_of(context), rows[at].depth);
	}
	free(rows);
	if (count == 0)
		return error_set(error, "the selected rank has no stack");
	if (last <= 0)
		return error_set(error, direction < 0
						? "the selected frame is the innermost frame"
						: "the selected frame is the outermost frame");
	return 0;
}

static int up_on_screen(struct command_context *context, const struct arguments *arguments,
			struct error *error)
{
	return step_frame(context, arguments, 1, error);
}

const struct command_hook screen_up = { .command = &command_up, .run = up_on_screen };

static int down_on_screen(struct command_context *context, const struct arguments *arguments,
			  struct error *error)
{
	return step_frame(context, arguments, -1, error);
}

const struct command_hook screen_down = { .command = &command_down, .run = down_on_screen };

static int pane_run(struct command_context *context, const struct arguments *arguments,
		    struct error *error)
{
	struct app *app = command_app(context);
	struct view *view = &app->view;
	int direction = arguments_direction(arguments);
	struct view unzoomed = *view;
	bool has_breakpoints = layout_has_breakpoints(session_of(context));
	struct layout layout;

	(void)error;
	if (view_type_of(view->kind)->switch_pane != NULL) {
		view_type_of(view->kind)->switch_pane(view);
		return 0;
	}
	unzoomed.is_zoomed = false;
	layout_make(&layout, session_of(context), &unzoomed);
	for (int i = 1; i <= PANE_COUNT; i++) {
		int pane = ((int)view->pane + direction * i + PANE_COUNT) % PANE_COUNT;

		if (pane == PANE_BREAKPOINTS && !has_breakpoints)
			continue;
		if (layout.panes[pane].row_count > 0 || view->is_zoomed || layout.is_compact) {
			view->pane = (enum pane)pane;
			break;
		}
	}
	/* A compact layout shows only the ranks; any other focused pane is zoomed. */
	if (layout.is_compact)
		view->is_zoomed = view->pane != PANE_GRID;
	return 0;
}

const struct command command_pane = {
	.name = "pane",
	.synopsis = "next | previous",
	.help = "select the next or previous pane",
	.flags = COMMAND_SCREEN,
	.run = pane_run,
};

static void move_grid(struct app *app, enum move move)
{
	struct session *session = &app->engine->session;
	struct ranklist_row to;
	struct grid grid;

	grid_make(&grid, session, &app->view);
	if (grid_move(&grid, move, &to))
		ranklist_select(&grid.list, session, &app->view, &to);
	grid_clear(&grid);
}

static void move_source(struct app *app, const struct layout *layout, enum move move)
{
	const struct session *session = &app->engine->session;
	const struct source *source = selected_source(session);
	int page = layout->panes[PANE_SOURCE].row_count - 1;
	int line = pane_source_line(session, &app->view);

	if (source == NULL || move == MOVE_LEFT || move == MOVE_RIGHT)
		return;
	/* The line may be beyond the end: the file may have changed, or the node may be wrong. */
	if (line > (int)source->line_count)
		line = (int)source->line_count + 1;
	view_point(&app->view, session,
		   1 + grid_move_in(line - 1, (int)source->line_count, 1, page, move));
}

static void move_thread(struct session *session, int by)
{
	const struct rank *rank = session_looked_at(session);
	const struct thread *thread = session_selected_thread(session);
	int count;
	int at;

	if (rank == NULL || thread == NULL)
		return;
	count = (int)rank->thread_count;
	at = (int)(thread - rank->threads) + by;
	session->choice.selection = (struct selection){
		.rank = rank->process.rank,
		.tid = rank->threads[(at + count) % count].sample.tid,
		.depth = -1,
		.pid = session->choice.selection.pid,
	};
	session->revision++;
}

static void move_stack(struct app *app, const struct layout *layout, enum move move)
{
	int page = layout->panes[PANE_STACK].row_count;
	struct stack_row *rows;
	size_t count;
	int at;

	if (move == MOVE_LEFT || move == MOVE_RIGHT) {
		move_thread(&app->engine->session, move == MOVE_LEFT ? -1 : 1);
		return;
	}
	rows = selected_rows(app, &count, &at);
	if (count > 0)
		select_depth(&app->engine->session,
			     rows[grid_move_in(at, (int)count, 1, page, move)].depth);
	free(rows);
}

static void move_locals(struct app *app, const struct layout *layout, enum move move)
{
	int page = layout->panes[PANE_LOCALS].row_count;
	const struct session *session = &app->engine->session;
	struct locals_frame frame = locals_frame_selected(session);
	size_t count;

	free(pane_locals_rows(session, &app->view, &frame, &count));
	if (count > 0)
		app->view.locals_cursor =
			grid_move_in(app->view.locals_cursor, (int)count, 1, page, move);
}

void home_move(struct app *app, const struct layout *layout, enum move move)
{
	enum pane pane = app->view.pane;

	if (layout->panes[pane].row_count == 0)
		pane = PANE_GRID;
	switch (pane) {
	case PANE_GRID:
		move_grid(app, move);
		break;
	case PANE_SOURCE:
		move_source(app, layout, move);
		break;
	case PANE_STACK:
		move_stack(app, layout, move);
		break;
	case PANE_LOCALS:
		move_locals(app, layout, move);
		break;
	case PANE_BREAKPOINTS:
		breakpoint_list_move(app, layout->panes[PANE_BREAKPOINTS].row_count, move);
		break;
	case PANE_COUNT:
		break;
	}
}

void move_in_view(struct app *app, enum move move)
{
	const struct session *session = &app->engine->session;
	const struct view_type *type = view_type_shown(session, &app->view);
	struct layout layout;

	layout_make(&layout, session, &app->view);
	if (type->move != NULL)
		type->move(app, &layout, move);
	else
		list_move(app, view_page(&layout), move);
}

static int cursor_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	(void)error;
	move_in_view(command_app(context),
		     (enum move)arguments_choice(arguments, move_names, MOVE_COUNT));
	return 0;
}

const struct command command_cursor = {
	.name = "cursor",
	.synopsis = "up | down | left | right | page-up | page-down | first | last",
	.help = "move in the pane",
	.flags = COMMAND_MOVES | COMMAND_SCREEN | COMMAND_INTERNAL,
	.run = cursor_run,
};
