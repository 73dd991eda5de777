/*
 * stacktree: the stacks of many ranks merged from the outermost frame inwards (the prefix
 * tree of Arnold et al., "Stack Trace Analysis for Large Scale Debugging", IPDPS 2007),
 * so that a fork shows where the ranks' stacks differ.
 *
 * With STACKTREE_LINE, a function whose ranks are at different lines gets one node for the function
 * (lineno 0) and a child node for each line. Frames of library decorators are left out, and so are
 * frames of probetui's agent except the outermost. Native frames are included if the session shows
 * them.
 */
#ifndef MODEL_STACKTREE_H
#define MODEL_STACKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/rankset.h"
#include "protocol/stack.h"

struct session;
struct stack;

enum stacktree_granularity {
	STACKTREE_LINE,
	STACKTREE_FUNCTION,
	STACKTREE_FILE,
};

struct stacktree_node {
	struct frame frame; /* lineno 0: the ranks below are at different lines */
	struct rankset ranks;
	size_t rank_count;
	bool is_split;	 /* the children are lines of this function */
	bool is_outlier; /* all ranks of the node are outliers */
	bool is_user;
	struct stacktree_node **children; /* most ranks first */
	size_t child_count;
	size_t child_capacity;
};

/*
 * Makes the tree of the stacks of the verdict's classes; if no rank is alive, of the stacks sampled
 * last. The root has no frame (code NULL). Free the tree with stacktree_free().
 */
struct stacktree_node *stacktree_new(const struct session *session,
				     enum stacktree_granularity granularity);
/* True if no rank is alive: the tree has the last stacks sampled. */
bool stacktree_is_last(const struct session *session);
/* stacktree_new() for these ranks only; ranks NULL: all ranks. */
struct stacktree_node *stacktree_new_of(const struct session *session,
					enum stacktree_granularity granularity,
					const struct rankset *ranks);
/* stacktree_new_of() with the stacks sampled last, also of ranks that have ended. */
struct stacktree_node *stacktree_new_last(const struct session *session,
					  enum stacktree_granularity granularity,
					  const struct rankset *ranks);
void stacktree_free(struct stacktree_node *root);

/* One row of the drawn tree; prefix is the lines drawn in front of the frame ("│ └ "). */
struct stacktree_row {
	const struct stacktree_node *node;
	char prefix[256]; /* UTF-8 box characters */
	int depth;
};
/*
 * Returns the rows in drawing order; free() them. A child of a fork is indented one level more than
 * the fork; a chain of nodes without a fork stays at one level.
 */
struct stacktree_row *stacktree_rows(const struct stacktree_node *root, size_t *count);

/*
 * stackkey: a number that is equal for equal stacks of the session's ranks, even on different
 * machines.
 */

uint64_t stackkey_of(const struct session *session, const struct stack *stack);

/*
 * stackdiff: two stacks side by side, aligned by a longest common subsequence over (function,
 * file), outermost frame first.
 */

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
	/* index of the last row before the first difference; -1: the first rows differ */
	int fork;
};

/* Fills *diff (uninitialised); clear it afterwards. Frames are borrowed from both stacks. */
void stackdiff_make(struct stackdiff *diff, const struct stack *a, const struct stack *b);
void stackdiff_clear(struct stackdiff *diff);

#endif
