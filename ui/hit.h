/*
 * hit: what lies under a cell of the screen, noted while it is drawn, so that
 * what is clicked is what was seen. A pane that draws a row notes it with
 * window_hit(); of several at a cell the last one noted counts.
 */
#ifndef UI_HIT_H
#define UI_HIT_H

#include <stddef.h>

struct window;

enum hit_kind {
	HIT_NONE = 0,
	HIT_PANE = 1,	       /* enum pane: inside and title */
	HIT_RANK = 2,	       /* a rank's number */
	HIT_FRAME = 4,	       /* a depth of the selected thread's stack */
	HIT_LOCAL = 8,	       /* a row of the locals */
	HIT_MERGED = 16,       /* a row of the merged stacks beside the source */
	HIT_ROW = 256,	       /* a group, child or thread: a row of the ranklist */
	HIT_GROUP = 512,       /* a group by its first rank in the ranklist */
	HIT_COLUMN = 1024,     /* enum column, in the head of the table */
	HIT_BREAKPOINT = 2048, /* in the list of them */
	HIT_LIST = 32,	       /* a row of the open view, which is a list */
	HIT_ELEMENT = 8192,    /* of a tensor: by where it is drawn */
	HIT_KEY = 128,	       /* a key on the hint line: line is what it runs */
};
/* Whatever it is. */
#define HIT_ANY (~0u)

struct hit {
	enum hit_kind kind;
	int value;
	const char *line; /* static */
	int row;	  /* on the canvas */
	int column;
	int row_count;
	int column_count;
};

struct hit_list {
	struct hit *items;
	size_t count;
	size_t capacity;
};

void hit_list_clear(struct hit_list *list);
/* Notes a part of a window, clipped to it. */
void window_hit(struct window window, int row, int column, int row_count, int column_count,
		enum hit_kind kind, int value);
/* Notes a key on the hint line. */
void window_hit_key(struct window window, int column, int column_count, const char *static_line);
/* Lends what was noted last of a cell, of a set of kinds; NULL: nothing. */
const struct hit *hit_list_find(const struct hit_list *list, int row, int column, unsigned kinds);

#endif
