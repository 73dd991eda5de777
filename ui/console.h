/*
 * console: the terminal of the selected process's debugger, and the line that is being typed. A
 * debugger on a socket neither echoes nor edits input, so the line is edited in the prompt `line`
 * and sent as a whole; the node then adds it to the output that the terminal shows.
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
	struct terminal *terminal; /* NULL: no output has come yet */
	size_t node;		   /* node and pid of the process whose debugger is shown */
	pid_t pid;
	uint64_t times; /* transcript.times of the shown transcript */
	uint64_t taken; /* position in the transcript; bytes before it were written to the
			 * terminal */
	int back;	/* number of lines by which the terminal is scrolled back */
	struct prompt line;
};

void console_init(struct console *console);
void console_clear(struct console *console);
/*
 * Switches to the selected process if another process is shown, and drops the typed line, because
 * it must not reach another debugger.
 */
void console_look(struct console *console, const struct session *session);
/*
 * Shows the transcript of the selected process in a terminal of this size. Appends to answers the
 * terminal's replies to queries, which the caller sends to the debugger.
 */
void console_update(struct console *console, const struct session *session, int row_count,
		    int column_count, struct buffer *answers);
/* Like console_update(), for the terminal of the started job. */
void console_update_job(struct console *console, const struct session *session, int row_count,
			int column_count, struct buffer *answers);
/* Appends the bytes that a key sends to a program on the terminal. */
void console_type(struct console *console, const char *key, struct buffer *out);
/* True if probetui is connected to the selected process's debugger. */
bool console_is_connected(const struct session *session);
/*
 * Handles a key: edits the line, and appends to out the bytes to send now. Returns false if the key
 * has no function.
 */
bool console_key(struct console *console, const char *key, struct buffer *out);
/* Returns how many lines the terminal can be scrolled back. */
int console_history(const struct console *console);
/* Scrolls back by this number of lines; negative: forward. */
void console_scroll(struct console *console, int by);

#endif
