/*
 * tensordiff: compares two tensors of the same shape and dtype block by block; finds the number of
 * different elements, the first and the largest difference, and a coarse grid for a heat map.
 * Blocks are the bytes that a `data` request returns; blocks with equal hashes are equal and need
 * not be read.
 */
#ifndef MODEL_TENSORDIFF_H
#define MODEL_TENSORDIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/tensor.h"

struct answer_class;
struct answers;
struct buffer;
struct error;

/* Beginning of the reasons why two tensors are not compared. */
#define CANNOT_COMPARE "cannot compare element by element: "

#define TENSORDIFF_ROWS_MAXIMUM 256
#define TENSORDIFF_COLUMNS_MAXIMUM 1024

/* One element, with its values in both tensors. */
struct tensordiff_place {
	int64_t index;			 /* flat index; -1: none */
	struct tensor_number numbers[2]; /* kind UNKNOWN: the dtype has no numbers */
};

struct tensordiff {
	char *dtype; /* NULL: not begun */
	int dimension_count;
	int64_t shape[TENSOR_DIMENSIONS];
	int64_t element_count;
	int64_t item_size;
	int64_t compared;  /* number of compared elements */
	int64_t differing; /* number of elements whose bits differ; NaN is compared by its bits,
			    * too */
	int64_t unlike;	   /* number of different elements that are NaN or infinite in a or b */
	struct tensordiff_place first;
	struct tensordiff_place farthest; /* largest |difference| of finite numbers */
	double maximum;			  /* |difference| of farthest; NaN: unknown, or no
					   * difference */
	bool is_torn;			  /* a tensor was written to during the reads */
	/*
	 * The largest |difference| in each cell of the grid, row by row; NaN: an element is not
	 * finite in a or b; -1: not read. The last dimension runs along the columns, all other
	 * dimensions along the rows.
	 */
	double *grid;
	int row_count;
	int column_count;
};

void tensordiff_clear(struct tensordiff *diff);
/*
 * Starts the comparison of a and b, with a grid of at most row_count * column_count cells; 0: no
 * grid. Returns 0; -1 and *error: different dtype or shape.
 */
int tensordiff_begin(struct tensordiff *diff, const struct tensor *a, const struct tensor *b,
		     int row_count, int column_count, struct error *error);
/* Notes that count elements, from index start on, are equal in both tensors. */
void tensordiff_add_same(struct tensordiff *diff, int64_t start, int64_t count);
/*
 * Compares count elements, from index start on, of item_size bytes each; call it with rising start.
 */
void tensordiff_add(struct tensordiff *diff, int64_t start, const uint8_t *a, const uint8_t *b,
		    int64_t count);
/* True if not all elements were compared. */
bool tensordiff_is_partial(const struct tensordiff *diff);
/* True if all elements were compared and no |difference| exceeds tolerance. */
bool tensordiff_is_within(const struct tensordiff *diff, double tolerance);
/* Converts a flat index to at[], one index for each dimension. */
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

/*
 * difference: the elementwise comparison of one rank's tensor with another rank's, mostly a rank of
 * the majority, and the progress of this comparison. struct answers owns the differences
 * (model/answers.h); the engine makes and fills them (engine/tensor-compare.h).
 */

enum difference_state {
	DIFFERENCE_READING,
	DIFFERENCE_DONE,
	DIFFERENCE_FAILED, /* error has the reason */
};

struct difference {
	int rank;
	int against;
	enum difference_state state;
	char *error;   /* a sentence; NULL: none */
	int64_t done;  /* bytes read so far */
	int64_t total; /* bytes to read; 0: unknown yet */
	struct tensordiff found;
};

void difference_clear(struct difference *difference);
/* Returns the difference of these two ranks, borrowed; NULL: they are not compared. */
struct difference *difference_find(const struct answers *answers, int rank, int against);
/* Returns an empty difference of these two ranks, borrowed; resets an old one of the same ranks. */
struct difference *difference_add(struct answers *answers, int rank, int against);
/* Returns the newest comparison between a rank of one class and a rank of the other; NULL: none. */
const struct difference *difference_of(const struct answers *answers,
				       const struct answer_class *one,
				       const struct answer_class *other);

#endif
