/*
 * list: draws rows with a cursor, in views and panes: chooses the range of shown rows, draws the
 * cursor, and notes mouse targets. Also moves the cursor in the rows of the shown view
 * (view_type.add_rows).
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
	int cursor;	 /* row of the cursor; -1: draw no cursor */
	int height;	 /* number of lines of each row; 0: one */
	bool has_mark;	 /* true: the cursor is a mark and bold text; false: a selected row */
	int mark_column; /* has_mark: column of the mark */
	enum mouse_target_kind hit; /* kind of the rows' mouse targets; 0: none */
	/* Draws a row at a line of the window. */
	void (*put_row)(struct window window, int line, int row, const void *data);
};

/* Draws the rows that fit, including the cursor's row; returns the number of rows drawn. */
int list_put(struct window window, const struct list *list, const void *data);
/*
 * Draws the whole text of the cursor's row at the end of the window, below a rule, if it does not
 * fit into one line and the window is high enough. Returns the rest of the window.
 */
struct window list_put_whole(struct window window, const char *text);
/* Returns the first row to show in row_count rows, such that the cursor's row is shown. */
int list_first(int cursor, int row_count);

/* Moves the cursor of the shown view; page is the number of rows in a page. */
void list_move(struct app *app, int page, enum move move);
/*
 * Scrolls the text of the open view; a text's cursor is its first shown line. Returns the last line
 * that can be the first shown one.
 */
int text_move(struct app *app, int page, enum move move);
/* Returns the number of rows of the view's body, inside its frame. */
int view_page(const struct layout *layout);

/*
 * search_text: the rows of the shown view as lines of text, one line for each row that the cursor
 * can be at. Search, copy and the moves of the cursor use these lines.
 */

struct search_text {
	struct buffer text; /* the lines, each with its newline */
	struct buffer line; /* the line being built; search_text_end_line() adds it */
	int at;		    /* line of the cursor, from 0 */
	int count;
};

/* A line found by a search, and the number of lines that contain the text. */
struct found {
	int line;   /* from 0; -1: none */
	int number; /* position among the lines that contain the text, from 1 */
	int count;
};

/*
 * Adds search_text.line, escaped as when drawn, so that a newline in a name does not begin another
 * line.
 */
void search_text_end_line(struct search_text *lines);
/*
 * Call after lines were appended to search_text.text directly: counts them; at is the cursor's
 * line.
 */
void search_text_take(struct search_text *lines, int at);
/* Collects the rows of the shown view with view_type.add_rows. */
void search_text_init(struct search_text *lines, const struct app *app);
void search_text_clear(struct search_text *lines);
/*
 * Finds the next line that contains needle, with wrap-around; direction -1: the previous line. Case
 * is ignored unless needle has a capital letter.
 */
struct found search_text_find(const struct search_text *lines, const char *needle, int direction);

#endif
