/*
 * mouse-target: what lies under a cell of the screen, noted while it is drawn, so that
 * what is clicked is what was seen. A pane that draws a row notes it with
 * window_hit(); of several at a cell the last one noted counts.
 */
#ifndef UI_MOUSE_TARGET_H
#define UI_MOUSE_TARGET_H

#include <stddef.h>

struct window;

enum mouse_target_kind {
	MOUSE_TARGET_NONE = 0,
	MOUSE_TARGET_PANE = 1,		/* enum pane: inside and title */
	MOUSE_TARGET_RANK = 2,		/* a rank's number */
	MOUSE_TARGET_FRAME = 4,		/* a depth of the selected thread's stack */
	MOUSE_TARGET_LOCAL = 8,		/* a row of the locals */
	MOUSE_TARGET_MERGED = 16,	/* a row of the merged stacks beside the source */
	MOUSE_TARGET_ROW = 256,		/* a group, child or thread: a row of the ranklist */
	MOUSE_TARGET_GROUP = 512,	/* a group by its first rank in the ranklist */
	MOUSE_TARGET_COLUMN = 1024,	/* enum column, in the head of the table */
	MOUSE_TARGET_BREAKPOINT = 2048, /* in the list of them */
	MOUSE_TARGET_LIST = 32,		/* a row of the open view, which is a list */
	MOUSE_TARGET_ELEMENT = 8192,	/* of a tensor: by where it is drawn */
	MOUSE_TARGET_KEY = 128,		/* a key on the hint line: line is what it runs */
};
/* Whatever it is. */
#define MOUSE_TARGET_ANY (~0u)

struct mouse_target {
	enum mouse_target_kind kind;
	int value;
	const char *line; /* static */
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
/* Notes a part of a window, clipped to it. */
void window_hit(struct window window, int row, int column, int row_count, int column_count,
		enum mouse_target_kind kind, int value);
/* Notes a key on the hint line. */
void window_hit_key(struct window window, int column, int column_count, const char *static_line);
/* Lends what was noted last of a cell, of a set of kinds; NULL: nothing. */
const struct mouse_target *mouse_target_list_find(const struct mouse_target_list *list, int row,
						  int column, unsigned kinds);

#endif
