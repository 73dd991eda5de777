/*
 * canvas: the cells of a screen, and clipped windows onto them.
 *
 * A cell holds one code point (and one combining character) of width 1 or 2;
 * the right half of a wide one has width 0. Lines are not characters here but
 * directions, so that two borders that meet join by themselves. A window
 * clips: nothing is ever drawn outside it, whatever is asked. Text is made
 * safe (text_escape) before it is drawn.
 */
#ifndef UI_CANVAS_H
#define UI_CANVAS_H

#include <stdbool.h>
#include <stdint.h>

#include "ui/hit.h"
#include "ui/style.h"

struct buffer;

enum line {
	LINE_UP = 1,
	LINE_DOWN = 2,
	LINE_LEFT = 4,
	LINE_RIGHT = 8,
};

enum emphasis {
	EMPHASIS_BOLD = 1,
	EMPHASIS_SELECTED = 2,
};

struct cell {
	int32_t codepoint;
	int32_t combining; /* 0: none */
	uint8_t width;	   /* 0: right half of the cell before it */
	uint8_t style;
	uint8_t sides; /* set of enum line; 0: not a border */
	uint8_t emphasis;
};

struct canvas {
	struct cell *cells;
	int row_count;
	int column_count;
	int cursor_row; /* -1: no cursor */
	int cursor_column;
	struct hit_list hits; /* what was drawn where */
};

struct window {
	struct canvas *canvas;
	int row; /* on the canvas */
	int column;
	int row_count;
	int column_count;
};

/* All blank. Sizes below 1 become 1. */
void canvas_init(struct canvas *canvas, int row_count, int column_count);
void canvas_clear(struct canvas *canvas);
/* Blank again, in this size. */
void canvas_reset(struct canvas *canvas, int row_count, int column_count);
const struct cell *canvas_cell(const struct canvas *canvas, int row,
			       int column);
/* The character to show for a cell, borders joined. */
int32_t cell_character(const struct cell *cell);
/* Replaces all that is not ASCII by the nearest that is. */
void canvas_make_ascii(struct canvas *canvas);
/* Appends the rows as text, without blanks at their ends. */
void canvas_append(struct buffer *out, const struct canvas *canvas);

struct window canvas_window(struct canvas *canvas);
/* A part of a window, clipped to it; may be empty. */
struct window window_part(struct window window, int row, int column,
			  int row_count, int column_count);

/*
 * Draws text in at most width columns, cut with "…"; returns the columns
 * used. Columns left of or beyond the window are not drawn.
 */
int window_put(struct window window, int row, int column, int width,
	       enum style style, const char *text);
/* The same, ending before column end; returns the columns used. */
int window_put_right(struct window window, int row, int end, int width,
		     enum style style, const char *text);
/* "a/b/file.py:17": cut in the middle, so that name and line stay. */
int window_put_path(struct window window, int row, int end, int width,
		    enum style style, const char *path);
/* Draws one character. */
void window_put_character(struct window window, int row, int column,
			  enum style style, int32_t codepoint);
/* Blanks all of it. */
void window_blank(struct window window);
void window_horizontal(struct window window, int row, int column, int length,
		       enum style style);
void window_vertical(struct window window, int row, int column, int length,
		     enum style style);
/* Lines around the whole window. */
void window_box(struct window window, enum style style);
/*
 * Gives a style to each place that says this text; case matters only where
 * text has a capital letter.
 */
void window_mark(struct window window, enum style style, const char *text);
/* Adds emphasis to what was drawn in these cells. */
void window_emphasise(struct window window, int row, int column, int row_count,
		      int column_count, int emphasis);
/*
 * Draws text in lines broken at words, the lines after the first indented;
 * what does not fit in the rows ends in " …". Returns the rows used.
 */
int window_put_paragraph(struct window window, int row, int column, int rows,
			 enum style style, const char *text);

#endif
