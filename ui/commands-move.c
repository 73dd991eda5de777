/*
 * commands-move: moving the selection and the cursor of the open view.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/engine.h"
#include "model/source.h"
#include "model/stackdiff.h"
#include "protocol/stack.h"
#include "protocol/variable.h"
#include "ui/answerrows.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/grid.h"
#include "ui/layout.h"
#include "ui/pane-breakpoints.h"
#include "ui/pane-parameters.h"
#include "ui/pane.h"

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

/* Native frames have no locals, and no source that is read. */
static size_t keep_python(struct stack_row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].depth >= 0)
			rows[kept++] = rows[i];
	return kept;
}

/*
 * The rows of the stack pane that can be chosen, innermost first; *at is the
 * cursor's. free().
 */
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

/* As in pdb a count that is too large leads to the last frame. */
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
		return error_set(error, "this rank has no stack to move in.");
	if (last <= 0)
		return error_set(error, direction < 0 ? "this is the innermost frame."
						      : "this is the outermost frame.");
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
	if (view->kind == VIEW_LOG) {
		view_focus_log(view, !view->is_log_focused);
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
	/* Where only the ranks fit, another pane takes their place. */
	if (layout.is_compact)
		view->is_zoomed = view->pane != PANE_GRID;
	return 0;
}

const struct command command_pane = {
	.name = "pane",
	.synopsis = "next | previous",
	.help = "go to another pane",
	.flags = COMMAND_SCREEN,
	.run = pane_run,
};

static int at_least_one(int number)
{
	return number > 0 ? number : 1;
}

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
	int page = at_least_one(layout->panes[PANE_SOURCE].row_count - 1);
	int line = pane_source_line(session, &app->view);

	if (source == NULL || move == MOVE_LEFT || move == MOVE_RIGHT)
		return;
	/* What runs may be another file than what is read, or a node's lie. */
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
	int page = at_least_one(layout->panes[PANE_STACK].row_count);
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
	int page = at_least_one(layout->panes[PANE_LOCALS].row_count);
	const struct session *session = &app->engine->session;
	struct locals_frame frame = locals_frame_selected(session);
	size_t count;

	free(pane_locals_rows(session, &app->view, &frame, &count));
	if (count > 0)
		app->view.locals_cursor =
			grid_move_in(app->view.locals_cursor, (int)count, 1, page, move);
}

static void move_breakpoints(struct app *app, int page, enum move move)
{
	struct breakpoint_list list;

	breakpoint_list_make(&list, &app->engine->session);
	if (list.count > 0 && move != MOVE_LEFT && move != MOVE_RIGHT)
		app->view.breakpoint_cursor =
			grid_move_in(breakpoint_list_cursor(&list, &app->view), (int)list.count, 1,
				     at_least_one(page), move);
	breakpoint_list_clear(&list);
}

static void move_home(struct app *app, const struct layout *layout, enum move move)
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
		move_breakpoints(app, layout->panes[PANE_BREAKPOINTS].row_count, move);
		break;
	case PANE_COUNT:
		break;
	}
}

static void move_merged(struct app *app, int page, enum move move)
{
	struct merged merged;

	merged_make(&merged, &app->engine->session, &app->view);
	if (merged.row_count > 0 && move != MOVE_LEFT && move != MOVE_RIGHT)
		app->view.merged_cursor =
			grid_move_in(merged.cursor, (int)merged.row_count, 1, page, move);
	merged_clear(&merged);
}

static size_t diff_row_count(const struct app *app)
{
	struct diff_sides sides;
	struct stackdiff diff;
	const char *problem;
	size_t count;

	if (!diff_sides_find(&sides, &app->engine->session, &app->view, &problem))
		return 0;
	stackdiff_make(&diff, sides.a_stack, sides.b_stack);
	count = diff.row_count;
	stackdiff_clear(&diff);
	return count;
}

static int text_line_count(const struct app *app)
{
	struct buffer text = BUFFER_INIT;
	int count = 0;

	pane_text_append(&text, &app->engine->session, &app->view, &app->keymap);
	for (size_t i = 0; i < text.length; i++)
		count += text.data[i] == '\n';
	buffer_clear(&text);
	return count;
}

static void move_text(struct app *app, int page, enum move move)
{
	int last = text_line_count(app) - page;

	app->view.text_scroll =
		grid_move_in(app->view.text_scroll, last > 0 ? last + 1 : 1, 1, page, move);
}

/* At its end it shows what comes. */
static void move_log(struct app *app, int page, enum move move)
{
	struct view *view = &app->view;
	int last = text_line_count(app) - page;

	if (last < 0)
		last = 0;
	if (view->text_scroll > last)
		view->text_scroll = last;
	move_text(app, page, move);
	if (view->text_scroll >= last)
		view->text_scroll = SCROLL_END;
}

static void move_diff(struct app *app, int page, enum move move)
{
	size_t count = diff_row_count(app);

	if (count > 0)
		app->view.diff_cursor =
			grid_move_in(app->view.diff_cursor, (int)count, 1, page, move);
}

static void move_answers(struct app *app, int page, enum move move)
{
	struct answer_rows rows;
	int cursor;

	answer_rows_make(&rows, &app->engine->session);
	cursor = answer_rows_cursor(&rows, &app->view);
	if (cursor >= 0)
		app->view.compare_cursor = grid_move_in(cursor, (int)rows.count, 1, page, move);
	answer_rows_clear(&rows);
}

static void move_parameters(struct app *app, int page, enum move move)
{
	const struct session *session = &app->engine->session;
	int cursor = parameters_cursor(session, &app->view);

	if (cursor >= 0)
		app->view.parameters_cursor =
			grid_move_in(cursor, (int)parameters_count(session), 1, page, move);
}

static void move_console(struct console *console, int page, enum move move)
{
	int history = console_history(console);
	int at = history - console->back;

	console_scroll(console,
		       at - grid_move_in(at, history + 1, 1, at_least_one(page - 1), move));
}

static void move_repl(struct app *app, int page, enum move move)
{
	struct repl *repl = &app->view.repl;
	int hidden = repl_hidden_rows(&app->engine->session, &app->view);
	int at = hidden - repl->back;

	repl->back =
		hidden - grid_move_in(at > 0 ? at : 0, hidden + 1, 1, at_least_one(page - 1), move);
}

void move_cursor(struct app *app, enum move move)
{
	const struct session *session = &app->engine->session;
	struct layout layout;
	int page;

	if (view_lists_jobs(session, &app->view)) {
		app->view.job_cursor = grid_move_in(view_job_cursor(session, &app->view),
						    (int)session->job_count, 1, 10, move);
		return;
	}
	layout_make(&layout, session, &app->view);
	page = layout.body.row_count;
	if (pane_has_frame(page))
		page -= 2;
	page = at_least_one(page);
	switch (app->view.kind) {
	case VIEW_HOME:
		move_home(app, &layout, move);
		break;
	case VIEW_MERGED:
		move_merged(app, at_least_one(page / 2), move);
		break;
	case VIEW_DIFF:
		move_diff(app, at_least_one(page / 2), move);
		break;
	case VIEW_JOBS:
		break;
	case VIEW_BREAKPOINTS:
		move_breakpoints(app, page, move);
		break;
	case VIEW_LOG:
		page = at_least_one(pane_log_page(&app->view, layout.body.row_count));
		move_log(app, page, move);
		break;
	case VIEW_COMPARE:
		move_answers(app, page, move);
		break;
	case VIEW_PARAMETERS:
		move_parameters(app, page, move);
		break;
	case VIEW_CONSOLE:
		move_console(&app->view.console, page, move);
		break;
	case VIEW_TERMINAL:
		move_console(&app->view.terminal, page, move);
		break;
	case VIEW_REPL:
		move_repl(app, page, move);
		break;
	case VIEW_TENSOR:
		tensor_move(app, move);
		break;
	case VIEW_HELP:
	case VIEW_TEXT:
		move_text(app, page, move);
		break;
	case VIEW_DIFFERENCE:
	case VIEW_KIND_COUNT:
		break;
	}
}

static int cursor_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	(void)error;
	move_cursor(command_app(context),
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
