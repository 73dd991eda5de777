/*
 * tensor-compare: reads what two ranks have in one tensor, wherever they run, and
 * compares it: hashes of blocks of both first, then only the elements of
 * blocks that differ, a part at a time. What is read is bounded; the result
 * says what was not compared.
 */
#ifndef ENGINE_TENSOR_COMPARE_H
#define ENGINE_TENSOR_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tensordiff.h"

struct engine;

/* Of each rank; what differs behind it is not looked at. */
#define TENSOR_COMPARE_BYTES_MAXIMUM (64 << 20)

struct tensor_compare;

struct tensor_compare_question {
	int rank;
	int against;
	const char *expression;
	int row_count; /* the largest grid of counts */
	int column_count;
};

/* More was compared, or it is over: tensor_compare_free() may be called. */
typedef void comparison_moved(struct engine *engine, void *data);

/* Asks for the hashes. It may be over at once: then moved() is not called. */
struct tensor_compare *tensor_compare_new(struct engine *engine,
					  const struct tensor_compare_question *question,
					  comparison_moved *moved, void *data);
/* Answers still to come are dropped. NULL is fine. */
void tensor_compare_free(struct tensor_compare *comparison);
bool tensor_compare_is_over(const struct tensor_compare *comparison);
/* Lends why it failed; NULL: it did not. */
const char *tensor_compare_error(const struct tensor_compare *comparison);
/* Bytes read, and to be read; 0, 0: not known yet. */
void tensor_compare_progress(const struct tensor_compare *comparison, int64_t *done,
			     int64_t *total);
/* Passes out what was found; all zero where it failed. */
void tensor_compare_take(struct tensor_compare *comparison, struct tensordiff *found);

#endif
