/*
 * grid: the ranks at home as they lie on the screen, in each of the three
 * ways, and where the cursor goes from there.
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

/* Lends from the session: it is made anew each time. */
struct grid {
	struct layout layout;
	struct ranklist list;
	struct cells cells; /* GRID_CELLS */
};

void grid_make(struct grid *grid, const struct session *session, const struct view *view);
void grid_clear(struct grid *grid);
/* The row that the cursor goes to; false: there is none. */
bool grid_move(const struct grid *grid, enum move move, struct ranklist_row *to);

/*
 * The first of count things shown in so many rows, so that the one under the
 * cursor is in the middle, or as near to it as may be.
 */
int grid_first(int cursor, int count, int rows);
/* Where a cursor among count things goes; page is what fits, one at least. */
int grid_move_in(int at, int count, int across, int page, enum move move);

#endif
