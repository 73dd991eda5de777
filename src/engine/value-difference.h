/*
 * value-difference: compares the tensors of pairs of ranks in the session's answers element by
 * element (engine/tensor-compare.h); results go to the answers (model/difference.h) as they become
 * known.
 */
#ifndef ENGINE_VALUE_DIFFERENCE_H
#define ENGINE_VALUE_DIFFERENCE_H

#include <stddef.h>

struct engine;
struct error;

/* Running comparisons. All zero: none. */
struct value_difference {
	struct value_difference_pair **pairs;
	size_t count;
	size_t capacity;
};

void value_difference_clear(struct engine *engine);
/*
 * Compares rank's tensor with against's, both of the session's answers; repeats an earlier
 * comparison. -1 and a sentence: the two have no tensors of one dtype and shape.
 */
int value_difference_begin(struct engine *engine, int rank, int against, struct error *error);
/* Cancels the comparison; its state becomes failed. */
void value_difference_cancel(struct engine *engine, int rank, int against);
/*
 * Compares one rank of each class with the reference class: the majority, or the largest class;
 * skips classes that were compared already or cannot be compared.
 */
void value_difference_begin_all(struct engine *engine);
/* Shell: waits for all comparisons; a late one fails with a sentence. */
void value_difference_wait(struct engine *engine);

#endif
