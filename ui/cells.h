/*
 * cells: where each rank's cell is, one rank a cell: in lines of 64 or as the
 * width has it, or group by group with the groups' names in front, several
 * groups side by side where they are small.
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
	int column;	/* in the pane */
	bool is_folded; /* no cell: it is where its group's name is */
};

/* In front of a line, or of a group. */
struct cell_label {
	int line;
	int column;
	size_t at; /* the first rank behind it, in the list */
};

struct cells {
	struct cell_place *places; /* by rank, as in the list */
	struct cell_label *labels;
	size_t label_count;
	int across; /* ranks in a line at most */
	int label_width;
	int line_count;
};

void cells_make(struct cells *cells, const struct ranklist *list, const struct session *session,
		const struct view *view, int column_count);
void cells_clear(struct cells *cells);
/* Rows of the legend below the cells, in a pane of so many rows. */
int cells_legend_rows(const struct session *session, const struct view *view, int row_count);

#endif
