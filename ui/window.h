/*
 * window: a part of a canvas, to draw in.
 *
 * A window clips: nothing is ever drawn outside it, whatever is asked. Text is
 * made safe (text_escape) before it is drawn.
 */
#ifndef UI_WINDOW_H
#define UI_WINDOW_H

#include <stdint.h>

#include "ui/canvas.h"
#include "ui/style.h"

struct window {
	struct canvas *canvas;
	int row; /* on the canvas */
	int column;
	int row_count;
	int column_count;
};

/* All of it. */
struct window canvas_window(struct canvas *canvas);
/* A part of a window, clipped to it; may be empty. */
struct window window_part(struct window window, int row, int column, int row_count,
			  int column_count);

/*
 * Draws text in at most width columns, cut with "…"; returns the columns
 * used. Columns left of or beyond the window are not drawn.
 */
int window_put(struct window window, int row, int column, int width, enum style style,
	       const char *text);
/* The same, ending before column end; returns the columns used. */
int window_put_right(struct window window, int row, int end, int width, enum style style,
		     const char *text);
/* "a/b/file.py:17": cut in the middle, so that name and line stay. */
int window_put_path(struct window window, int row, int end, int width, enum style style,
		    const char *path);
/* Draws one character. */
void window_put_character(struct window window, int row, int column, enum style style,
			  int32_t codepoint);
/* Two areas in one cell, one above the other, in the colours of styles. */
void window_put_halves(struct window window, int row, int column, enum style upper,
		       enum style lower);
/* Blanks all of it. */
void window_blank(struct window window);
void window_horizontal(struct window window, int row, int column, int length, enum style style);
void window_vertical(struct window window, int row, int column, int length, enum style style);
/* Lines around the whole window. */
void window_box(struct window window, enum style style);
/*
 * Gives a style to each place that says this text; case matters only where
 * text has a capital letter.
 */
void window_mark(struct window window, enum style style, const char *text);
/* Adds emphasis to what was drawn in these cells. */
void window_emphasise(struct window window, int row, int column, int row_count, int column_count,
		      int emphasis);
/* Bytes of the words of escaped text that fit into width columns; at least
 * one character. */
size_t window_words_fit(const char *text, int width);
/*
 * Draws text in lines broken at words, the lines after the first indented;
 * what does not fit in the rows ends in " …". Returns the rows used.
 */
int window_put_paragraph(struct window window, int row, int column, int rows, enum style style,
			 const char *text);

#endif
