/*
 * layout: the places of the panes, computed from the size of the screen. Drawing and the commands
 * that move by rows or pages use the same layout.
 */
#ifndef UI_LAYOUT_H
#define UI_LAYOUT_H

#include <stdbool.h>

#include "ui/view.h"

#define CARD_HEIGHT 3 /* rows of a card, including one of its two border rows */

/* The inside of a pane, without its border; row_count 0: the pane is not shown. */
struct box {
	int row;
	int column;
	int row_count;
	int column_count;
};

struct layout {
	int verdict_rows;    /* the verdict begins in row 1 */
	struct box body;     /* all rows between verdict and hint line */
	enum grid_mode grid; /* never GRID_AUTOMATIC */
	int cards_across;
	bool is_compact; /* true: no borders, and one line for each rank */
	struct box panes[PANE_COUNT];
	struct box merged; /* merged stacks beside the source, on wide screens */
	struct box output; /* output of the ranks below all panes, on wide and high screens */
};

/*
 * Computes the layout of the open view; for views other than home, sets only verdict_rows and body.
 */
void layout_make(struct layout *layout, const struct session *session, const struct view *view);

/* True if there are breakpoints to show. */
bool layout_has_breakpoints(const struct session *session);
/* True if the screen is large enough for the output of the ranks. */
bool layout_can_show_output(const struct view *view);

#endif
