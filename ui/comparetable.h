/*
 * comparetable: tensors that ranks answered with, one row a class: what does
 * not fit beside each other is left out, the least telling first. Borrows the
 * classes.
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
	/* What others are held against: the majority, or as many as any other
	 * have. NULL: there are not two classes of tensors. */
	const struct answer_class *reference;
	bool is_majority;
	bool has_one_dtype;
	bool has_infinite; /* elements, in any of them */
	int ranks_width;
	int widths[COMPARETABLE_COLUMNS]; /* behind them; 0: it is left out */
};

/* Some rank answered with a tensor. */
bool comparetable_is_wanted(const struct answer_classes *classes);
void comparetable_make(struct comparetable *table, const struct answer_classes *classes,
		       int column_count);
/* The names of its columns; all in a window's row. */
void comparetable_put_head(struct window window, int row, const struct comparetable *table);
/* The mark and ranks of a class; NULL: those that are waited for. */
void comparetable_put_ranks(struct window window, int row, const struct comparetable *table,
			    const struct answer_class *class);
/* What stands behind them, of a class with a tensor. */
void comparetable_put_row(struct window window, int row, const struct comparetable *table,
			  const struct answer_class *class);
/* Where other answers than tensors are told. */
int comparetable_text_column(const struct comparetable *table);
/* Appends "float32 [8, 32]": what all tensors agree on. */
void comparetable_append_title(struct buffer *out, const struct comparetable *table);

#endif
