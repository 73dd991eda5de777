/*
 * mouse-target: the item under each cell of the screen, noted while the item is drawn, so that a
 * click hits the item that the user saw. A pane that draws a row notes it with window_hit(); if
 * several items are noted at a cell, the last one counts.
 */
#ifndef UI_MOUSE_TARGET_H
#define UI_MOUSE_TARGET_H

#include <stddef.h>

struct window;

enum mouse_target_kind {
	MOUSE_TARGET_NONE = 0,
	MOUSE_TARGET_PANE = 1,		/* enum pane: inside and title of a pane */
	MOUSE_TARGET_RANK = 2,		/* a rank, by its number */
	MOUSE_TARGET_FRAME = 4,		/* a frame, by its depth in the selected thread's stack */
	MOUSE_TARGET_LOCAL = 8,		/* a row of the locals, by its index */
	MOUSE_TARGET_MERGED = 16,	/* a row of the merged stacks beside the source */
	MOUSE_TARGET_ROW = 256,		/* a group, child or thread: a row of the ranklist */
	MOUSE_TARGET_GROUP = 512,	/* a group by its first rank in the ranklist */
	MOUSE_TARGET_COLUMN = 1024,	/* a title in the head of the table: enum column */
	MOUSE_TARGET_BREAKPOINT = 2048, /* a row of the list of breakpoints */
	MOUSE_TARGET_LIST = 32,		/* a row of the open view, which is a list */
	MOUSE_TARGET_ELEMENT = 8192,	/* an element of a tensor: index among the drawn elements */
	MOUSE_TARGET_KEY = 128,		/* a key on the hint line: `line` is its command line */
};
/* All kinds. */
#define MOUSE_TARGET_ANY (~0u)

struct mouse_target {
	enum mouse_target_kind kind;
	int value;
	const char *line; /* MOUSE_TARGET_KEY: a static command line */
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
/* Notes a target at a part of a window, clipped to the window. */
void window_hit(struct window window, int row, int column, int row_count, int column_count,
		enum mouse_target_kind kind, int value);
/* Notes a key on the hint line. */
void window_hit_key(struct window window, int column, int column_count, const char *static_line);
/* Returns the target noted last at a cell, of a set of kinds, borrowed; NULL: there is none. */
const struct mouse_target *mouse_target_list_find(const struct mouse_target_list *list, int row,
						  int column, unsigned kinds);

#endif
