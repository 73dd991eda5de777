/*
 * layout: the places of the panes, computed from the size of the screen. Drawing and the commands
 * that move by rows or pages use the same layout.
 */
#ifndef UI_LAYOUT_H
#define UI_LAYOUT_H

#include <stdbool.h>

#include "ui/view.h"

#define CARD_HEIGHT 3 /* rows of a card, with one border */

/* The inside of a pane, without its border; row_count 0: not shown. */
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
	bool is_compact; /* no borders; one line for each rank */
	struct box panes[PANE_COUNT];
	struct box merged; /* merged stacks beside the source, on wide screens */
	struct box output; /* output of the ranks below all panes, on wide and high screens */
};

/* Computes the layout of the open view; outside home, only verdict_rows and body are set. */
void layout_make(struct layout *layout, const struct session *session, const struct view *view);

/* True: there are breakpoints to show. */
bool layout_has_breakpoints(const struct session *session);
/* True: the screen is large enough for the output of the ranks. */
bool layout_can_show_output(const struct view *view);

#endif
