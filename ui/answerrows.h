/*
 * answerrows: the rows of the view of answers: each line of a class's text, a single row for a
 * tensor, and last a row for ranks that have not answered.
 */
#ifndef UI_ANSWERROWS_H
#define UI_ANSWERROWS_H

#include <stddef.h>

#include "model/answers.h"

struct buffer;
struct session;
struct view;

/* A line of a class, or the row of ranks that have not answered. */
struct answer_row {
	size_t class; /* index of the class; classes.count: the ranks that have not answered */
	int line;     /* line of the class's text, from 0 */
};

/* The rows for the session's present answers; answer_rows_clear() frees them. */
struct answer_rows {
	struct answer_classes classes;
	struct answer_row *items;
	size_t count;
};

void answer_rows_make(struct answer_rows *rows, const struct session *session);
void answer_rows_clear(struct answer_rows *rows);
/* Returns the class of a row, borrowed; NULL: the row of ranks that have not answered. */
const struct answer_class *answer_rows_class(const struct answer_rows *rows, size_t row);
/* Returns the ranks of a row, borrowed. */
const struct rankset *answer_rows_ranks(const struct answer_rows *rows, size_t row);
/* Returns the cursor's row, at most the last row; -1: there are no rows. */
int answer_rows_cursor(const struct answer_rows *rows, const struct view *view);
/* Appends a row's text. */
void answer_rows_append(struct buffer *out, const struct answer_rows *rows, size_t row);

#endif
