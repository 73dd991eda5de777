#include "ui/grid.h"

#include <stdlib.h>

#include "banned.h"
#include "model/session.h"
#include "ui/view.h"

void grid_make(struct grid *grid, const struct session *session, const struct view *view)
{
	*grid = (struct grid){ .cells = { .places = NULL } };
	layout_make(&grid->layout, session, view);
	ranklist_make(&grid->list, session, view);
	if (grid->layout.grid == GRID_CELLS)
		cells_make(&grid->cells, &grid->list, session, view,
			   grid->layout.panes[PANE_GRID].column_count);
}

void grid_clear(struct grid *grid)
{
	cells_clear(&grid->cells);
	ranklist_clear(&grid->list);
}

int grid_first(int cursor, int count, int rows)
{
	int first = cursor - rows / 2;

	if (first > count - rows)
		first = count - rows;
	return first > 0 ? first : 0;
}

static int at_least_one(int number)
{
	return number > 0 ? number : 1;
}

int grid_move_in(int at, int count, int across, int page, enum move move)
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
	int to = at + pages[move] * at_least_one(page) + rows[move] * across + cells[move];

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

/* Returns the rank nearest to a column in a line, or in the next line (in the direction of step)
 * that has ranks; -1: none. */
static int nearest(const struct grid *grid, int line, int column, int step)
{
	int best = -1;

	for (; best < 0 && line >= 0 && line < grid->cells.line_count; line += step) {
		int distance = 0;

		for (size_t i = 0; i < grid->list.rank_count; i++) {
			const struct cell_place *place = &grid->cells.places[i];
			int off = abs(place->column - column);

			if (place->line != line || (best >= 0 && off >= distance))
				continue;
			best = (int)i;
			distance = off;
		}
	}
	return best;
}

/* True: the rank is not folded away, or is the first rank of a folded group, which is a single
 * place. */
static bool grid_is_shown(const struct grid *grid, int at)
{
	return !grid->cells.places[at].is_folded ||
	       ranklist_group_at(&grid->list, (size_t)at)->first == (size_t)at;
}

/* Returns the next shown rank in the direction of step; `at` if there is none. */
static int beside(const struct grid *grid, int at, int step)
{
	int count = (int)grid->list.rank_count;

	for (int to = at + step; to >= 0 && to < count; to += step)
		if (grid_is_shown(grid, to))
			return to;
	return at;
}

static int move_in_cells(const struct grid *grid, int at, enum move move)
{
	const struct cell_place *place = &grid->cells.places[at];
	int page = at_least_one(grid->layout.panes[PANE_GRID].row_count / 2);
	int last = grid->cells.line_count - 1;
	int to = at;

	switch (move) {
	case MOVE_UP:
		to = nearest(grid, place->line - 1, place->column, -1);
		break;
	case MOVE_DOWN:
		to = nearest(grid, place->line + 1, place->column, 1);
		break;
	case MOVE_PAGE_UP:
		page = place->line - page > 0 ? place->line - page : 0;
		to = nearest(grid, page, place->column, 1);
		break;
	case MOVE_PAGE_DOWN:
		page = place->line + page < last ? place->line + page : last;
		to = nearest(grid, page, place->column, -1);
		break;
	case MOVE_LEFT:
	case MOVE_RIGHT:
		return beside(grid, at, move == MOVE_LEFT ? -1 : 1);
	case MOVE_FIRST:
		return beside(grid, -1, 1);
	case MOVE_LAST:
		return beside(grid, (int)grid->list.rank_count, -1);
	case MOVE_COUNT:
		break;
	}
	return to >= 0 ? to : at;
}

bool grid_move(const struct grid *grid, enum move move, struct ranklist_row *to)
{
	const struct ranklist *list = &grid->list;
	int at = list->at > 0 ? list->at : 0;
	int rows = grid->layout.panes[PANE_GRID].row_count;
	int across = at_least_one(grid->layout.cards_across);

	if (list->rank_count == 0)
		return false;
	*to = (struct ranklist_row){ .kind = RANKLIST_RANK };
	if (grid->layout.grid == GRID_CELLS) {
		to->at = (size_t)move_in_cells(grid, at, move);
	} else if (grid->layout.grid == GRID_CARDS) {
		to->at =
			(size_t)grid_move_in(at, (int)list->rank_count, across,
					     at_least_one((rows + 1) / CARD_HEIGHT) * across, move);
	} else {
		at = list->cursor > 0 ? list->cursor : 0;
		*to = list->rows[grid_move_in(at, (int)list->row_count, 1, rows, move)];
	}
	return true;
}
