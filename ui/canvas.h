/*
 * canvas: the cells of a screen.
 *
 * A cell holds one code point (and one combining character) of width 1 or 2; the right half of a
 * wide character has width 0. Border lines are stored as directions, not as characters, so that
 * borders that meet are joined. Windows (window.h) draw onto the canvas.
 */
#ifndef UI_CANVAS_H
#define UI_CANVAS_H

#include <stdint.h>

#include "ui/mouse-target.h"
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
	EMPHASIS_REVERSE = 4,
	EMPHASIS_UNDERLINE = 8,
	EMPHASIS_ITALIC = 16,
};

struct cell {
	int32_t codepoint;
	int32_t combining; /* 0: none */
	uint8_t width;	   /* 0: right half of the cell before it */
	uint8_t style;
	uint8_t sides; /* set of enum line; 0: not a border */
	uint8_t emphasis;
	/* Style whose text colour is the cell's background, for the lower half of ▀; 0: the
	 * background of `style`. */
	uint8_t lower;
	uint8_t unused[3]; /* explicit padding, since rows are compared as bytes */
};

#define CELL_BLANK ((struct cell){ .codepoint = ' ', .width = 1 })

struct canvas {
	struct cell *cells;
	int row_count;
	int column_count;
	int cursor_row; /* -1: no cursor */
	int cursor_column;
	struct mouse_target_list hits; /* mouse targets of the drawn items */
};

/* Makes a blank canvas. Sizes below 1 become 1. */
void canvas_init(struct canvas *canvas, int row_count, int column_count);
void canvas_clear(struct canvas *canvas);
/* Blanks the canvas and sets its size. */
void canvas_reset(struct canvas *canvas, int row_count, int column_count);
const struct cell *canvas_cell(const struct canvas *canvas, int row, int column);
/* Returns the character to show for a cell, with joined borders. */
int32_t cell_character(const struct cell *cell);
/* Replaces each character that is not ASCII by the most similar ASCII character. */
void canvas_make_ascii(struct canvas *canvas);
/* Appends the rows as text, without blanks at their ends. */
void canvas_append(struct buffer *out, const struct canvas *canvas);

#endif
