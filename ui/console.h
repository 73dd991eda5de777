/*
 * console: the terminal of the debugger that is looked at, and the line that
 * is typed there. Debuggers behind a socket neither echo nor edit, so a line
 * is edited here and sent when it is whole; the node puts it into the session
 * that the terminal shows.
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
	struct terminal *terminal; /* NULL: nothing came */
	size_t node;		   /* whose it shows, and the line is for */
	pid_t pid;
	uint64_t times; /* of the transcript */
	uint64_t taken; /* position up to which it was written */
	int back;	/* so many lines it is scrolled back */
	struct prompt line;
};

void console_init(struct console *console);
void console_clear(struct console *console);
/*
 * Another process is looked at, or still the same: what was typed for one must
 * not come to another one's debugger.
 */
void console_look(struct console *console, const struct session *session);
/*
 * Shows the session of the process that is looked at, in this size, as far as
 * it came. Appends what the terminal answers a program that asks it.
 */
void console_update(struct console *console, const struct session *session, int row_count,
		    int column_count, struct buffer *answers);
/* The same of the terminal of the job that was started. */
void console_update_job(struct console *console, const struct session *session, int row_count,
			int column_count, struct buffer *answers);
/* Appends what a key sends to a program on that terminal. */
void console_type(struct console *console, const char *key, struct buffer *out);
/* Its debugger is ours: what is typed goes to it. */
bool console_is_connected(const struct session *session);
/*
 * Edits the line; appends what is to be typed now. False for a key that does
 * nothing here.
 */
bool console_key(struct console *console, const char *key, struct buffer *out);
/* Lines that it can be scrolled back by. */
int console_history(const struct console *console);
/* Scrolls back by so many lines, forward where negative. */
void console_scroll(struct console *console, int by);

#endif
