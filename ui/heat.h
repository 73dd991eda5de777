/*
 * heat: a map of numbers by colour, two above each other in a cell where the
 * theme and the terminal have colours for that (STYLE_HEAT_1 …), else by
 * characters, one a cell. What is no number is told in the alarm style and by
 * a character of its own.
 */
#ifndef UI_HEAT_H
#define UI_HEAT_H

#include <math.h>
#include <stdbool.h>

#include "ui/window.h"

/* In place of a value: it was not read, and is left blank. */
#define HEAT_NOTHING (-INFINITY)

struct heat_picture {
	const double *values; /* row by row; NaN: alarm */
	int row_count;
	int column_count;
	double low;
	double high;
	bool has_colours; /* view.has_heat */
};

/* So many rows of values fit into so many rows of cells. */
int heat_rows(int row_count, bool has_colours);
/* Cells a value, across; in colours as many halves of cells down, else as many
 * cells: at most 4. */
int heat_scale(const struct heat_picture *picture, struct window window);
/* From the window's first cell on. */
void heat_put(struct window window, const struct heat_picture *picture);
/* Which value is in a cell (the upper, where there are two); false: none. */
bool heat_find(const struct heat_picture *picture, struct window window, int row, int column,
	       int *value_row, int *value_column);
/* "-0.41 ▇▇▇▇ 0.38"; the columns that it takes, at most width. */
int heat_put_legend(struct window window, int row, int column, int width,
		    const struct heat_picture *picture);

#endif
