/*
 * haystack: the lines of the pane that is looked at, as it draws them, to
 * search in: one for each thing that its cursor can be at.
 */
#ifndef UI_HAYSTACK_H
#define UI_HAYSTACK_H

#include "base/buffer.h"

struct app;

struct haystack {
	struct buffer text; /* the lines, each with its newline */
	struct buffer line; /* being appended to; see haystack_end_line() */
	int at;		    /* the line where the person is */
	int count;
};

/* A line that was found, and how many there are like it. */
struct found {
	int line;   /* from 0; -1: none */
	int number; /* it is the so many-th, from 1 */
	int count;
};

/* Adds `line` as it is drawn: a newline in a name begins no other line. */
void haystack_end_line(struct haystack *haystack);
/* Counts the lines of a text that was appended; the person is at one of them. */
void haystack_take_text(struct haystack *haystack, int at);
/* Takes what app shows now; end it with haystack_clear(). */
void haystack_init(struct haystack *haystack, const struct app *app);
void haystack_clear(struct haystack *haystack);
/*
 * The next line, around the end, that holds needle; by -1 the one before.
 * Case matters only where needle has a capital letter.
 */
struct found haystack_find(const struct haystack *haystack, const char *needle, int direction);

#endif
