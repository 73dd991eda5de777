/*
 * commands-move: moving the selection and the cursor of the open view.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/engine.h"
#include "model/source.h"
#include "model/stackdiff.h"
#include "protocol/stack.h"
#include "protocol/variable.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/layout.h"
#include "ui/pane.h"

enum move {
	MOVE_UP,
	MOVE_DOWN,
	MOVE_LEFT,
	MOVE_RIGHT,
	MOVE_PAGE_UP,
	MOVE_PAGE_DOWN,
	MOVE_FIRST,
	MOVE_LAST,
	MOVE_COUNT,
};

static const char *const move_names[MOVE_COUNT] = {
	[MOVE_UP] = "up",	    [MOVE_DOWN] = "down",
	[MOVE_LEFT] = "left",	    [MOVE_RIGHT] = "right",
	[MOVE_PAGE_UP] = "page-up", [MOVE_PAGE_DOWN] = "page-down",
	[MOVE_FIRST] = "first",	    [MOVE_LAST] = "last",
};

/* 1 for "next", -1 for "previous", 0 for anything else. */
static int direction_of(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "next") == 0)
		return 1;
	if (argc == 2 && strcmp(argv[1], "previous") == 0)
		return -1;
	return 0;
}

static struct session *session_of(const struct command_context *context)
{
	return &context->engine->session;
}

void select_rank(struct session *session, int number)
{
	session->selection = (struct selection){ .rank = number, .depth = -1 };
	session->revision++;
}

static int selected_index(const struct session *session)
{
	const struct rank *selected = session_selected(session);

	for (size_t i = 0; i < session->rank_count; i++)
		if (session->ranks[i] == selected)
			return (int)i;
	return -1;
}

int ui_rank(struct command_context *context, int argc, char **argv,
	    struct error *error)
{
	struct session *session = session_of(context);
	int count = (int)session->rank_count;
	int direction = direction_of(argc, argv);
	char *end;
	long number;

	if (count == 0)
		return error_set(error, "there is no rank yet.");
	if (direction != 0) {
		int index = selected_index(session) + direction;

		select_rank(
			session,
			session->ranks[(index + count) % count]->process.rank);
		return 0;
	}
	if (argc != 2)
		return command_usage(error, "rank", "next, previous or N");
	number = strtol(argv[1], &end, 10);
	if (end == argv[1] || *end != '\0' || number < 0 || number > INT_MAX ||
	    session_find_rank(session, (int)number) == NULL)
		return error_set(error, "there is no rank %.20s.", argv[1]);
	select_rank(session, (int)number);
	return 0;
}

int ui_outlier(struct command_context *context, int argc, char **argv,
	       struct error *error)
{
	struct session *session = session_of(context);
	int direction = direction_of(argc, argv);
	int count = (int)session->rank_count;
	int at = selected_index(session);

	if (direction == 0)
		return command_usage(error, "outlier", "next or previous");
	for (int i = 1; i <= count; i++) {
		int index = (at + direction * i % count + count) % count;

		if (session->ranks[index]->is_outlier) {
			select_rank(session,
				    session->ranks[index]->process.rank);
			return 0;
		}
	}
	return error_set(error, "no rank is an outlier.");
}

/* The rows of the stack pane, innermost first; *at is the cursor's. free(). */
static struct stack_row *selected_rows(const struct app *app, size_t *count,
				       int *at)
{
	const struct session *session = &app->engine->session;
	int depth = session_selected_depth(session);
	struct stack_row *rows;

	*count = 0;
	*at = 0;
	if (session_selected(session) == NULL || depth < 0)
		return NULL;
	rows = pane_stack_rows(session_selected(session),
			       session_selected_thread(session),
			       app->view.is_unfolded, count);
	while (*at + 1 < (int)*count && rows[*at + 1].depth <= depth)
		(*at)++;
	return rows;
}

void select_depth(struct session *session, int depth)
{
	session->selection.rank = session_selected(session)->process.rank;
	session->selection.depth = depth;
	session->revision++;
}

static int step_frame(struct command_context *context, int by,
		      struct error *error)
{
	size_t count;
	int at;
	struct stack_row *rows =
		selected_rows(command_app(context), &count, &at);

	at += by;
	if (at >= 0 && at < (int)count)
		select_depth(session_of(context), rows[at].depth);
	free(rows);
	if (count == 0)
		return error_set(error, "this rank has no stack to move in.");
	if (at < 0)
		return error_set(error, "this is the innermost frame.");
	if (at >= (int)count)
		return error_set(error, "this is the outermost frame.");
	return 0;
}

int ui_up(struct command_context *context, int argc, char **argv,
	  struct error *error)
{
	(void)argc;
	(void)argv;
	return step_frame(context, 1, error);
}

int ui_down(struct command_context *context, int argc, char **argv,
	    struct error *error)
{
	(void)argc;
	(void)argv;
	return step_frame(context, -1, error);
}

int ui_pane(struct command_context *context, int argc, char **argv,
	    struct error *error)
{
	struct app *app = command_app(context);
	struct view *view = &app->view;
	int direction = direction_of(argc, argv);
	struct view unzoomed = *view;
	struct layout layout;

	if (direction == 0)
		return command_usage(error, "pane", "next or previous");
	unzoomed.is_zoomed = false;
	layout_make(&layout, session_of(context), &unzoomed);
	for (int i = 1; i <= PANE_COUNT; i++) {
		int pane = ((int)view->pane + direction * i + PANE_COUNT) %
			   PANE_COUNT;

		if (layout.panes[pane].row_count > 0 || view->is_zoomed ||
		    layout.is_compact) {
			view->pane = (enum pane)pane;
			break;
		}
	}
	/* Where only the ranks fit, another pane takes their place. */
	if (layout.is_compact)
		view->is_zoomed = view->pane != PANE_GRID;
	return 0;
}

/* Where a cursor among count things goes; page is what fits. */
static int move_in(int at, int count, int across, int page, enum move move)
{
	static const int pages[MOVE_COUNT] = {
		[MOVE_PAGE_UP] = -1,
		[MOVE_PAGE_DOWN] = 1,
	};
	static const int rows[MOVE_COUNT] = {
		[MOVE_UP] = -1,
		[MOVE_DOWN] = 1,
	};
	static const int cells[MOVE_COUNT] = {
		[MOVE_LEFT] = -1,
		[MOVE_RIGHT] = 1,
	};
	int to = at + pages[move] * page + rows[move] * across + cells[move];

	if (move == MOVE_FIRST)
		return 0;
	if (move == MOVE_LAST)
		return count > 0 ? count - 1 : 0;
	if (to < 0)
		return move == MOVE_UP && across > 1 ? at : 0;
	if (to >= count)
		return move == MOVE_DOWN && across > 1 ? at : count - 1;
	return to;
}

static int at_least_one(int number)
{
	return number > 0 ? number : 1;
}

static void move_grid(struct app *app, const struct layout *layout,
		      enum move move)
{
	struct session *session = &app->engine->session;
	const struct box *box = &layout->panes[PANE_GRID];
	int page = at_least_one(box->row_count);
	int across = 1;
	int to;

	if (session->rank_count == 0)
		return;
	if (layout->grid == GRID_CARDS)
		across = at_least_one(layout->cards_across);
	if (layout->grid == GRID_CELLS)
		across = pane_cells_across(box->column_count);
	if (across > 1)
		page *= across;
	to = move_in(selected_index(session), (int)session->rank_count, across,
		     page, move);
	select_rank(session, session->ranks[to]->process.rank);
}

/* The first line shown moves; the scroll follows, so no key is lost. */
static void move_source(struct app *app, const struct layout *layout,
			enum move move)
{
	const struct session *session = &app->engine->session;
	const struct source *source = selected_source(session);
	int rows = at_least_one(layout->panes[PANE_SOURCE].row_count);
	int first;
	int last;

	if (source == NULL || move == MOVE_LEFT || move == MOVE_RIGHT)
		return;
	last = at_least_one((int)source->line_count - rows + 1);
	first = pane_source_first(session, &app->view, rows);
	app->view.source_scroll +=
		move_in(first - 1, last, 1, at_least_one(rows - 1), move) + 1 -
		pane_source_unclamped(session, &app->view, rows);
}

static void move_thread(struct session *session, int by)
{
	const struct rank *rank = session_selected(session);
	const struct thread *thread = session_selected_thread(session);
	int count;
	int at;

	if (rank == NULL || thread == NULL)
		return;
	count = (int)rank->thread_count;
	at = (int)(thread - rank->threads) + by;
	session->selection = (struct selection){
		.rank = rank->process.rank,
		.tid = rank->threads[(at + count) % count].sample.tid,
		.depth = -1,
	};
	session->revision++;
}

static void move_stack(struct app *app, const struct layout *layout,
		       enum move move)
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
		select_depth(
			&app->engine->session,
			rows[move_in(at, (int)count, 1, page, move)].depth);
	free(rows);
}

static void move_locals(struct app *app, const struct layout *layout,
			enum move move)
{
	int page = at_least_one(layout->panes[PANE_LOCALS].row_count);
	const struct session *session = &app->engine->session;
	struct locals_frame frame = locals_frame_selected(session);
	size_t count;

	free(pane_locals_rows(session, &app->view, &frame, &count));
	if (count > 0)
		app->view.locals_cursor = move_in(app->view.locals_cursor,
						  (int)count, 1, page, move);
}

static void move_home(struct app *app, const struct layout *layout,
		      enum move move)
{
	enum pane pane = app->view.pane;

	if (layout->panes[pane].row_count == 0)
		pane = PANE_GRID;
	switch (pane) {
	case PANE_GRID:
		move_grid(app, layout, move);
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
	case PANE_COUNT:
		break;
	}
}

static void move_merged(struct app *app, int page, enum move move)
{
	struct merged merged;

	merged_make(&merged, &app->engine->session, &app->view);
	if (merged.row_count > 0 && move != MOVE_LEFT && move != MOVE_RIGHT)
		app->view.merged_cursor = move_in(
			merged.cursor, (int)merged.row_count, 1, page, move);
	merged_clear(&merged);
}

static size_t diff_row_count(const struct app *app)
{
	struct diff_sides sides;
	struct stackdiff diff;
	const char *problem;
	size_t count;

	if (!diff_sides_find(&sides, &app->engine->session, &app->view,
			     &problem))
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

	pane_text_append(&text, &app->view, &app->keymap);
	for (size_t i = 0; i < text.length; i++)
		count += text.data[i] == '\n';
	buffer_clear(&text);
	return count;
}

static void move_diff(struct app *app, int page, enum move move)
{
	size_t count = diff_row_count(app);

	if (count > 0)
		app->view.diff_cursor = move_in(app->view.diff_cursor,
						(int)count, 1, page, move);
}

int ui_cursor(struct command_context *context, int argc, char **argv,
	      struct error *error)
{
	struct app *app = command_app(context);
	struct layout layout;
	int page;
	int move = 0;

	while (argc == 2 && move < MOVE_COUNT &&
	       strcmp(move_names[move], argv[1]) != 0)
		move++;
	if (argc != 2 || move == MOVE_COUNT)
		return command_usage(error, "cursor",
				     "up, down, left, right, page-up, "
				     "page-down, first or last");
	if (view_asks_job(session_of(context), &app->view)) {
		app->view.job_cursor =
			move_in(app->view.job_cursor,
				(int)session_of(context)->job_count, 1, 10,
				(enum move)move);
		return 0;
	}
	layout_make(&layout, session_of(context), &app->view);
	page = layout.body.row_count;
	if (pane_has_frame(page))
		page -= 2;
	page = at_least_one(page);
	switch (app->view.kind) {
	case VIEW_HOME:
		move_home(app, &layout, (enum move)move);
		break;
	case VIEW_MERGED:
		move_merged(app, at_least_one(page / 2), (enum move)move);
		break;
	case VIEW_DIFF:
		move_diff(app, at_least_one(page / 2), (enum move)move);
		break;
	case VIEW_HELP:
	case VIEW_LOG:
	case VIEW_TEXT: {
		int last = text_line_count(app) - page;

		app->view.text_scroll =
			move_in(app->view.text_scroll, last > 0 ? last + 1 : 1,
				1, page, (enum move)move);
		break;
	}
	case VIEW_KIND_COUNT:
		break;
	}
	return 0;
}
