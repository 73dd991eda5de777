/*
 * comparetable: a table of the tensors with which ranks answered, a row for each class. Columns
 * that do not fit are left out, the least important first. The classes are borrowed.
 */
#ifndef UI_COMPARETABLE_H
#define UI_COMPARETABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/window.h"

struct answer_class;
struct answer_classes;
struct buffer;

#define COMPARETABLE_COLUMNS 8

struct comparetable {
	const struct answer_classes *classes;
	/* The class with which the others are compared (answer_classes_reference()). NULL: no rank
	 * answered with a tensor. */
	const struct answer_class *reference;
	bool is_majority;
	bool has_one_dtype;
	bool has_infinite; /* a tensor of the table has infinite elements */
	int ranks_width;
	int widths[COMPARETABLE_COLUMNS]; /* of the columns; 0: left out */
};

/* True: a rank answered with a tensor. */
bool comparetable_is_wanted(const struct answer_classes *classes);
void comparetable_make(struct comparetable *table, const struct answer_classes *classes,
		       int column_count);
/* Draws the names of the columns into a row of the window. */
void comparetable_put_head(struct window window, int row, const struct comparetable *table);
/* Draws the mark and the ranks of a class; NULL: the ranks that have not answered. */
void comparetable_put_ranks(struct window window, int row, const struct comparetable *table,
			    const struct answer_class *class);
/* Draws the columns behind the ranks, for a class with a tensor. */
void comparetable_put_row(struct window window, int row, const struct comparetable *table,
			  const struct answer_class *class);
/* Returns the column where an answer that is no tensor is drawn. */
int comparetable_text_column(const struct comparetable *table);
/* Appends dtype and shape that all tensors share: "float32 [8, 32]". */
void comparetable_append_title(struct buffer *out, const struct comparetable *table);

#endif
