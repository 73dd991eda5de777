/*
 * history: the command lines that were typed, oldest first, each once, at
 * most HISTORY_LINES. They are kept in a file, which several screens share:
 * each writes what is new of its own behind what the others wrote.
 *
 * The file is probetui/history in $XDG_STATE_HOME or ~/.local/state, only for
 * its user (0600, its folder 0700). Without a folder lines last as long as
 * the program. A line that begins with a blank is not kept.
 */
#ifndef UI_HISTORY_H
#define UI_HISTORY_H

#include <stddef.h>

struct error;

#define HISTORY_LINES 1000
#define HISTORY_LINE_MAXIMUM 4096

struct history {
	char **lines;
	size_t count;
	size_t capacity;
	size_t fresh_count; /* the last so many are not in the file yet */
	int folder;	    /* -1: nothing is kept */
};

void history_init(struct history *history);
/* Writes what is not written yet. */
void history_clear(struct history *history);
/* Finds the file and reads it. -1 and a sentence: nothing will be kept. */
int history_open(struct history *history, struct error *error);
/*
 * Adds a line as the newest and writes the file. -1 and a sentence when that
 * failed; the line is there, and is written with the next one. When another
 * screen is writing just now that is no failure.
 */
int history_add(struct history *history, const char *line, struct error *error);

#endif
