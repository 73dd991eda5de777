/*
 * prompt: the line at the bottom in which a person types: a command, a rank
 * number, a text to search for.
 */
#ifndef UI_PROMPT_H
#define UI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "ui/complete.h"
#include "ui/history.h"

struct keymap;
struct session;
struct window;

enum prompt_kind {
	PROMPT_COMMAND,
	PROMPT_RANK,
	PROMPT_SEARCH,
	PROMPT_FOCUS,
	PROMPT_FILTER,
	PROMPT_EVAL, /* code to run (repl.h) */
	PROMPT_COMPARE,
	PROMPT_WATCH,
	PROMPT_TENSOR,
	PROMPT_TENSOR_INDEX,
	PROMPT_TOLERANCE,
	PROMPT_TENSOR_EXPORT,
	PROMPT_ASSIGN,
	PROMPT_CONSOLE, /* input for the debugger (console.h) */
	PROMPT_KIND_COUNT,
};

struct prompt {
	bool is_open;
	enum prompt_kind kind;
	struct buffer text;
	size_t cursor; /* byte offset of the cursor in text */
	/* Lines typed before, by kind; the lines of commands and code are kept in files. */
	struct history histories[PROMPT_KIND_COUNT];
	size_t history_at;	      /* index of the shown line in the history; history.count: the
				       * line being typed */
	char *typed;		      /* the line being typed, while an older line is shown; NULL:
				       * none */
	char *needle;		      /* text that C-r searches for; NULL: none */
	struct candidates candidates; /* candidates for the word before the cursor */
	int chosen;		      /* index of the chosen candidate; -1: none yet */
	char note[32];		      /* shown behind the line: "2 of 7" */
};

enum prompt_result {
	PROMPT_EDITED,
	PROMPT_CANCELLED,
	PROMPT_DONE, /* take the line with prompt_take() */
};

void prompt_init(struct prompt *prompt);
void prompt_clear(struct prompt *prompt);
void prompt_open(struct prompt *prompt, enum prompt_kind kind, const char *text);
enum prompt_result prompt_key(struct prompt *prompt, const char *key);
/*
 * Completes the word before the cursor as far as all candidates agree; a single candidate is
 * inserted. Until another key is pressed, each further call inserts the next candidate (by 1) or
 * the previous one (by -1).
 */
void prompt_complete(struct prompt *prompt, const struct session *session,
		     const struct keymap *keymap, int by);
/*
 * Closes the prompt and returns the command line ("rank 3"); free() it. The text of a search or
 * filter is quoted as one word.
 */
char *prompt_take(struct prompt *prompt);
/*
 * Sets the candidates, which replace the text from byte candidates.start to the cursor, and inserts
 * the text that all candidates share. The prompt then owns the candidates.
 */
void prompt_offer(struct prompt *prompt, struct candidates *owned_candidates);
/* Inserts the next candidate (by 1) or the previous one (by -1). */
void prompt_cycle(struct prompt *prompt, int by);
/* Draws the prompt into the window's first row. */
void prompt_draw(struct window window, const struct prompt *prompt);

#endif
