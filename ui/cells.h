/*
 * cells: the place of each rank's cell in the grid: in lines of 8 to 64 ranks by the pane's width,
 * or group by group behind the groups' names, small groups side by side.
 */
#ifndef UI_CELLS_H
#define UI_CELLS_H

#include <stdbool.h>
#include <stddef.h>

struct ranklist;
struct session;
struct view;

struct cell_place {
	int line;
	int column;	/* column in the pane */
	bool is_folded; /* the rank has no cell: place of its group's name */
};

/* A label in front of a line of cells, or of a group. */
struct cell_label {
	int line;
	int column;
	size_t at; /* index in the ranklist of the first rank behind the label */
};

struct cells {
	struct cell_place *places; /* by index in the ranklist */
	struct cell_label *labels;
	size_t label_count;
	int across; /* most ranks in a line */
	int label_width;
	int line_count;
};

void cells_make(struct cells *cells, const struct ranklist *list, const struct session *session,
		const struct view *view, int column_count);
void cells_clear(struct cells *cells);
/* Returns the rows of the legend below the cells, in a pane of row_count rows. */
int cells_legend_rows(const struct session *session, const struct view *view, int row_count);

#endif
