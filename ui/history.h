/*
 * history: lines that were typed (commands, code), oldest first, each once, at
 * most HISTORY_LINES. They are kept in a file, which several screens share:
 * each writes what is new of its own behind what the others wrote.
 *
 * The file is probetui/NAME in $XDG_STATE_HOME or ~/.local/state, only for its
 * user (0600, its folder 0700). Without a folder lines last as long as
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
	const char *name;   /* of the file in it */
};

void history_init(struct history *history);
/* Writes what is not written yet. */
void history_clear(struct history *history);
#define HISTORY_COMMANDS "history"
#define HISTORY_CODE "eval-history"

/*
 * Finds the file of that name, which lasts, and reads it. -1 and a sentence:
 * nothing will be kept.
 */
int history_open(struct history *history, const char *name, struct error *error);
/*
 * Adds a line as the newest and writes the file. -1 and a sentence when that
 * failed; the line is there, and is written with the next one. When another
 * screen is writing just now that is no failure.
 */
int history_add(struct history *history, const char *line, struct error *error);

#endif
