/*
 * search-text: the rows of the shown view as lines of text, a line for each row that the cursor can
 * be at; they are searched, copied, and moved in.
 */
#ifndef UI_SEARCH_TEXT_H
#define UI_SEARCH_TEXT_H

#include "base/buffer.h"

struct app;

struct search_text {
	struct buffer text; /* the lines, each with its newline */
	struct buffer line; /* the line being built; search_text_end_line() adds it */
	int at;		    /* line of the cursor, from 0 */
	int count;
};

/* A found line, and the count of lines that contain the text. */
struct found {
	int line;   /* from 0; -1: none */
	int number; /* position among the lines that contain the text, from 1 */
	int count;
};

/* Adds `line`, escaped as when drawn: a newline in a name does not begin another line. */
void search_text_end_line(struct search_text *lines);
/* Counts the lines that were appended to `text` directly; at: the line of the cursor. */
void search_text_take(struct search_text *lines, int at);
/* Collects the rows of the shown view, by add_rows of the view's type. */
void search_text_init(struct search_text *lines, const struct app *app);
void search_text_clear(struct search_text *lines);
/*
 * Finds the next line that contains needle, around the end; direction -1: the previous line. Case
 * is ignored unless needle has a capital letter.
 */
struct found search_text_find(const struct search_text *lines, const char *needle, int direction);

#endif
