/*
 * tensordiff: how two tensors of the same shape and dtype differ, part by
 * part: how many elements, the first, the farthest, and a coarse grid for a
 * heat map. The parts are the values' bytes as requests for `data` give them;
 * what two blocks with the same hash are is the same, and need not be read.
 */
#ifndef MODEL_TENSORDIFF_H
#define MODEL_TENSORDIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct buffer;
struct error;

#define TENSORDIFF_ROWS_MAXIMUM 256
#define TENSORDIFF_COLUMNS_MAXIMUM 1024

/* One element in both. */
struct tensordiff_place {
	int64_t index;			 /* flat; -1: there is none */
	struct tensor_number numbers[2]; /* unknown: the dtype has none */
};

struct tensordiff {
	char *dtype; /* NULL: nothing was begun */
	int dimension_count;
	int64_t shape[TENSOR_DIMENSIONS];
	int64_t element_count;
	int64_t item_size;
	int64_t compared;  /* so many elements are known to differ or not */
	int64_t differing; /* of them; by their bits, NaN like others */
	int64_t unlike;	   /* of these, in one of both no finite number */
	struct tensordiff_place first;
	struct tensordiff_place farthest; /* of finite numbers */
	double maximum;			  /* that |difference|; NaN: not known, or none differ */
	bool is_torn;			  /* one of them was written while they were read */
	/*
	 * The largest |difference| in each cell; NaN: in one of both no finite
	 * number; -1: not read. The last dimension runs along the columns, all
	 * others along the rows.
	 */
	double *grid;
	int row_count;
	int column_count;
};

void tensordiff_clear(struct tensordiff *diff);
/*
 * Of these two, of which nothing is known yet; a grid of at most so many rows
 * and columns (0: none). -1 and a sentence where they are not of the same
 * dtype and shape.
 */
int tensordiff_begin(struct tensordiff *diff, const struct tensor *a, const struct tensor *b,
		     int row_count, int column_count, struct error *error);
/* These elements are the same in both. */
void tensordiff_add_same(struct tensordiff *diff, int64_t start, int64_t count);
/* count elements from start on, item_size bytes each; in rising order. */
void tensordiff_add(struct tensordiff *diff, int64_t start, const uint8_t *a, const uint8_t *b,
		    int64_t count);
/* Not all of it was compared. */
bool tensordiff_is_partial(const struct tensordiff *diff);
/* All of it is the same, or no element is farther apart than tolerance. */
bool tensordiff_is_within(const struct tensordiff *diff, double tolerance);
/* The indices of a flat one, one for each dimension. */
void tensordiff_find_index(const struct tensordiff *diff, int64_t index, int64_t *at);
/* Appends "[3, 8]". */
void tensordiff_append_index(struct buffer *out, const struct tensordiff *diff, int64_t index);
/* Appends "[3, 8]: nan and 0.3577". */
void tensordiff_append_place(struct buffer *out, const struct tensordiff *diff,
			     const struct tensordiff_place *place);
/*
 * Appends "12 of 256 elements differ, first at [3, 8]: nan and 0.3577; max
 * |difference| 0.02 at [4, 0]".
 */
void tensordiff_append(struct buffer *out, const struct tensordiff *diff);

#endif
