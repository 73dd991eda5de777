/*
 * list: drawing rows with a cursor, in views and panes: the range of shown rows, the look of the
 * cursor, the mouse targets; and moving in the rows of the shown view (its add_rows, view-type.h).
 */
#ifndef UI_LIST_H
#define UI_LIST_H

#include <stdbool.h>

#include "base/buffer.h"
#include "ui/canvas.h"
#include "ui/grid.h"
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

/*
 * The rows of the shown view as lines of text, a line for each row that the cursor can
 * be at; they are searched, copied, and moved in.
 */

struct search_text {
	struct buffer text; /* the lines, each with its newline */
	struct buffer line; /* the line being built; search_text_end_line() adds it */
	int at;		    /* line of the cursor, from 0 */
	int count;
};

/* A found line, and the count of lines that contain the text. */
struct found {
	int line;   /* from 0; -1: none */
	int number; /* position among the lines that contain the text, from 1 */
	int count;
};

/* Adds `line`, escaped as when drawn: a newline in a name does not begin another line. */
void search_text_end_line(struct search_text *lines);
/* Counts the lines that were appended to `text` directly; at: the line of the cursor. */
void search_text_take(struct search_text *lines, int at);
/* Collects the rows of the shown view, by add_rows of the view's type. */
void search_text_init(struct search_text *lines, const struct app *app);
void search_text_clear(struct search_text *lines);
/*
 * Finds the next line that contains needle, around the end; direction -1: the previous line. Case
 * is ignored unless needle has a capital letter.
 */
struct found search_text_find(const struct search_text *lines, const char *needle, int direction);

#endif
