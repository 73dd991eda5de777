/*
 * history: lines that were typed (commands, code), oldest first, without duplicates, at most
 * HISTORY_LINES. The lines are kept in a file that several running probetui share: each appends its
 * new lines to the file.
 *
 * The file is probetui/NAME in $XDG_STATE_HOME or ~/.local/state, readable only for the user (0600,
 * its folder 0700). Without this folder, the history lasts as long as the program. A line that
 * begins with a blank is not kept.
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
	size_t fresh_count; /* number of lines, the newest, that are not in the file yet */
	int folder;	    /* descriptor of the folder; -1: no file */
	const char *name;   /* name of the file in the folder */
};

void history_init(struct history *history);
/* Writes the unwritten lines and frees the history. */
void history_clear(struct history *history);
#define HISTORY_COMMANDS "history"
#define HISTORY_CODE "eval-history"

/*
 * Opens and reads the file of that name; name must stay valid. Returns 0; -1 and *error: no lines
 * will be written to a file.
 */
int history_open(struct history *history, const char *name, struct error *error);
/*
 * Adds the newest line and writes the file. Returns 0, also if another probetui has locked the
 * file; -1 and *error: the file was not written. A line that was not written is written with the
 * next line.
 */
int history_add(struct history *history, const char *line, struct error *error);

#endif
