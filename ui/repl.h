/*
 * repl: the line in which code for the ranks of the focus is typed, what of
 * an unfinished block stands above it, and the rows of what was run before
 * (model/eval-history.h).
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
	int back; /* so many rows it is scrolled back */
	bool shows_tracebacks;
	struct request *completing; /* NULL: none is under way */
	char *completed;	    /* the line it is about, up to the cursor */
};

void repl_init(struct repl *repl);
void repl_clear(struct repl *repl);
/* A line was typed; true: its block is to be checked, run and cleared. */
bool repl_enter(struct repl *repl);
/* Gives up what was typed. */
void repl_drop(struct repl *repl);
/* ">>> ", or "... " within a block. */
const char *repl_prompt(const struct repl *repl);
/* What stands before the cursor goes on so (targets of a completions answer),
 * if it is still as it was when that was asked. */
void repl_offer(struct repl *repl, const json_t *targets);

/*
 * Tab: indents at the left of a line, takes the next of what was found (by 1,
 * or -1), or asks a rank of the focus and then calls done(), which sets
 * repl->completing to NULL (done NULL: the caller takes the answer). -1 and a sentence: there is no
 * rank.
 */
int repl_tab(struct repl *repl, struct engine *engine, int by, request_done *done, void *data,
	     struct error *error);

/* A row of what was run. */
struct repl_row {
	char *head; /* ">>> ", or mark, ranks and count */
	enum style head_style;
	char *text;
	enum style style;
	int column;	  /* where the text begins */
	char *note;	  /* behind it; NULL: nothing */
	bool is_sentence; /* rather than code or a value */
};

/* The newest rows, the newest first: as many as are wanted, or more. */
struct repl_rows {
	struct repl_row *items;
	size_t count;
	size_t capacity;
};

void repl_rows_make(struct repl_rows *rows, const struct session *session, const struct repl *repl,
		    int width, size_t wanted);
void repl_rows_clear(struct repl_rows *rows);
/* How many rows do not fit above the line. */
int repl_hidden_rows(const struct session *session, const struct view *view);

#endif
