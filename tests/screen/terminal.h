/*
 * terminal: the real program on a pseudo terminal whose screen libvterm
 * keeps, for tests. Nothing here sleeps: each wait is for output or an end,
 * with a limit.
 */
#ifndef TESTS_SCREEN_TERMINAL_H
#define TESTS_SCREEN_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>
#include <vterm.h>

#include "base/buffer.h"

struct terminal {
	pid_t pid;	/* of the program; 0 once it was waited for */
	int controller; /* our side */
	int line;	/* the program's side, held for its settings */
	VTerm *vterm;
	VTermScreen *screen;
	int row_count;
	int column_count;
	bool is_alternate; /* the alternate screen is shown */
	bool is_cursor_visible;
	struct buffer written; /* all that the program wrote */
	struct termios before;
};

/* Starts argv in a terminal of this size. */
void terminal_open(struct terminal *terminal, int row_count, int column_count, char **argv);
/* Kills what still runs. */
void terminal_close(struct terminal *terminal);
void terminal_send(struct terminal *terminal, const char *bytes);
void terminal_resize(struct terminal *terminal, int row_count, int column_count);
/* Waits until text is on the screen (row -1: anywhere; -2: last row). */
void terminal_wait_for(struct terminal *terminal, int row, const char *text);
/* Waits until the program wrote these bytes. */
void terminal_wait_written(struct terminal *terminal, const char *bytes);
/* The program asked for the mouse, and did not give it back. */
bool terminal_tells_mouse(const struct terminal *terminal);
/* Waits for the program's end and returns waitpid's status. */
int terminal_wait_end(struct terminal *terminal);
/* Waits until the program was stopped by a signal. */
void terminal_wait_stop(struct terminal *terminal);
/* Fails unless the terminal is as it was before. */
void terminal_check_restored(struct terminal *terminal);

#endif
