/*
 * value-difference: how the ranks that were asked last differ, element by element:
 * pairs of them (engine/tensor-compare.h), whose results stand with the answers
 * (model/difference.h) as they become known.
 */
#ifndef ENGINE_VALUE_DIFFERENCE_H
#define ENGINE_VALUE_DIFFERENCE_H

#include <stddef.h>

struct engine;
struct error;

/* Pairs that are being read. All zero: none. */
struct value_difference {
	struct value_difference_pair **pairs;
	size_t count;
	size_t capacity;
};

void value_difference_clear(struct engine *engine);
/*
 * Compares one rank's tensor with another's, of the session's answers; anew
 * where that was done before. -1 and a sentence: they have no tensors of one
 * dtype and shape.
 */
int value_difference_begin(struct engine *engine, int rank, int against, struct error *error);
/* It is not read on, and says that it was given up. */
void value_difference_cancel(struct engine *engine, int rank, int against);
/*
 * The same of each class of the answers and the majority, or the largest one,
 * as far as they have tensors that can be compared, and that was not done.
 */
void value_difference_begin_all(struct engine *engine);
/* In a shell: waits for all; who is late fails with a sentence. */
void value_difference_wait(struct engine *engine);

#endif
