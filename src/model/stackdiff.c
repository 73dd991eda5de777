/*
 * stackdiff: the frames that both stacks share at either end are matched first, since
 * deep stacks differ in few frames. The middle is aligned with the textbook table of
 * longest common subsequences; if the table would be too large (two deep recursions), all
 * middle frames are '-' and '+' rows.
 */
#include "model/stackdiff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"

/* Limit of table cells, four bytes each. */
#define TABLE_MAXIMUM ((size_t)4 << 20)

/* Indices i of both stacks count from the outermost frame. */
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

/* lengths[i * (b_count + 1) + j]: length of the common subsequence of a from i on and b from j
 * on. */
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
