/*
 * tensor-compare: compares a tensor of two ranks, whether they run or are stopped: first hashes of
 * blocks, then only the elements of blocks that differ, one part at a time. The bytes read are
 * limited; the result says how many elements were not compared.
 */
#ifndef ENGINE_TENSOR_COMPARE_H
#define ENGINE_TENSOR_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tensordiff.h"

struct engine;
struct error;

/* Limit of bytes read from each rank; elements beyond it are not compared. */
#define TENSOR_COMPARE_BYTES_MAXIMUM (64 << 20)

struct tensor_compare;

struct tensor_compare_question {
	int rank;
	int against; /* the rank that rank is compared with */
	const char *expression;
	int row_count; /* row_count and column_count: maximum size of the grid (heat map) */
	int column_count;
};

/*
 * Called when more elements were compared, or when the comparison is over. The function may call
 * tensor_compare_free().
 */
typedef void comparison_moved(struct engine *engine, void *data);

/*
 * Starts a comparison: requests the hashes. If the comparison is over at once, moved() is not
 * called.
 */
struct tensor_compare *tensor_compare_new(struct engine *engine,
					  const struct tensor_compare_question *question,
					  comparison_moved *moved, void *data);
/* Drops answers still to come. comparison may be NULL. */
void tensor_compare_free(struct tensor_compare *comparison);
bool tensor_compare_is_over(const struct tensor_compare *comparison);
/* Why the comparison failed, borrowed; NULL: it has not failed. */
const char *tensor_compare_error(const struct tensor_compare *comparison);
/* Sets *done to the bytes read so far and *total to the bytes to read; both 0: not known yet. */
void tensor_compare_progress(const struct tensor_compare *comparison, int64_t *done,
			     int64_t *total);
/* Moves the result to *found; sets *found to zero if the comparison failed. */
void tensor_compare_take(struct tensor_compare *comparison, struct tensordiff *found);

/*
 * value_difference: compares the tensors of pairs of ranks in the session's answers element by
 * element; results go to the answers' differences (model/tensordiff.h) as they become known.
 */

/* Running comparisons. All zero: none. */
struct value_difference {
	struct value_difference_pair **pairs;
	size_t count;
	size_t capacity;
};

void value_difference_clear(struct engine *engine);
/*
 * Compares the tensor of rank with that of rank `against`, both from the session's answers, also if
 * the two were compared before. -1 and *error: they have no tensors of the same dtype and shape.
 */
int value_difference_begin(struct engine *engine, int rank, int against, struct error *error);
/* Cancels the comparison; its state becomes failed. */
void value_difference_cancel(struct engine *engine, int rank, int against);
/*
 * Compares one rank of each class with the reference class, answer_classes_reference(); skips
 * classes that were compared already or cannot be compared.
 */
void value_difference_begin_all(struct engine *engine);
/* In a shell: waits for all comparisons; one that is not over in time fails with a sentence. */
void value_difference_wait(struct engine *engine);

#endif
