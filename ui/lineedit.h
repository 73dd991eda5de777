/*
 * lineedit: a line that is typed on a terminal without curses, for a shell: keys are decoded from
 * the terminal's bytes, and the line is drawn again after each key. The terminal's settings are
 * changed only while a line is read.
 */
#ifndef UI_LINEEDIT_H
#define UI_LINEEDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "ui/prompt.h"

struct loop;

/* Size of the input buffer; the longest key has far fewer bytes. */
#define LINEEDIT_BYTES 64

enum lineedit_result {
	LINEEDIT_TYPING,
	LINEEDIT_LINE,	  /* a line was typed: take it with prompt_take() */
	LINEEDIT_DROPPED, /* C-c */
	LINEEDIT_END,	  /* C-d on an empty line, end of the input, or a signal */
};

struct lineedit {
	struct prompt *prompt; /* borrowed */
	const char *label;     /* prompt in front of the line */
	/* Called at Tab (by 1) and S-Tab (by -1): completes the line; may run the loop. */
	void (*complete)(int by, void *data);
	void *data;
	enum lineedit_result result;
	struct termios saved;	    /* the terminal's settings before the line is read */
	char bytes[LINEEDIT_BYTES]; /* bytes read: of an incomplete key, or typed after the line's
				     * end */
	size_t length;
};

/* Runs the loop until a line is typed on the terminal at descriptor 0. */
enum lineedit_result lineedit_read(struct lineedit *edit, struct loop *loop);
/*
 * Prints the candidates of the prompt, if there are several, below the line; then the line again.
 */
void lineedit_show_candidates(const struct lineedit *edit);

#endif
