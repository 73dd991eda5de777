/*
 * commands-tensor-move: the cursor of the tensor pane, and requests for the elements that the pane
 * shows.
 */
#include "banned.h"
#include "engine/engine.h"
#include "ui/app.h"
#include "ui/commands-private.h"
#include "ui/layout.h"
#include "ui/tensorscreen.h"

/* A plane of at most so many elements is requested as a whole. */
#define SMALL_CELLS 4096

static const struct tensorview *commands_tensor_move_known_of(const struct app *app)
{
	return &app->engine->session.tensorview;
}

/* Computes the geometry of the tensor pane as drawn. */
static void make_screen(struct tensor_screen *screen, const struct app *app)
{
	struct layout layout;

	layout_make(&layout, &app->engine->session, &app->view);
	tensor_screen_make(screen, &app->engine->session, &app->view, layout.body.row_count,
			   layout.body.column_count);
}

void tensor_settle(struct app *app)
{
	struct tensor_choice *choice = &app->view.tensor;
	struct tensor_screen screen;

	make_screen(&screen, app);
	choice->plane = screen.plane;
	choice->cursor = screen.cursor;
	choice->first = screen.first;
}

/* Writes the size of a cursor step in elements: 1, or a bin of the heat map. */
static void find_step(const struct app *app, const struct tensor_screen *screen, int64_t *rows,
		      int64_t *columns)
{
	const struct tensor_heat *heat = &commands_tensor_move_known_of(app)->heat;

	*rows = 1;
	*columns = 1;
	if (app->view.tensor.mode != TENSOR_HEAT || heat->bins == NULL ||
	    !tensor_plane_is_same(&heat->plane, &screen->plane))
		return;
	*rows = heat->bin_rows;
	*columns = heat->bin_columns;
}

/*
 * Home and End move to the end of the row; at the end of the row, to the plane's first or last row.
 */
static void go_to_end(struct tensor_place *cursor, const struct tensor_screen *screen,
		      bool is_first)
{
	int64_t column = is_first ? 0 : screen->columns - 1;
	int64_t row = is_first ? 0 : screen->rows - 1;

	if (cursor->column == column)
		cursor->row = row;
	cursor->column = column;
}

void tensor_move(struct app *app, enum move move)
{
	struct tensor_choice *choice = &app->view.tensor;
	struct tensor_place *cursor = &choice->cursor;
	struct tensor_screen screen;
	int64_t rows;
	int64_t columns;
	int page;

	tensor_settle(app);
	make_screen(&screen, app);
	find_step(app, &screen, &rows, &columns);
	page = screen.shown_rows > 1 ? screen.shown_rows - 1 : 1;
	choice->is_at_found = false;
	switch (move) {
	case MOVE_UP:
		cursor->row -= rows;
		break;
	case MOVE_DOWN:
		cursor->row += rows;
		break;
	case MOVE_LEFT:
		cursor->column -= columns;
		break;
	case MOVE_RIGHT:
		cursor->column += columns;
		break;
	case MOVE_PAGE_UP:
		cursor->row -= page * rows;
		break;
	case MOVE_PAGE_DOWN:
		cursor->row += page * rows;
		break;
	case MOVE_FIRST:
	case MOVE_LAST:
		go_to_end(cursor, &screen, move == MOVE_FIRST);
		break;
	case MOVE_COUNT:
		break;
	}
	tensor_settle(app);
}

void tensor_point(struct app *app, int value)
{
	struct tensor_choice *choice = &app->view.tensor;
	const struct tensor_heat *heat = &commands_tensor_move_known_of(app)->heat;
	struct tensor_screen screen;

	tensor_settle(app);
	make_screen(&screen, app);
	choice->is_at_found = false;
	if (choice->mode == TENSOR_NUMBERS && screen.shown_columns > 0) {
		choice->cursor.row = screen.first.row + value / screen.shown_columns;
		choice->cursor.column = screen.first.column + value % screen.shown_columns;
	} else if (choice->mode == TENSOR_HEAT && heat->column_count > 0) {
		choice->cursor.row = value / heat->column_count * heat->bin_rows;
		choice->cursor.column =
			heat->first_column + value % heat->column_count * heat->bin_columns;
	}
	tensor_settle(app);
}

/*
 * Requests for elements
 */

static int64_t commands_tensor_move_minimum(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Returns the slice to request: the shown part, or all of a small plane, so that changes outside
 * the shown part are marked, too. */
static struct tensor_slice cells_around(const struct tensor_screen *screen)
{
	int64_t high = screen->shown_rows;
	int64_t wide = screen->shown_columns + 1;
	struct tensor_place place = {
		.row = screen->first.row,
		.column = screen->first.column,
	};
	int64_t rows;
	int64_t columns;

	if (screen->rows <= SMALL_CELLS && screen->columns <= SMALL_CELLS &&
	    screen->rows * screen->columns <= SMALL_CELLS) {
		place = (struct tensor_place){ 0, 0 };
		high = screen->rows;
		wide = screen->columns;
	}
	rows = commands_tensor_move_minimum(high, screen->rows - place.row);
	columns = commands_tensor_move_minimum(wide, screen->columns - place.column);
	return tensor_plane_slice(&screen->plane, &place, rows, columns);
}

void want_tensor(struct app *app)
{
	struct view *view = &app->view;
	struct tensor_want want = { .bin_count = TENSOR_BINS };
	struct tensor_screen screen;

	make_screen(&screen, app);
	if (commands_tensor_move_known_of(app)->has_tensor) {
		if (view->tensor.mode != TENSOR_HISTOGRAM)
			want.slice = cells_around(&screen);
		want.wants_map = view->tensor.mode == TENSOR_HEAT;
		want.plane = screen.plane;
		want.column = screen.cursor.column;
		tensor_screen_map(&screen, view, &want.row_maximum, &want.column_maximum);
	}
	tensor_want(app->engine, &want);
}
