/*
 * grid: the places of the ranks in the home view, as cards, table or cells, and the moves of the
 * cursor.
 */
#ifndef UI_GRID_H
#define UI_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/column.h"
#include "ui/layout.h"
#include "ui/ranklist.h"

struct ranklist;
struct session;
struct view;

/*
 * cells: the place of each rank's cell in the grid: in lines of 8 to 64 ranks, depending on the
 * pane's width; if the ranks are grouped, the cells of a group follow the group's name, and small
 * groups are side by side.
 */

struct cell_place {
	int line;
	int column;	/* column in the pane */
	bool is_folded; /* the rank has no cell: the place is that of its group's name */
};

/* A label in front of a line of cells, or of a group. */
struct cell_label {
	int line;
	int column;
	size_t at; /* index in the ranklist of the first rank after the label */
};

struct cells {
	struct cell_place *places; /* by index in the ranklist */
	struct cell_label *labels;
	size_t label_count;
	int across; /* maximum number of ranks in a line */
	int label_width;
	int line_count;
};

void cells_make(struct cells *cells, const struct ranklist *list, const struct session *session,
		const struct view *view, int column_count);
void cells_clear(struct cells *cells);
/* Returns the number of rows of the legend below the cells, in a pane of row_count rows. */
int cells_legend_rows(const struct session *session, const struct view *view, int row_count);

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

/* A grid borrows from the session: make a new one for each use. */
struct grid {
	struct layout layout;
	struct ranklist list;
	struct cells cells; /* GRID_CELLS only */
};

void grid_make(struct grid *grid, const struct session *session, const struct view *view);
void grid_clear(struct grid *grid);
/* Sets *to to the row to which a move leads; false: there are no ranks. */
bool grid_move(const struct grid *grid, enum move move, struct ranklist_row *to);

/*
 * Returns the index of the first of count items to show in `rows` rows, such that the cursor's item
 * is in the middle, or as near as possible.
 */
int grid_first(int cursor, int count, int rows);
/*
 * Returns the index of the item to which a move leads from item `at`, among count items, `across`
 * in a row and `page` in a page.
 */
int grid_move_in(int at, int count, int across, int page, enum move move);

#endif
