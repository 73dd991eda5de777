#include "ui/grid.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/session.h"
#include "ui/ranklist.h"
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
 * that has ranks; -1 if there is none. */
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

/* True if the rank is not folded away, or is the first rank of a folded group: the group has one
 * place, that of this rank. */
static bool grid_is_shown(const struct grid *grid, int at)
{
	return !grid->cells.places[at].is_folded ||
	       ranklist_group_at(&grid->list, (size_t)at)->first == (size_t)at;
}

/* Returns the next shown rank in the direction of step, or `at` if there is none. */
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

#define NUMBER_WIDTH 6 /* columns of the number of a line's first rank, and a blank */
#define NAME_MAXIMUM 24
#define ACROSS_MINIMUM 8
#define ACROSS_MAXIMUM 64
#define GAP 2 /* columns between groups */
#define LEGEND_MAXIMUM 8

/* Returns the number of ranks in a line: a power of two, so that ranks with equal remainders are in
 * one column. */
static int choose_across(int room)
{
	int across = ACROSS_MINIMUM;

	while (across * 2 <= room && across < ACROSS_MAXIMUM)
		across *= 2;
	return across;
}

static int cells_name_width(const struct ranklist *list, const struct session *session,
			    const struct view *view, int column_count)
{
	struct buffer name = BUFFER_INIT;
	int most = column_count / 4;
	int width = 0;

	if (most > NAME_MAXIMUM)
		most = NAME_MAXIMUM;
	for (size_t i = 0; i < list->group_count; i++) {
		int own;

		buffer_reset(&name);
		ranklist_append_group(&name, list, session, view, &list->groups[i]);
		own = text_width(name.data);
		if (own > width)
			width = own;
	}
	buffer_clear(&name);
	return (width < most ? width : most) + 1;
}

static void add_label(struct cells *cells, size_t *capacity, int line, int column, size_t at)
{
	ARRAY_GROW(cells->labels, cells->label_count, *capacity);
	cells->labels[cells->label_count++] =
		(struct cell_label){ .line = line, .column = column, .at = at };
}

/* Places count ranks, beginning at a line; returns the count of lines. */
static int place_run(struct cells *cells, size_t first, size_t count, int line, int column)
{
	size_t across = (size_t)cells->across;

	for (size_t i = 0; i < count; i++)
		cells->places[first + i] = (struct cell_place){
			.line = line + (int)(i / across),
			.column = column + cells->label_width + (int)(i % across),
		};
	return (int)((count + across - 1) / across);
}

static void place_all(struct cells *cells, const struct ranklist *list)
{
	size_t across = (size_t)cells->across;
	size_t capacity = 0;

	cells->line_count = place_run(cells, 0, list->rank_count, 0, 0);
	for (int line = 0; line < cells->line_count; line++)
		add_label(cells, &capacity, line, 0, (size_t)line * across);
}

static void place_folded(struct cells *cells, const struct ranklist_group *group, int line,
			 int column)
{
	for (size_t i = 0; i < group->count; i++)
		cells->places[group->first + i] = (struct cell_place){
			.line = line,
			.column = column,
			.is_folded = true,
		};
}

static void place_groups(struct cells *cells, const struct ranklist *list, int column_count)
{
	size_t widest = 1;
	size_t capacity = 0;
	int beside = 1; /* count of groups side by side */
	int block = 0;

	for (size_t i = 0; i < list->group_count; i++)
		if (list->groups[i].count > widest)
			widest = list->groups[i].count;
	if (widest <= (size_t)cells->across) {
		block = cells->label_width + (int)widest + GAP;
		beside = (column_count + GAP) / block;
	}
	if (beside < 1)
		beside = 1;
	for (size_t i = 0; i < list->group_count; i++) {
		const struct ranklist_group *group = &list->groups[i];
		int slot = (int)(i % (size_t)beside);
		int line = cells->line_count;
		int lines = 1;

		add_label(cells, &capacity, line, slot * block, group->first);
		if (group->is_folded)
			place_folded(cells, group, line, slot * block);
		else
			lines = place_run(cells, group->first, group->count, line, slot * block);
		if (slot + 1 == beside || i + 1 == list->group_count)
			cells->line_count += lines;
	}
}

void cells_make(struct cells *cells, const struct ranklist *list, const struct session *session,
		const struct view *view, int column_count)
{
	*cells = (struct cells){ .label_width = NUMBER_WIDTH };
	if (list->group_count > 0)
		cells->label_width = cells_name_width(list, session, view, column_count);
	cells->across = choose_across(column_count - cells->label_width - 1);
	cells->places = xcalloc(list->rank_count + 1, sizeof(*cells->places));
	if (list->group_count > 0)
		place_groups(cells, list, column_count);
	else
		place_all(cells, list);
}

void cells_clear(struct cells *cells)
{
	free(cells->places);
	free(cells->labels);
	*cells = (struct cells){ .places = NULL };
}

int cells_legend_rows(const struct session *session, const struct view *view, int row_count)
{
	size_t classes = session->verdict.class_count;
	int most = view->order.is_legend_whole ? row_count / 2 : LEGEND_MAXIMUM;

	if (most > row_count / 2)
		most = row_count / 2;
	if (classes > (size_t)most)
		return most > 1 ? most : 0;
	return (int)classes;
}
