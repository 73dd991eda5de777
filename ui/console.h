/*
 * console: the terminal of the selected process's debugger, and the line that is being typed.
 * Debuggers behind a socket neither echo nor edit, so the line is edited here and sent as a whole;
 * the node adds it to the session that the terminal shows.
 */
#ifndef UI_CONSOLE_H
#define UI_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ui/prompt.h"

struct buffer;
struct session;
struct terminal;
struct transcript;

struct console {
	struct terminal *terminal; /* NULL: no output has come */
	size_t node;		   /* node and pid of the process whose debugger is shown */
	pid_t pid;
	uint64_t times; /* transcript.times of the shown transcript */
	uint64_t taken; /* position in the transcript up to which the terminal was written */
	int back;	/* lines that the terminal is scrolled back */
	struct prompt line;
};

void console_init(struct console *console);
void console_clear(struct console *console);
/*
 * Switches to the selected process if another process was shown, and drops the typed line, which
 * must not reach another debugger.
 */
void console_look(struct console *console, const struct session *session);
/*
 * Shows the transcript of the selected process in a terminal of this size. Appends the terminal's
 * replies to queries, which are to be sent to the debugger.
 */
void console_update(struct console *console, const struct session *session, int row_count,
		    int column_count, struct buffer *answers);
/* The same for the terminal of the started job. */
void console_update_job(struct console *console, const struct session *session, int row_count,
			int column_count, struct buffer *answers);
/* Appends the bytes that a key sends to a program on the terminal. */
void console_type(struct console *console, const char *key, struct buffer *out);
/* True: probetui is connected to the selected process's debugger. */
bool console_is_connected(const struct session *session);
/* Edits the line by a key; appends the bytes to send now. False: the key has no function. */
bool console_key(struct console *console, const char *key, struct buffer *out);
/* Returns how many lines the terminal can be scrolled back. */
int console_history(const struct console *console);
/* Scrolls back by lines; negative: forward. */
void console_scroll(struct console *console, int by);

#endif
