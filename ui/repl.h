/*
 * repl: the line in which code for the focused ranks is typed, the lines of an unfinished block
 * above it, and the rows of code that was run before (model/answers.h).
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
	int back; /* rows that the view is scrolled back */
	bool shows_tracebacks;
	struct request *completing; /* running request for completions; NULL: none */
	char *completed;	    /* text up to the cursor that the request is about */
};

void repl_init(struct repl *repl);
void repl_clear(struct repl *repl);
/* Takes the typed line; true: the block is complete, and the caller checks, runs and clears it. */
bool repl_enter(struct repl *repl);
/* Drops the typed line and block. */
void repl_drop(struct repl *repl);
/* Returns ">>> ", or "... " within a block. */
const char *repl_prompt(const struct repl *repl);
/* Offers the targets of a response to `completions`, unless the text before the cursor has changed
 * since the request. */
void repl_offer(struct repl *repl, const json_t *targets);

/*
 * Handles Tab: indents at the beginning of a line, inserts the next candidate (by 1; -1: the
 * previous one), or requests completions from a focused rank; done() must then set repl->completing
 * to NULL. done NULL: the caller takes the response. -1 and an error: there is no rank.
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
	char *note;	  /* shown behind the text; NULL: nothing */
	bool is_sentence; /* text is a sentence, to be broken at words */
};

/* The newest rows, the newest first; at least as many as wanted, if there are so many. */
struct repl_rows {
	struct repl_row *items;
	size_t count;
	size_t capacity;
};

void repl_rows_make(struct repl_rows *rows, const struct session *session, const struct repl *repl,
		    int width, size_t wanted);
void repl_rows_clear(struct repl_rows *rows);
/* Returns how many rows do not fit above the line. */
int repl_hidden_rows(const struct session *session, const struct view *view);

#endif
