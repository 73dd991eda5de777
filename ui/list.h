/*
 * list: drawing rows with a cursor, in views and panes: the range of shown rows, the look of the
 * cursor, the mouse targets; and moving in the rows of the shown view (its add_rows, view-type.h).
 */
#ifndef UI_LIST_H
#define UI_LIST_H

#include <stdbool.h>

#include "ui/grid.h"
#include "ui/mouse-target.h"
#include "ui/window.h"

struct app;
struct layout;

struct list {
	int count;
	int cursor;    /* row of the cursor; -1: no cursor is drawn */
	int height;    /* lines of each row; 0: one */
	bool has_mark; /* true: the cursor is a mark and bold text; false: a selected row */
	int mark_column;
	enum mouse_target_kind hit;
	/* Draws a row at a line of the window. */
	void (*put_row)(struct window window, int line, int row, const void *data);
};

/* Draws the rows that fit, the cursor's row among them; returns the count of rows drawn. */
int list_put(struct window window, const struct list *list, const void *data);
/* Returns the first row to show in row_count rows, so that the cursor's row shows. */
int list_first(int cursor, int row_count);

/* Moves the cursor of the shown view; page: rows in a page. */
void list_move(struct app *app, int page, enum move move);
/* Scrolls the text of the open view, whose cursor is its first shown line; returns the last
 * possible first line. */
int text_move(struct app *app, int page, enum move move);
/* Returns the rows of the body inside the frame. */
int view_page(const struct layout *layout);

#endif
