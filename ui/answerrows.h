/*
 * answerrows: the rows that the view of ranks' answers has a cursor in: a line
 * of a class's text each, a tensor in one, and last the ranks that are waited
 * for.
 */
#ifndef UI_ANSWERROWS_H
#define UI_ANSWERROWS_H

#include <stddef.h>

#include "model/answers.h"

struct buffer;
struct session;
struct view;

/* A line of a class, or of ranks that are waited for. */
struct answer_row {
	size_t class; /* the count: of those that are waited for */
	int line;     /* of the class's text */
};

/* What the open view shows of the session's answers. */
struct answer_rows {
	struct answer_classes classes;
	struct answer_row *items;
	size_t count;
};

void answer_rows_make(struct answer_rows *rows, const struct session *session);
void answer_rows_clear(struct answer_rows *rows);
/* Lends the class of a row; NULL: of ranks that are waited for. */
const struct answer_class *answer_rows_class(const struct answer_rows *rows, size_t row);
/* Lends the ranks of a row. */
const struct rankset *answer_rows_ranks(const struct answer_rows *rows, size_t row);
/* The row under the cursor, kept among them; -1: there is none. */
int answer_rows_cursor(const struct answer_rows *rows, const struct view *view);
/* Appends a row's text. */
void answer_rows_append(struct buffer *out, const struct answer_rows *rows, size_t row);

#endif
