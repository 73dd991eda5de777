/*
 * comparetable: a table of the tensors with which ranks have answered, one row for each class.
 * Columns that do not fit are left out, the least important first. The classes are borrowed.
 */
#ifndef UI_COMPARETABLE_H
#define UI_COMPARETABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/answers.h"
#include "ui/window.h"

struct answer_class;
struct answer_classes;
struct answers;
struct buffer;
struct difference;
struct session;
struct view;

#define COMPARETABLE_COLUMNS 8

struct comparetable {
	const struct answer_classes *classes;
	/*
	 * The class that other classes are compared with (answer_classes_reference()). NULL: no
	 * rank has answered with a tensor.
	 */
	const struct answer_class *reference;
	bool is_majority;   /* reference is the class of the majority */
	bool has_one_dtype; /* all tensors have the same dtype */
	bool has_infinite;  /* a tensor of the table has infinite elements */
	int ranks_width;
	int widths[COMPARETABLE_COLUMNS]; /* widths of the columns; 0: left out */
};

/* True if a rank has answered with a tensor. */
bool comparetable_is_wanted(const struct answer_classes *classes);
void comparetable_make(struct comparetable *table, const struct answer_classes *classes,
		       int column_count);
/* Draws the names of the columns into a row of the window. */
void comparetable_put_head(struct window window, int row, const struct comparetable *table);
/* Draws the mark and the ranks of a class; class NULL: the ranks that have not answered. */
void comparetable_put_ranks(struct window window, int row, const struct comparetable *table,
			    const struct answer_class *class);
/* Draws the columns to the right of the ranks, for a class with a tensor. */
void comparetable_put_row(struct window window, int row, const struct comparetable *table,
			  const struct answer_class *class);
/* Returns the column at which an answer that is not a tensor is drawn. */
int comparetable_text_column(const struct comparetable *table);
/* Appends dtype and shape that all tensors share: "float32 [8, 32]". */
void comparetable_append_title(struct buffer *out, const struct comparetable *table);

/*
 * answer_rows: the rows of the view of answers: a row for each line of a class's text, one row for
 * a tensor, and a last row for ranks that have not answered.
 */

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

/*
 * differencetext: the difference between a class's tensor and the reference's, as a sentence about
 * dtype and shape, or about the elements that were read.
 */

/*
 * Appends "rank 5 against the majority: 12 of 256 elements differ, first at [3, 8]"; without a
 * majority, names the ranks of the reference. Appends nothing for the reference itself, and for
 * values that are not tensors.
 */
void differencetext_append(struct buffer *out, const struct answers *answers,
			   const struct answer_classes *classes, const struct answer_class *class);
/*
 * Appends the progress of a comparison ("both are read, 12 MB of 400 MB"), its result, or its
 * error.
 */
void differencetext_append_found(struct buffer *out, const struct difference *difference);

#endif
