#include "ui/layout.h"

#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/breakpoints.h"
#include "model/output.h"
#include "model/session.h"
#include "ui/grid.h"
#include "ui/pane.h"
#include "ui/ranklist.h"
#include "ui/view-type.h"
#include "ui/views/pane-breakpoints.h"

#define CARD_WIDTH 14 /* columns of a card with one border */
#define CARD_RANKS_MAXIMUM 16
#define LOWER_ROWS_MINIMUM 8
#define TABLE_RANKS_MAXIMUM 64
#define NARROW 56
#define CELL_LINES_MINIMUM 4 /* rows of the selected rank's card beside the cells */
#define OUTPUT_COLUMNS 120   /* minimum columns of a screen that shows the ranks' output */
#define OUTPUT_ROWS 30
#define MERGED_COLUMNS 160 /* minimum columns of a screen with merged stacks beside the source */

static int layout_minimum(int a, int b)
{
	return a < b ? a : b;
}

static int maximum(int a, int b)
{
	return a > b ? a : b;
}

/* Returns the rows (1 or 2) of the text that the view shows in place of the verdict. */
static int top_rows(const struct session *session, const struct view *view)
{
	struct buffer text = BUFFER_INIT;
	int rows = 1;

	view_type_of(view->kind)->append_top(&text, session);
	if (view->row_count >= 10 && text_width(text.data) > view->column_count - 4)
		rows = 2;
	buffer_clear(&text);
	return rows;
}

static int verdict_rows(const struct session *session, const struct view *view)
{
	int width = view->column_count - 4;

	if (view->row_count < 3)
		return view->row_count - 1;
	if (view_type_of(view->kind)->append_top != NULL)
		return top_rows(session, view);
	if ((view->kind != VIEW_HOME && view->kind != VIEW_WHY) || view->row_count < 6)
		return 1;
	if (session->verdict.sentence == NULL || width < 1 ||
	    text_width(session->verdict.sentence) <= width)
		return 1;
	/* A long verdict gets a third row on a narrow or a high screen. */
	if ((width < NARROW ? view->row_count >= 10 : view->row_count >= 24) &&
	    text_width(session->verdict.sentence) > 2 * width - 10)
		return 3;
	return 2;
}

/*
 * Returns the number of cards in a row, so that all rows have nearly the same number of cards; 0 if
 * no card fits.
 */
static int cards_across(const struct view *view, int ranks)
{
	int most = (view->column_count - 1) / CARD_WIDTH;
	int rows;

	if (most < 1 || ranks < 1)
		return 0;
	rows = (ranks + most - 1) / most;
	return (ranks + rows - 1) / rows;
}

static int card_rows(const struct layout *layout, int ranks)
{
	return (ranks + layout->cards_across - 1) / layout->cards_across * CARD_HEIGHT;
}

static bool do_cards_fit(const struct layout *layout, const struct view *view, int ranks)
{
	int height;

	if (layout->cards_across == 0)
		return false;
	height = card_rows(layout, ranks);
	if (height <= view->row_count / 3)
		return true;
	return ranks <= CARD_RANKS_MAXIMUM && height + LOWER_ROWS_MINIMUM <= layout->body.row_count;
}

static enum grid_mode choose_grid(const struct layout *layout, const struct view *view, int ranks)
{
	/* Requested cards may be scrolled; if not even one row of cards fits, the table is used. */
	if (view->grid == GRID_CARDS &&
	    (layout->cards_across == 0 || CARD_HEIGHT + 1 > layout->body.row_count))
		return GRID_TABLE;
	if (view->grid != GRID_AUTOMATIC)
		return view->grid;
	if (do_cards_fit(layout, view, ranks))
		return GRID_CARDS;
	return ranks <= TABLE_RANKS_MAXIMUM ? GRID_TABLE : GRID_CELLS;
}

/* Rows of the grid, its upper border included. */
static int grid_rows(const struct layout *layout, const struct ranklist *list,
		     const struct session *session, const struct view *view)
{
	int body = layout->body.row_count;
	int third = maximum(body / 3, 5);
	struct cells cells;
	int rows = 0;

	switch (layout->grid) {
	case GRID_CARDS:
		return card_rows(layout, (int)list->rank_count);
	case GRID_TABLE:
		return layout_minimum((int)list->row_count + 1, third) + 1;
	case GRID_CELLS:
		cells_make(&cells, list, session, view, view->column_count - 2);
		rows = maximum(cells.line_count, CELL_LINES_MINIMUM) + 2 +
		       cells_legend_rows(session, view, body - 2);
		cells_clear(&cells);
		break;
	case GRID_AUTOMATIC:
	case GRID_MODE_COUNT:
		break;
	}
	return rows;
}

/*
 * Returns the number of rows of the stack, at most half of rows; the locals get the remaining rows.
 */
static int stack_rows(const struct session *session, const struct view *view, int rows)
{
	int wanted = pane_stack_row_count(session, view);

	return maximum(1, layout_minimum(wanted, rows / 2));
}

bool layout_has_breakpoints(const struct session *session)
{
	return breakpoint_summary_count(session) > 0;
}

/* Places the breakpoints below the locals, in rows taken from the locals. */
static void place_breakpoints(struct layout *layout, const struct session *session,
			      const struct view *view)
{
	struct box *locals = &layout->panes[PANE_LOCALS];
	struct box box = *locals;

	if (view->column_count < OUTPUT_COLUMNS || view->row_count < OUTPUT_ROWS ||
	    !layout_has_breakpoints(session))
		return;
	box.row_count =
		layout_minimum(maximum(breakpoint_list_rows(session), 3), locals->row_count / 3);
	if (box.row_count < 1)
		return;
	locals->row_count -= box.row_count + 1;
	box.row += locals->row_count + 1;
	layout->panes[PANE_BREAKPOINTS] = box;
}

static void place_right(struct layout *layout, const struct session *session,
			const struct view *view, struct box box)
{
	bool has_locals = view->row_count >= 24 && view->column_count >= 80;

	layout->panes[PANE_STACK] = box;
	if (has_locals) {
		int rows = stack_rows(session, view, box.row_count - 1);

		layout->panes[PANE_STACK].row_count = rows;
		box.row += rows + 1;
		box.row_count -= rows + 1;
		layout->panes[PANE_LOCALS] = box;
		place_breakpoints(layout, session, view);
	}
}

bool layout_can_show_output(const struct view *view)
{
	return view->column_count >= OUTPUT_COLUMNS && view->row_count >= OUTPUT_ROWS;
}

/* True if the screen has room for the ranks' output, and some output has come. */
static bool has_output(const struct session *session, const struct view *view)
{
	if (!layout_can_show_output(view))
		return false;
	for (size_t i = 0; i < session->output_count; i++)
		if (session->outputs[i]->line_count > 0)
			return true;
	return false;
}

/* Places the pane of the ranks' output; returns the pane's rows, the border included. */
static int place_output(struct layout *layout, const struct session *session,
			const struct view *view)
{
	int rows = view->row_count < 40 ? 2 : 5;

	if (!has_output(session, view))
		return 0;
	layout->output = (struct box){
		.row = layout->body.row + layout->body.row_count - 1 - rows,
		.column = 1,
		.row_count = rows,
		.column_count = view->column_count - 2,
	};
	return rows + 1;
}

/* Places source, merged stacks, stack and locals below the grid. */
static void place_lower(struct layout *layout, const struct session *session,
			const struct view *view, int row)
{
	int rows = layout->body.row + layout->body.row_count - 1 - row -
		   place_output(layout, session, view);
	int columns = view->column_count - 2;
	bool has_stack = view->column_count >= 60 && view->row_count >= 18;
	bool has_merged = view->column_count >= MERGED_COLUMNS;
	int right = has_stack ? columns * 2 / 5 + 1 : 0;
	int middle = 0;
	struct box box = { row, 1, rows, 0 };

	if (has_merged) {
		right = columns * 28 / 100;
		middle = columns * 32 / 100;
	}
	box.column_count = columns - (right > 0 ? right + 1 : 0) - (middle > 0 ? middle + 1 : 0);
	layout->panes[PANE_SOURCE] = box;
	box.column += box.column_count + 1;
	if (has_merged) {
		box.column_count = middle;
		layout->merged = box;
		box.column += middle + 1;
	}
	if (has_stack) {
		box.column_count = right;
		place_right(layout, session, view, box);
	}
}

static void place_home(struct layout *layout, const struct ranklist *list,
		       const struct session *session, const struct view *view)
{
	int ranks = (int)list->rank_count;
	struct box inner = layout->body;
	int rows;

	inner.row++;
	inner.column++;
	inner.row_count -= 2;
	inner.column_count -= 2;
	layout->cards_across = cards_across(view, ranks);
	layout->is_compact =
		layout->body.row_count < 10 || view->column_count < 40 || view->row_count < 14;
	if (layout->is_compact && !(view->is_zoomed && view->pane != PANE_GRID)) {
		layout->grid = GRID_TABLE;
		layout->panes[PANE_GRID] = layout->body;
		return;
	}
	layout->is_compact = false;
	layout->grid = choose_grid(layout, view, ranks);
	if (view->is_zoomed) {
		layout->panes[view->pane] = inner;
		return;
	}
	rows = grid_rows(layout, list, session, view);
	layout->panes[PANE_GRID] = inner;
	layout->panes[PANE_GRID].row_count = rows - 1;
	if (rows + 4 > layout->body.row_count ||
	    (layout->grid == GRID_CELLS && rows + LOWER_ROWS_MINIMUM > layout->body.row_count)) {
		layout->panes[PANE_GRID].row_count = inner.row_count;
		return;
	}
	place_lower(layout, session, view, layout->body.row + rows + 1);
}

void layout_make(struct layout *layout, const struct session *session, const struct view *view)
{
	int first;

	memset(layout, 0, sizeof(*layout));
	layout->verdict_rows = verdict_rows(session, view);
	first = 1 + layout->verdict_rows;
	layout->body = (struct box){
		.row = first,
		.row_count = maximum(0, view->row_count - 1 - first),
		.column_count = view->column_count,
	};
	if (view->kind == VIEW_HOME) {
		struct ranklist list;

		ranklist_make(&list, session, view);
		place_home(layout, &list, session, view);
		ranklist_clear(&list);
	}
}
