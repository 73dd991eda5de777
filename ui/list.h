/*
 * list: rows with a cursor, as views and panes draw them: which of them show,
 * how the cursor looks, what the mouse hits; and moving in the rows of the
 * view that is shown (its add_rows, view-type.h).
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
	int cursor;    /* a row; -1: no cursor is drawn */
	int height;    /* lines of a row; 0: one */
	bool has_mark; /* at the cursor, whose row is bold; else the row is selected */
	int mark_column;
	enum mouse_target_kind hit;
	/* Draws a row at a line of the window. */
	void (*put_row)(struct window window, int line, int row, const void *data);
};

/* Draws the rows that fit, the cursor's among them; returns their count. */
int list_put(struct window window, const struct list *list, const void *data);
/* The first of the rows that so many lines show: the cursor is among them. */
int list_first(int cursor, int row_count);

/* Moves the cursor of the shown view; a page is so many rows. */
void list_move(struct app *app, int page, enum move move);
/* Scrolls the text of the open view, whose cursor is the first line; returns
 * the last one that can be that. */
int text_move(struct app *app, int page, enum move move);
/* Rows of the body inside the frame. */
int view_page(const struct layout *layout);

#endif
