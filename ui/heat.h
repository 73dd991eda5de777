/*
 * heat: draws a map of numbers. If theme and terminal have the colours (STYLE_HEAT_1 …), values are
 * colours, two values above each other in a cell; else values are characters, one in a cell. NaN is
 * drawn as a special character in the alarm style.
 */
#ifndef UI_HEAT_H
#define UI_HEAT_H

#include <math.h>
#include <stdbool.h>

#include "ui/window.h"

/* Stands for a value that was not read; drawn as a blank. */
#define HEAT_NOTHING (-INFINITY)

struct heat_picture {
	const double *values; /* row by row; NaN: drawn as an alarm */
	int row_count;
	int column_count;
	double low;
	double high;
	bool has_colours; /* view.has_heat */
};

/* Returns the number of rows of values that fit into row_count rows of cells. */
int heat_rows(int row_count, bool has_colours);
/*
 * Returns the size at which each value is drawn, 1 to 4: the number of columns, and of rows (with
 * colours, of half rows).
 */
int heat_scale(const struct heat_picture *picture, struct window window);
/* Draws the map from the window's first cell on. */
void heat_put(struct window window, const struct heat_picture *picture);
/*
 * Sets *value_row and *value_column to the value drawn in a cell (of two the upper one); false:
 * there is none.
 */
bool heat_find(const struct heat_picture *picture, struct window window, int row, int column,
	       int *value_row, int *value_column);
/* Draws the legend "-0.41 ▇▇▇▇ 0.38"; returns the number of columns used, at most width. */
int heat_put_legend(struct window window, int row, int column, int width,
		    const struct heat_picture *picture);

#endif
