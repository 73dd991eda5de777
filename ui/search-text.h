/*
 * search-text: the rows of the shown view as lines of text, one for each row
 * that the cursor can be at: searched, copied, and moved in.
 */
#ifndef UI_SEARCH_TEXT_H
#define UI_SEARCH_TEXT_H

#include "base/buffer.h"

struct app;

struct search_text {
	struct buffer text; /* the lines, each with its newline */
	struct buffer line; /* being appended to; see search_text_end_line() */
	int at;		    /* the line of the cursor */
	int count;
};

/* A line that was found, and how many there are like it. */
struct found {
	int line;   /* from 0; -1: none */
	int number; /* it is the so many-th, from 1 */
	int count;
};

/* Adds `line` as it is drawn: a newline in a name begins no other line. */
void search_text_end_line(struct search_text *lines);
/* Counts the lines of a text that was appended; at: the line of the cursor. */
void search_text_take(struct search_text *lines, int at);
/* The rows of the shown view, by add_rows of the view's type. */
void search_text_init(struct search_text *lines, const struct app *app);
void search_text_clear(struct search_text *lines);
/*
 * The next line, around the end, that holds needle; by -1 the one before.
 * Case matters only where needle has a capital letter.
 */
struct found search_text_find(const struct search_text *lines, const char *needle, int direction);

#endif
