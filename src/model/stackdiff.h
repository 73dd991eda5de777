/*
 * stackdiff: two stacks side by side, aligned by a longest common subsequence over
 * (function, file), outermost frame first.
 */
#ifndef MODEL_STACKDIFF_H
#define MODEL_STACKDIFF_H

#include <stddef.h>

#include "protocol/stack.h"

struct stackdiff_row {
	char op;	       /* '=' equal, '~' another line, '-' only in a, '+' only in b */
	const struct frame *a; /* borrowed from the stacks; NULL on '+' */
	const struct frame *b; /* borrowed; NULL on '-' */
	size_t a_depth;	       /* depth of the frame, 0: innermost */
	size_t b_depth;
};

struct stackdiff {
	struct stackdiff_row *rows;
	size_t row_count;
	/* index of the last row of the common prefix, behind which the stacks differ; -1 none */
	int fork;
};

/* Fills *diff (uninitialised); clear it afterwards. Frames are borrowed from both stacks. */
void stackdiff_make(struct stackdiff *diff, const struct stack *a, const struct stack *b);
void stackdiff_clear(struct stackdiff *diff);

#endif
