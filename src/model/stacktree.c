/*
 * stacktree: merges the stacks of many ranks into a tree. For each class of equal stacks, one walk
 * from the outermost frame inwards adds the class's ranks to the nodes on the path. With
 * STACKTREE_LINE, a node begins as one line of a function. When another line of the function is
 * added, the node is split: the node becomes the function's node, its former content moves to a new
 * child, and the other line becomes a second child. Nothing here recurses, since a stack may be
 * 20,000 frames deep.
 */
#include "model/stacktree.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/map.h"
#include "model/place.h"
#include "model/session.h"
#include "protocol/stack.h"

#define FORK "├ "
#define LAST "└ "
#define PASSING "│ "
#define BLANK "  "

/* Stack of nodes still to be visited, deepest last. */
struct node_list {
	struct stacktree_node **items;
	size_t count;
	size_t capacity;
};

static void stacktree_push(struct node_list *list, struct stacktree_node *node)
{
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = node;
}

static struct stacktree_node *stacktree_add_child(struct stacktree_node *parent,
						  const struct frame *frame)
{
	struct stacktree_node *node = xcalloc(1, sizeof(*node));

	node->frame = *frame;
	ARRAY_GROW(parent->children, parent->child_count, parent->child_capacity);
	parent->children[parent->child_count++] = node;
	return node;
}

static bool stacktree_is_same(const struct code *a, const struct code *b,
			      enum stacktree_granularity granularity)
{
	if (a == b)
		return true;
	if (granularity != STACKTREE_FILE && strcmp(a->func, b->func) != 0)
		return false;
	return strcmp(a->file, b->file) == 0;
}

static struct stacktree_node *stacktree_find_line(struct stacktree_node *function,
						  const struct frame *frame)
{
	for (size_t i = 0; i < function->child_count; i++) {
		if (function->children[i]->frame.lineno == frame->lineno)
			return function->children[i];
	}
	return NULL;
}

/* Makes the node a function's node; its line, ranks and children move to a new child. */
static void stacktree_split(struct stacktree_node *node)
{
	struct stacktree_node *line = xcalloc(1, sizeof(*line));

	line->frame = node->frame;
	rankset_copy(&line->ranks, &node->ranks);
	line->is_user = node->is_user;
	line->children = node->children;
	line->child_count = node->child_count;
	line->child_capacity = node->child_capacity;
	node->children = NULL;
	node->child_count = 0;
	node->child_capacity = 0;
	node->frame.lineno = 0;
	node->is_split = true;
	ARRAY_GROW(node->children, node->child_count, node->child_capacity);
	node->children[node->child_count++] = line;
}

static void stacktree_add_ranks(struct stacktree_node *node, const struct rankset *ranks)
{
	for (size_t i = 0; i < ranks->range_count; i++)
		rankset_add_range(&node->ranks, ranks->ranges[i].first, ranks->ranges[i].last);
}

struct walk {
	const struct process *process;
	const struct rankset *ranks;
	enum stacktree_granularity granularity;
};

static struct stacktree_node *stacktree_visit(const struct walk *walk, struct stacktree_node *node,
					      bool is_user)
{
	node->is_user = is_user;
	stacktree_add_ranks(node, walk->ranks);
	return node;
}

/* Returns frame's node below parent (added or split if needed), with the walk's ranks added. */
static struct stacktree_node *stacktree_step(const struct walk *walk, struct stacktree_node *parent,
					     const struct frame *frame)
{
	bool is_user = place_is_user(walk->process, frame);
	struct stacktree_node *node = NULL;
	struct stacktree_node *line;

	for (size_t i = 0; i < parent->child_count && !node; i++) {
		if (stacktree_is_same(parent->children[i]->frame.code, frame->code,
				      walk->granularity))
			node = parent->children[i];
	}
	if (!node)
		return stacktree_visit(walk, stacktree_add_child(parent, frame), is_user);
	if (!node->is_split && node->frame.lineno == frame->lineno)
		return stacktree_visit(walk, node, is_user);
	if (!node->is_split)
		stacktree_split(node);
	stacktree_visit(walk, node, is_user);
	line = stacktree_find_line(node, frame);
	if (!line)
		line = stacktree_add_child(node, frame);
	return stacktree_visit(walk, line, is_user);
}

static void stacktree_add_stack(struct stacktree_node *root, const struct walk *walk,
				const struct stack *stack)
{
	struct stacktree_node *node = root;

	stacktree_add_ranks(root, walk->ranks);
	for (size_t i = stack->frame_count; i-- > 0;) {
		struct frame frame = stack->frames[i];

		if (place_is_wrapper(&frame) || place_is_within_agent(stack, i))
			continue;
		if (walk->granularity != STACKTREE_LINE)
			frame.lineno = 0;
		if (walk->granularity == STACKTREE_FILE && node != root &&
		    stacktree_is_same(node->frame.code, frame.code, STACKTREE_FILE))
			continue;
		node = stacktree_step(walk, node, &frame);
	}
}

static int compare_nodes(const void *left, const void *right)
{
	const struct stacktree_node *a = *(const struct stacktree_node *const *)left;
	const struct stacktree_node *b = *(const struct stacktree_node *const *)right;
	int first_a = rankset_first(&a->ranks);
	int first_b = rankset_first(&b->ranks);

	if (a->rank_count != b->rank_count)
		return a->rank_count > b->rank_count ? -1 : 1;
	if (first_a != first_b)
		return first_a < first_b ? -1 : 1;
	return a->frame.lineno - b->frame.lineno;
}

static bool stacktree_is_within(const struct rankset *part, const struct rankset *whole)
{
	for (int rank = rankset_next(part, -1); rank >= 0; rank = rankset_next(part, rank)) {
		if (!rankset_contains(whole, rank))
			return false;
	}
	return part->range_count > 0;
}

/* Computes counts and outliers and sorts the children, after all stacks were added. */
static void stacktree_finish(struct stacktree_node *root, const struct rankset *outliers)
{
	struct node_list list = { .items = NULL };

	root->rank_count = rankset_count(&root->ranks);
	stacktree_push(&list, root);
	while (list.count > 0) {
		struct stacktree_node *node = list.items[--list.count];

		for (size_t i = 0; i < node->child_count; i++) {
			struct stacktree_node *child = node->children[i];

			child->rank_count = rankset_count(&child->ranks);
			child->is_outlier = stacktree_is_within(&child->ranks, outliers);
			stacktree_push(&list, child);
		}
		if (node->child_count > 1)
			qsort(node->children, node->child_count, sizeof(*node->children),
			      compare_nodes);
	}
	free(list.items);
}

/*
 * Adds the shown stack of each rank separately, because ranks with equal Python stacks may have
 * different native frames.
 */
static void add_shown(struct stacktree_node *root, const struct session *session,
		      const struct rankset *ranks, enum stacktree_granularity granularity)
{
	for (int number = rankset_first(ranks); number >= 0; number = rankset_next(ranks, number)) {
		const struct rank *rank = session_find_rank(session, number);
		const struct stack *stack =
			rank ? session_shown_stack(session, rank_main_thread(rank)) : NULL;
		struct rankset one = RANKSET_INIT;
		struct walk walk = { .ranks = &one, .granularity = granularity };

		if (!stack)
			continue;
		rankset_add(&one, number);
		walk.process = &rank->process;
		stacktree_add_stack(root, &walk, stack);
		rankset_clear(&one);
	}
}

static void stacktree_add_class(struct stacktree_node *root, const struct session *session,
				const struct rank_class *class,
				enum stacktree_granularity granularity,
				const struct rankset *chosen)
{
	struct rankset ranks = RANKSET_INIT;
	const struct rank *first;
	struct walk walk = { .ranks = &ranks, .granularity = granularity };

	rankset_copy(&ranks, &class->ranks);
	if (chosen)
		rankset_intersect(&ranks, chosen);
	first = session_find_rank(session, rankset_first(&ranks));
	if (class->stack && session->choice.shows_native) {
		add_shown(root, session, &ranks, granularity);
	} else if (class->stack && first) {
		walk.process = &first->process;
		stacktree_add_stack(root, &walk, class->stack);
	}
	rankset_clear(&ranks);
}

struct stacktree_node *stacktree_new_of(const struct session *session,
					enum stacktree_granularity granularity,
					const struct rankset *ranks)
{
	struct stacktree_node *root = xcalloc(1, sizeof(*root));
	const struct verdict *verdict = &session->verdict;

	for (size_t i = 0; i < verdict->class_count; i++)
		stacktree_add_class(root, session, &verdict->classes[i], granularity, ranks);
	stacktree_finish(root, &verdict->outliers);
	return root;
}

static void stacktree_add_rank(struct stacktree_node *root, const struct rank *rank,
			       enum stacktree_granularity granularity)
{
	const struct stack *stack = rank_last_stack(rank);
	struct rankset ranks = RANKSET_INIT;
	struct walk walk = {
		.ranks = &ranks,
		.process = &rank->process,
		.granularity = granularity,
	};

	if (!stack)
		return;
	rankset_add(&ranks, rank->process.rank);
	stacktree_add_stack(root, &walk, stack);
	rankset_clear(&ranks);
}

struct stacktree_node *stacktree_new_last(const struct session *session,
					  enum stacktree_granularity granularity,
					  const struct rankset *ranks)
{
	struct stacktree_node *root = xcalloc(1, sizeof(*root));

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (!ranks || rankset_contains(ranks, rank->process.rank))
			stacktree_add_rank(root, rank, granularity);
	}
	stacktree_finish(root, &session->verdict.outliers);
	return root;
}

bool stacktree_is_last(const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		if (session->ranks[i]->state != RANK_EXITED &&
		    session->ranks[i]->state != RANK_NOT_FOUND)
			return false;
	}
	return session->rank_count > 0;
}

struct stacktree_node *stacktree_new(const struct session *session,
				     enum stacktree_granularity granularity)
{
	if (stacktree_is_last(session))
		return stacktree_new_last(session, granularity, NULL);
	return stacktree_new_of(session, granularity, NULL);
}

void stacktree_free(struct stacktree_node *root)
{
	struct node_list list = { .items = NULL };

	if (root)
		stacktree_push(&list, root);
	while (list.count > 0) {
		struct stacktree_node *node = list.items[--list.count];

		for (size_t i = 0; i < node->child_count; i++)
			stacktree_push(&list, node->children[i]);
		rankset_clear(&node->ranks);
		free(node->children);
		free(node);
	}
	free(list.items);
}

struct row_list {
	struct stacktree_row *rows;
	size_t count;
	size_t capacity;
};

/* A node whose row has not been made yet. */
struct pending {
	const struct stacktree_node *node;
	size_t parent_row; /* index of the parent's row; SIZE_MAX: child of the root */
	bool is_last;
	bool is_only;	 /* the parent has no other child */
	bool is_chained; /* the parent is an only child, too */
};

struct pending_list {
	struct pending *items;
	size_t count;
	size_t capacity;
};

static void push_children(struct pending_list *list, const struct stacktree_node *node,
			  const struct pending *parent, size_t row)
{
	bool is_only = parent && node->child_count == 1;

	for (size_t i = node->child_count; i-- > 0;) {
		ARRAY_GROW(list->items, list->count, list->capacity);
		list->items[list->count++] = (struct pending){
			.node = node->children[i],
			.parent_row = row,
			.is_last = i == node->child_count - 1,
			.is_only = is_only,
			.is_chained = is_only && parent->is_only,
		};
	}
}

/*
 * Makes the prefix of rows below a row with the prefix above: the last branch of above becomes a
 * vertical line, or blanks. Returns the prefix's length.
 */
static size_t continue_prefix(char *prefix, size_t size, const char *above)
{
	size_t length = strlen(above);
	const char *end = above + length - strlen(FORK);
	const char *below = "";

	if (length >= strlen(FORK) && strcmp(end, FORK) == 0)
		below = PASSING;
	else if (length >= strlen(LAST) && strcmp(end, LAST) == 0)
		below = BLANK;
	if (below[0])
		length -= strlen(FORK);
	snprintf(prefix, size, "%.*s%s", (int)length, above, below);
	return strlen(prefix);
}

static void stacktree_add_row(struct row_list *list, const struct pending *pending)
{
	struct stacktree_row *row;
	struct stacktree_row above;
	const char *branch = pending->is_last ? LAST : FORK;
	size_t length;

	ARRAY_GROW(list->rows, list->count, list->capacity);
	row = &list->rows[list->count++];
	*row = (struct stacktree_row){ .node = pending->node };
	if (pending->parent_row == SIZE_MAX)
		return;
	above = list->rows[pending->parent_row];
	row->depth = above.depth + !pending->is_chained;
	length = continue_prefix(row->prefix, sizeof(row->prefix), above.prefix);
	/* If the prefix is full, deeper forks are drawn at the same depth. */
	if (!pending->is_chained && length + strlen(branch) < sizeof(row->prefix))
		memcpy(row->prefix + length, branch, strlen(branch) + 1);
}

struct stacktree_row *stacktree_rows(const struct stacktree_node *root, size_t *count)
{
	struct row_list rows = { .rows = NULL };
	struct pending_list list = { .items = NULL };

	push_children(&list, root, NULL, SIZE_MAX);
	while (list.count > 0) {
		struct pending pending = list.items[--list.count];

		stacktree_add_row(&rows, &pending);
		push_children(&list, pending.node, &pending, rows.count - 1);
	}
	free(list.items);
	*count = rows.count;
	return rows.rows;
}

uint64_t stackkey_of(const struct session *session, const struct stack *stack)
{
	uint64_t hash = HASH_START;

	/*
	 * A node's table has each stack once, so the stack's address is the key. Stacks of several
	 * nodes are hashed.
	 */
	if (session->node_count <= 1)
		return (uint64_t)(uintptr_t)stack;
	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct frame *frame = &stack->frames[i];

		hash = hash_text(hash, frame->code->func);
		hash = hash_text(hash, frame->code->file);
		hash = hash_number(hash, (uint64_t)frame->lineno);
	}
	return hash;
}

/*
 * stackdiff: aligns the frames of two stacks. The frames that both stacks share at either end are
 * matched first, since deep stacks differ in few frames. The middle is aligned with the textbook
 * table of longest common subsequences; if the table would be too large (two deep recursions), all
 * middle frames are '-' and '+' rows.
 */

/* Limit of table cells, four bytes each. */
#define TABLE_MAXIMUM ((size_t)4 << 20)

/* State of one alignment; indices of frames in a and b count from the outermost frame. */
struct aligner {
	const struct stack *a;
	const struct stack *b;
	struct stackdiff *diff;
};

static const struct frame *frame_at(const struct stack *stack, size_t i)
{
	return &stack->frames[stack->frame_count - 1 - i];
}

static bool stackdiff_is_same_function(const struct frame *a, const struct frame *b)
{
	return a->code == b->code || (strcmp(a->code->func, b->code->func) == 0 &&
				      strcmp(a->code->file, b->code->file) == 0);
}

static bool agree(const struct aligner *aligner, size_t i, size_t j)
{
	return stackdiff_is_same_function(frame_at(aligner->a, i), frame_at(aligner->b, j));
}

static struct stackdiff_row *stackdiff_add_row(struct stackdiff *diff, char op)
{
	struct stackdiff_row *row = &diff->rows[diff->row_count++];

	*row = (struct stackdiff_row){ .op = op };
	return row;
}

static void add_a(struct aligner *aligner, size_t i)
{
	struct stackdiff_row *row = stackdiff_add_row(aligner->diff, '-');

	row->a = frame_at(aligner->a, i);
	row->a_depth = aligner->a->frame_count - 1 - i;
}

static void add_b(struct aligner *aligner, size_t j)
{
	struct stackdiff_row *row = stackdiff_add_row(aligner->diff, '+');

	row->b = frame_at(aligner->b, j);
	row->b_depth = aligner->b->frame_count - 1 - j;
}

static void add_both(struct aligner *aligner, size_t i, size_t j)
{
	struct stackdiff_row *row = stackdiff_add_row(aligner->diff, '=');

	row->a = frame_at(aligner->a, i);
	row->a_depth = aligner->a->frame_count - 1 - i;
	row->b = frame_at(aligner->b, j);
	row->b_depth = aligner->b->frame_count - 1 - j;
	if (row->a->lineno != row->b->lineno)
		row->op = '~';
}

/*
 * lengths[i * (b_count + 1) + j] is the length of the longest common subsequence of a's frames from
 * i on and b's frames from j on.
 */
static uint32_t *common_lengths(const struct aligner *aligner, size_t start, size_t a_count,
				size_t b_count)
{
	size_t width = b_count + 1;
	uint32_t *lengths = xcalloc((a_count + 1) * width, sizeof(*lengths));

	for (size_t i = a_count; i-- > 0;) {
		uint32_t *row = lengths + i * width;
		const uint32_t *below = row + width;

		for (size_t j = b_count; j-- > 0;) {
			if (agree(aligner, start + i, start + j))
				row[j] = below[j + 1] + 1;
			else if (below[j] >= row[j + 1])
				row[j] = below[j];
			else
				row[j] = row[j + 1];
		}
	}
	return lengths;
}

static void align_middle(struct aligner *aligner, size_t start, size_t a_count, size_t b_count)
{
	size_t width = b_count + 1;
	uint32_t *lengths = NULL;
	size_t i = 0;
	size_t j = 0;

	if ((a_count + 1) * width <= TABLE_MAXIMUM)
		lengths = common_lengths(aligner, start, a_count, b_count);
	while (lengths && i < a_count && j < b_count) {
		if (agree(aligner, start + i, start + j))
			add_both(aligner, start + i++, start + j++);
		else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])
			add_a(aligner, start + i++);
		else
			add_b(aligner, start + j++);
	}
	while (i < a_count)
		add_a(aligner, start + i++);
	while (j < b_count)
		add_b(aligner, start + j++);
	free(lengths);
}

void stackdiff_make(struct stackdiff *diff, const struct stack *a, const struct stack *b)
{
	struct aligner aligner = { .a = a, .b = b, .diff = diff };
	size_t shorter = a->frame_count < b->frame_count ? a->frame_count : b->frame_count;
	size_t prefix = 0;
	size_t suffix = 0;

	diff->row_count = 0;
	diff->fork = -1;
	diff->rows = xcalloc(a->frame_count + b->frame_count + 1, sizeof(*diff->rows));
	while (prefix < shorter && agree(&aligner, prefix, prefix))
		prefix++;
	while (suffix < shorter - prefix &&
	       agree(&aligner, a->frame_count - 1 - suffix, b->frame_count - 1 - suffix))
		suffix++;
	for (size_t i = 0; i < prefix; i++)
		add_both(&aligner, i, i);
	align_middle(&aligner, prefix, a->frame_count - prefix - suffix,
		     b->frame_count - prefix - suffix);
	for (size_t i = suffix; i > 0; i--)
		add_both(&aligner, a->frame_count - i, b->frame_count - i);
	for (size_t i = 0; i < diff->row_count; i++) {
		if (diff->rows[i].op == '=' || diff->rows[i].op == '~')
			diff->fork = (int)i;
		else
			break;
	}
}

void stackdiff_clear(struct stackdiff *diff)
{
	free(diff->rows);
	*diff = (struct stackdiff){ .fork = -1 };
}
