/*
 * prompt: the line at the bottom in which a person types: a command, a rank
 * number, a text to search for.
 */
#ifndef UI_PROMPT_H
#define UI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct window;

#define PROMPT_HISTORY 50

enum prompt_kind {
	PROMPT_COMMAND,
	PROMPT_RANK,
	PROMPT_SEARCH,
	PROMPT_FOCUS,
	PROMPT_FILTER,
};

struct prompt {
	bool is_open;
	enum prompt_kind kind;
	struct buffer text;
	size_t cursor;		       /* byte offset */
	char *history[PROMPT_HISTORY]; /* command lines, oldest first */
	size_t history_count;
	size_t history_at;
};

enum prompt_result {
	PROMPT_EDITED,
	PROMPT_CANCELLED,
	PROMPT_DONE, /* take the line with prompt_take() */
};

void prompt_init(struct prompt *prompt);
void prompt_clear(struct prompt *prompt);
void prompt_open(struct prompt *prompt, enum prompt_kind kind,
		 const char *text);
enum prompt_result prompt_key(struct prompt *prompt, const char *key);
/*
 * The command line that was typed ("rank 3"); free() it. Closes the prompt.
 * A text to search for is quoted: it is one word with any character in it.
 */
char *prompt_take(struct prompt *prompt);
/* Draws it into the window's first row. */
void prompt_draw(struct window window, const struct prompt *prompt);

#endif
