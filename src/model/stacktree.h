/*
 * stacktree: the stacks of many ranks merged from the outermost frame inwards
 * (the prefix tree of Arnold et al., "Stack Trace Analysis for Large Scale
 * Debugging", IPDPS 2007), so that a fork is where ranks part.
 *
 * By line, a function whose ranks are at different lines gets one node for
 * the function (lineno 0) and one below it for each line. Frames that only
 * wrap another library's function (decorators) are left out, and so are those
 * of our agent but its outermost. Native frames are in where the session shows
 * them.
 */
#ifndef MODEL_STACKTREE_H
#define MODEL_STACKTREE_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/rankset.h"
#include "protocol/stack.h"

struct session;

enum stacktree_granularity {
	STACKTREE_LINE,
	STACKTREE_FUNCTION,
	STACKTREE_FILE,
};

struct stacktree_node {
	struct frame frame; /* lineno 0: the ranks below part here */
	struct rankset ranks;
	size_t rank_count;
	bool is_split;	 /* its children are its lines */
	bool is_outlier; /* all its ranks are outliers */
	bool is_user;
	struct stacktree_node **children; /* largest first */
	size_t child_count;
	size_t child_capacity;
};

/*
 * Of the classes of the session's verdict; where no rank lives, as they were
 * seen last. The root has no frame (code NULL). Free with stacktree_free.
 */
struct stacktree_node *stacktree_new(const struct session *session,
				     enum stacktree_granularity granularity);
/* No rank lives: what is shown are the last stacks that were seen. */
bool stacktree_is_last(const struct session *session);
/* The same of some ranks only; NULL: of all. */
struct stacktree_node *stacktree_new_of(const struct session *session,
					enum stacktree_granularity granularity,
					const struct rankset *ranks);
/* The same of ranks as they were seen last, those that have ended too. */
struct stacktree_node *stacktree_new_last(const struct session *session,
					  enum stacktree_granularity granularity,
					  const struct rankset *ranks);
void stacktree_free(struct stacktree_node *root);

/* One row of the drawn tree; prefix is the lines in front ("│ └ "). */
struct stacktree_row {
	const struct stacktree_node *node;
	char prefix[256]; /* UTF-8 box characters */
	int depth;
};
/*
 * Rows in drawing order. The first node below another is set in, a chain
 * without a fork below it stays at that depth. free().
 */
struct stacktree_row *stacktree_rows(const struct stacktree_node *root, size_t *count);

#endif
