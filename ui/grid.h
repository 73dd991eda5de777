/*
 * grid: the places of the ranks at home, as cards, table or cells, and the moves of the cursor.
 */
#ifndef UI_GRID_H
#define UI_GRID_H

#include <stdbool.h>

#include "ui/cells.h"
#include "ui/column.h"
#include "ui/layout.h"
#include "ui/ranklist.h"

struct session;
struct view;

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

/* Borrows from the session: make a new grid for each use. */
struct grid {
	struct layout layout;
	struct ranklist list;
	struct cells cells; /* GRID_CELLS only */
};

void grid_make(struct grid *grid, const struct session *session, const struct view *view);
void grid_clear(struct grid *grid);
/* Finds the row to which a move leads; false: there are no ranks. */
bool grid_move(const struct grid *grid, enum move move, struct ranklist_row *to);

/*
 * Returns the first of count items to show in so many rows, so that the cursor's item is in the
 * middle, or as near as possible.
 */
int grid_first(int cursor, int count, int rows);
/* Returns the item to which a move leads among count items, `across` in a row; page: items in a
 * page. */
int grid_move_in(int at, int count, int across, int page, enum move move);

#endif
