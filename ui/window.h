/*
 * window: a rectangle of a canvas that is drawn in.
 *
 * A window clips: no function draws outside the window. Text is escaped (text_escape) before it is
 * drawn.
 */
#ifndef UI_WINDOW_H
#define UI_WINDOW_H

#include <stdint.h>

#include "ui/canvas.h"
#include "ui/style.h"

struct window {
	struct canvas *canvas;
	int row; /* row and column of the first cell, on the canvas */
	int column;
	int row_count;
	int column_count;
};

/* Returns a window of the whole canvas. */
struct window canvas_window(struct canvas *canvas);
/* Returns a part of a window, clipped to the window; it may be empty. */
struct window window_part(struct window window, int row, int column, int row_count,
			  int column_count);

/*
 * Draws text in at most width columns, cut with "…". Returns the number of columns used. Columns
 * outside the window are not drawn.
 */
int window_put(struct window window, int row, int column, int width, enum style style,
	       const char *text);
/* Like window_put(), but right-aligned: the text ends before column `end`. */
int window_put_right(struct window window, int row, int end, int width, enum style style,
		     const char *text);
/*
 * Draws a path, "a/b/file.py:17", that ends before column `end`; a long path is cut in the middle,
 * so that file name and line stay.
 */
int window_put_path(struct window window, int row, int end, int width, enum style style,
		    const char *path);
/* Draws one character. */
void window_put_character(struct window window, int row, int column, enum style style,
			  int32_t codepoint);
/*
 * Draws ▀: the upper half of a cell in the colour of one style, the lower half in that of another.
 */
void window_put_halves(struct window window, int row, int column, enum style upper,
		       enum style lower);
/* Blanks the window. */
void window_blank(struct window window);
void window_horizontal(struct window window, int row, int column, int length, enum style style);
void window_vertical(struct window window, int row, int column, int length, enum style style);
/* Draws lines around the whole window. */
void window_box(struct window window, enum style style);
/*
 * Gives the style to each occurrence of text in the window; case is ignored unless text has a
 * capital letter.
 */
void window_mark(struct window window, enum style style, const char *text);
/* Adds emphasis (enum emphasis) to a rectangle of cells. */
void window_emphasise(struct window window, int row, int column, int row_count, int column_count,
		      int emphasis);
/*
 * Returns the number of bytes of escaped text, in whole words, that fit into width columns; at
 * least one character.
 */
size_t window_words_fit(const char *text, int width);
/*
 * Draws text in lines that are broken between words; text that does not fit into `rows` rows is cut
 * with " …". Returns the number of rows used.
 */
int window_put_paragraph(struct window window, int row, int column, int rows, enum style style,
			 const char *text);

#endif
