/*
 * tensor-compare: compares a tensor of two ranks, whether they run or are stopped: first hashes of
 * blocks, then only the elements of blocks that differ, one part at a time. The bytes read are
 * limited; the result says how many elements were not compared.
 */
#ifndef ENGINE_TENSOR_COMPARE_H
#define ENGINE_TENSOR_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tensordiff.h"

struct engine;

/* Limit of bytes read from each rank; elements beyond it are not compared. */
#define TENSOR_COMPARE_BYTES_MAXIMUM (64 << 20)

struct tensor_compare;

struct tensor_compare_question {
	int rank;
	int against; /* the rank that rank is compared with */
	const char *expression;
	int row_count; /* largest size of the grid of counts (heat map) */
	int column_count;
};

/*
 * Called when more elements were compared, or the comparison is over; may call
 * tensor_compare_free().
 */
typedef void comparison_moved(struct engine *engine, void *data);

/* Requests the hashes. The comparison may be over at once: then moved() is not called. */
struct tensor_compare *tensor_compare_new(struct engine *engine,
					  const struct tensor_compare_question *question,
					  comparison_moved *moved, void *data);
/* Drops answers still to come. comparison may be NULL. */
void tensor_compare_free(struct tensor_compare *comparison);
bool tensor_compare_is_over(const struct tensor_compare *comparison);
/* Why the comparison failed, borrowed; NULL: it has not failed. */
const char *tensor_compare_error(const struct tensor_compare *comparison);
/* Bytes read so far, and bytes to read; 0 and 0: not known yet. */
void tensor_compare_progress(const struct tensor_compare *comparison, int64_t *done,
			     int64_t *total);
/* Moves the result to *found; all zero if the comparison failed. */
void tensor_compare_take(struct tensor_compare *comparison, struct tensordiff *found);

#endif
