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
	PROMPT_EVAL, /* code (repl.h) */
	PROMPT_COMPARE,
	PROMPT_WATCH,
	PROMPT_TENSOR,
	PROMPT_TENSOR_INDEX,
	PROMPT_TOLERANCE,
	PROMPT_TENSOR_EXPORT,
	PROMPT_ASSIGN,
	PROMPT_CONSOLE, /* what the debugger reads (console.h) */
	PROMPT_KIND_COUNT,
};

struct prompt {
	bool is_open;
	enum prompt_kind kind;
	struct buffer text;
	size_t cursor; /* byte offset */
	/* What was typed; those of commands and code are kept in files. */
	struct history histories[PROMPT_KIND_COUNT];
	size_t history_at;	      /* the count: the line that is typed */
	char *typed;		      /* while an older line is shown; NULL */
	char *needle;		      /* what C-r looks for; NULL */
	struct candidates candidates; /* of the word before the cursor */
	int chosen;		      /* of them; -1: none yet */
	char note[32];		      /* behind the line: "2 of 7" */
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
 * Completes the word before the cursor as far as all candidates agree; then
 * each further time the next (by 1) or the one before (by -1) takes its
 * place, until another key. One candidate alone is taken at once.
 */
void prompt_complete(struct prompt *prompt, const struct session *session,
		     const struct keymap *keymap, int by);
/*
 * The command line that was typed ("rank 3"); free() it. Closes the prompt.
 * A text to search for is quoted: it is one word with any character in it.
 */
char *prompt_take(struct prompt *prompt);
/*
 * What was found of how the line up to the cursor goes on, each of items in
 * place of what stands from byte start on; they are taken over. The same then
 * happens as above.
 */
void prompt_offer(struct prompt *prompt, struct candidates *owned_candidates);
/* The next of those that were found takes its place, or the one before. */
void prompt_cycle(struct prompt *prompt, int by);
/* Draws it into the window's first row. */
void prompt_draw(struct window window, const struct prompt *prompt);

#endif
