/*
 * repl: the line in which code for the focused ranks is typed; above this line the lines of an
 * unfinished block, and the rows of code that was run before with its answers (eval_history in
 * model/answers.h).
 */
#ifndef UI_REPL_H
#define UI_REPL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/request.h"
#include "model/codeblock.h"
#include "ui/prompt.h"
#include "ui/style.h"

struct engine;
struct error;
struct session;
struct view;

struct repl {
	struct prompt line;
	struct codeblock block;
	int back; /* number of rows by which the view is scrolled back */
	bool shows_tracebacks;
	struct request *completing; /* open request `completions`; NULL: none */
	char *completed;	    /* text before the cursor when the request was sent */
};

void repl_init(struct repl *repl);
void repl_clear(struct repl *repl);
/*
 * Adds the typed line to the block. Returns true if the block is complete: the caller then checks,
 * runs and clears it.
 */
bool repl_enter(struct repl *repl);
/* Drops the typed line and block. */
void repl_drop(struct repl *repl);
/* Returns ">>> ", or "... " within a block. */
const char *repl_prompt(const struct repl *repl);
/*
 * Offers the targets of an answer to `completions` as candidates, unless the text before the cursor
 * has changed since the request was sent.
 */
void repl_offer(struct repl *repl, const json_t *targets);

/*
 * Handles Tab: inserts the next candidate (by 1) or the previous one (by -1); without candidates
 * indents at the beginning of a line, else requests completions from a focused rank. The answer
 * goes to done(), which must set repl->completing to NULL; with done NULL the caller takes the
 * answer. Returns 0; -1 and *error: there is no rank to ask.
 */
int repl_tab(struct repl *repl, struct engine *engine, int by, request_done *done, void *data,
	     struct error *error);

/* A row of code that was run, or of its answers. */
struct repl_row {
	char *head; /* ">>> ", or a class's mark, ranks and count */
	enum style head_style;
	char *text;
	enum style style;
	int column;	  /* column where the text begins */
	char *note;	  /* shown after the text; NULL: nothing */
	bool is_sentence; /* text is a sentence: lines are broken between words */
};

/* The newest rows, newest first. */
struct repl_rows {
	struct repl_row *items;
	size_t count;
	size_t capacity;
};

/* Makes at least `wanted` rows, or all if there are fewer; width is the number of columns. */
void repl_rows_make(struct repl_rows *rows, const struct session *session, const struct repl *repl,
		    int width, size_t wanted);
void repl_rows_clear(struct repl_rows *rows);
/* Returns the number of rows that do not fit above the typed line. */
int repl_hidden_rows(const struct session *session, const struct view *view);

#endif
