/*
 * lineedit: a line that is typed in a shell, where no curses is: keys out of
 * the terminal's bytes, the line drawn again after each. The terminal is as
 * it was while no line is read.
 */
#ifndef UI_LINEEDIT_H
#define UI_LINEEDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "ui/prompt.h"

struct loop;

/* The longest key's are far fewer. */
#define LINEEDIT_BYTES 64

enum lineedit_result {
	LINEEDIT_TYPING,
	LINEEDIT_LINE,	  /* take it with prompt_take() */
	LINEEDIT_DROPPED, /* C-c */
	LINEEDIT_END,	  /* C-d on an empty line, the terminal is gone, or
			   * a signal says so */
};

struct lineedit {
	struct prompt *prompt; /* borrowed */
	const char *label;     /* in front of it */
	/* What Tab (1) and S-Tab (-1) do; may run the loop. */
	void (*complete)(int by, void *data);
	void *data;
	enum lineedit_result result;
	struct termios saved;
	char bytes[LINEEDIT_BYTES]; /* of keys that are not whole */
	size_t length;
};

/* Runs the loop until a line was typed on the terminal that is descriptor 0. */
enum lineedit_result lineedit_read(struct lineedit *edit, struct loop *loop);
/* The candidates of the prompt stand in lines of their own; then the line
 * again. */
void lineedit_show_candidates(const struct lineedit *edit);

#endif
