/*
 * history: lines that were typed (commands, code), oldest first, each once, at most HISTORY_LINES.
 * The lines are kept in a file that several screens share: each screen adds its new lines behind
 * the lines of the others.
 *
 * The file is probetui/NAME in $XDG_STATE_HOME or ~/.local/state, only for its user (0600, its
 * folder 0700). Without a folder the history lasts as long as the program. A line that begins with
 * a blank is not kept.
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
	size_t fresh_count; /* count of the newest lines, which are not in the file yet */
	int folder;	    /* descriptor; -1: no line is kept */
	const char *name;   /* name of the file in the folder */
};

void history_init(struct history *history);
/* Writes the unwritten lines and frees the history. */
void history_clear(struct history *history);
#define HISTORY_COMMANDS "history"
#define HISTORY_CODE "eval-history"

/*
 * Opens the file of that name and reads it; name must stay valid. -1 and an error: no line will be
 * kept.
 */
int history_open(struct history *history, const char *name, struct error *error);
/*
 * Adds a line as the newest and writes the file. -1 and an error: the file was not written; the
 * line stays, and is written with the next one. A file that another screen has locked is no error.
 */
int history_add(struct history *history, const char *line, struct error *error);

#endif
