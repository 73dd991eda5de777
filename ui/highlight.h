/*
 * highlight: the colours of Python source, one line at a time. A string in triple quotes may have
 * several lines, so a state is passed from line to line.
 */
#ifndef UI_HIGHLIGHT_H
#define UI_HIGHLIGHT_H

#include <stddef.h>

#include "ui/style.h"

struct source;
struct window;

enum highlight_state {
	HIGHLIGHT_CODE,
	HIGHLIGHT_TRIPLE_SINGLE, /* inside ''' */
	HIGHLIGHT_TRIPLE_DOUBLE, /* inside """ */
};

/*
 * Sets styles[i] to the style of byte i of the line, and returns the state at the line's end.
 * styles may be NULL.
 */
enum highlight_state highlight_line(enum highlight_state state, const char *line, size_t length,
				    unsigned char *styles);
/* Returns the state at the beginning of line number (from 1). */
enum highlight_state highlight_state_at(const struct source *source, int number);
/* Draws a line of source, highlighted, into the window's row. */
void highlight_draw(struct window window, int row, int column, enum highlight_state state,
		    const char *line);

#endif
