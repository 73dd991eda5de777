/*
 * canvas: the cells of a screen.
 *
 * A cell holds one code point of width 1 or 2, and at most one combining character; the right half
 * of a wide character is a cell of width 0. Border lines are stored as directions, not as
 * characters, so that lines that meet in a cell are joined. Windows (window.h) draw onto the
 * canvas.
 */
#ifndef UI_CANVAS_H
#define UI_CANVAS_H

#include <stddef.h>
#include <stdint.h>

#include "ui/style.h"

struct buffer;
struct window;

/*
 * Mouse targets: the items under the cells of the screen. Drawing notes them, so that a click hits
 * the item that the user saw: a pane that draws a row calls window_hit(). If several targets are
 * noted for a cell, the last one counts.
 */

enum mouse_target_kind {
	MOUSE_TARGET_NONE = 0,
	MOUSE_TARGET_PANE = 1,		/* inside and title of a pane; value: enum pane */
	MOUSE_TARGET_RANK = 2,		/* a rank; value: its number */
	MOUSE_TARGET_FRAME = 4,		/* a frame; value: its depth in the selected thread's
					 * stack */
	MOUSE_TARGET_LOCAL = 8,		/* a row of the locals; value: its index */
	MOUSE_TARGET_MERGED = 16,	/* a row of the merged stacks beside the source; value: its
					 * index */
	MOUSE_TARGET_ROW = 256,		/* a group, child or thread; value: its row in the
					 * ranklist */
	MOUSE_TARGET_GROUP = 512,	/* a group; value: index of its first rank in the
					 * ranklist */
	MOUSE_TARGET_COLUMN = 1024,	/* a title in the head of the table; value: enum column */
	MOUSE_TARGET_BREAKPOINT = 2048, /* a row of the list of breakpoints; value: its index */
	MOUSE_TARGET_LIST = 32,		/* a row of the open view, a list; value: its index */
	MOUSE_TARGET_ELEMENT = 8192,	/* an element of a tensor; value: index among the drawn
					 * elements */
	MOUSE_TARGET_KEY = 128,		/* a key on the hint line, with `line` */
};
/* All kinds. */
#define MOUSE_TARGET_ANY (~0u)

struct mouse_target {
	enum mouse_target_kind kind;
	int value;
	const char *line; /* MOUSE_TARGET_KEY: the key's command line, static */
	int row;	  /* on the canvas */
	int column;
	int row_count;
	int column_count;
};

struct mouse_target_list {
	struct mouse_target *items;
	size_t count;
	size_t capacity;
};

void mouse_target_list_clear(struct mouse_target_list *list);
/* Notes a target for a part of a window, clipped to the window. */
void window_hit(struct window window, int row, int column, int row_count, int column_count,
		enum mouse_target_kind kind, int value);
/* Notes a MOUSE_TARGET_KEY for a part of the hint line. */
void window_hit_key(struct window window, int column, int column_count, const char *static_line);
/*
 * Returns the target noted last for a cell, among the kinds (a set of enum mouse_target_kind),
 * borrowed; NULL: there is none.
 */
const struct mouse_target *mouse_target_list_find(const struct mouse_target_list *list, int row,
						  int column, unsigned kinds);

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
	/*
	 * The style whose text colour is used as the cell's background, for the lower half of ▀; 0:
	 * the background of `style`.
	 */
	uint8_t lower;
	uint8_t unused[3]; /* explicit padding, because rows are compared as bytes */
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
/* Sets the canvas's size and blanks all cells. */
void canvas_reset(struct canvas *canvas, int row_count, int column_count);
const struct cell *canvas_cell(const struct canvas *canvas, int row, int column);
/* Returns the character to show for a cell, with joined borders. */
int32_t cell_character(const struct cell *cell);
/* Replaces each character that is not ASCII by the most similar ASCII character. */
void canvas_make_ascii(struct canvas *canvas);
/* Appends the rows as text, without blanks at their ends. */
void canvas_append(struct buffer *out, const struct canvas *canvas);

#endif
