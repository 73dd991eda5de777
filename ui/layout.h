/*
 * layout: which pane is where, from the size of the screen. Drawing and the
 * commands that move by rows or pages share it.
 */
#ifndef UI_LAYOUT_H
#define UI_LAYOUT_H

#include <stdbool.h>

#include "ui/view.h"

#define CARD_HEIGHT 3 /* with one border */

/* The inside of a pane, without its border; row_count 0: not shown. */
struct box {
	int row;
	int column;
	int row_count;
	int column_count;
};

struct layout {
	int verdict_rows;    /* from row 1 */
	struct box body;     /* between verdict and hint line, all of it */
	enum grid_mode grid; /* never GRID_AUTOMATIC */
	int cards_across;
	bool is_compact; /* no borders: one line a rank */
	struct box panes[PANE_COUNT];
	struct box merged; /* beside the source on wide screens */
	struct box output; /* below all on wide and high ones */
};

/* Of the home view, or of any other (then only verdict and body count). */
void layout_make(struct layout *layout, const struct session *session, const struct view *view);

/* There is something to show in their pane. */
bool layout_has_breakpoints(const struct session *session);
/* The screen is large enough for what ranks print, if they print. */
bool layout_can_show_output(const struct view *view);

#endif
