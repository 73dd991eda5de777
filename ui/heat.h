/*
 * heat: a map of numbers by colour, two values above each other in a cell, if theme and terminal
 * have the colours (STYLE_HEAT_1 …); else by characters, a cell for each value. NaN has the alarm
 * style and a character of its own.
 */
#ifndef UI_HEAT_H
#define UI_HEAT_H

#include <math.h>
#include <stdbool.h>

#include "ui/window.h"

/* In place of a value that was not read; drawn as a blank. */
#define HEAT_NOTHING (-INFINITY)

struct heat_picture {
	const double *values; /* row by row; NaN: drawn as an alarm */
	int row_count;
	int column_count;
	double low;
	double high;
	bool has_colours; /* view.has_heat */
};

/* Returns the rows of values that fit into row_count rows of cells. */
int heat_rows(int row_count, bool has_colours);
/* Returns the size of a value, at most 4: columns of cells, and as many rows of cells, or of half
 * cells with colours. */
int heat_scale(const struct heat_picture *picture, struct window window);
/* Draws the map from the window's first cell on. */
void heat_put(struct window window, const struct heat_picture *picture);
/* Finds the value in a cell (the upper one of two); false: there is none. */
bool heat_find(const struct heat_picture *picture, struct window window, int row, int column,
	       int *value_row, int *value_column);
/* Draws the legend "-0.41 ▇▇▇▇ 0.38"; returns the columns used, at most width. */
int heat_put_legend(struct window window, int row, int column, int width,
		    const struct heat_picture *picture);

#endif
