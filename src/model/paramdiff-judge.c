/*
 * paramdiff-judge: finds the differences once all ranks have answered, and writes the sentences
 * about the differences.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/text.h"
#include "model/answers.h"
#include "model/paramdiff-private.h"
#include "model/paramdiff.h"

void paramdiff_copy_difference(struct answers *answers, const struct difference *difference)
{
	struct difference *copy = difference_add(answers, difference->rank, difference->against);

	*copy = *difference;
	copy->error = xstrdup_or_null(difference->error);
	copy->found.dtype = xstrdup_or_null(difference->found.dtype);
	/* The original owns the grid, and no pane draws a grid of the copy. */
	copy->found.grid = NULL;
	copy->found.row_count = 0;
	copy->found.column_count = 0;
}

/* Adds the ranks that answered completely. */
static void find_whole(const struct paramdiff *diff, struct rankset *whole)
{
	for (size_t i = 0; i < diff->rank_count; i++)
		if (diff->ranks[i].is_done && !diff->ranks[i].error)
			rankset_add(whole, diff->ranks[i].rank);
}

static void find_missing(struct paramdiff_row *row, const struct rankset *whole)
{
	rankset_copy(&row->missing, whole);
	for (size_t i = 0; i < row->class_count; i++)
		rankset_subtract(&row->missing, &row->classes[i].ranks);
}

static bool paramdiff_judge_is_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

struct replicas {
	const struct strmap *others;
	bool differ;
};

static void compare_replica(const char *shard, void *hash, void *data)
{
	struct replicas *replicas = data;
	const void *other = strmap_find(replicas->others, shard);

	replicas->differ = replicas->differ || (other && other != hash);
}

/* Compares the hashes of shards that both classes have. */
static enum paramdiff_how compare_shards(const struct paramdiff_class *one,
					 const struct paramdiff_class *other)
{
	struct replicas replicas = { .others = other->shards };

	if (!one->tensor.has_hash || !other->tensor.has_hash)
		return PARAMDIFF_UNREAD;
	strmap_each(one->shards, compare_replica, &replicas);
	return replicas.differ ? PARAMDIFF_REPLICAS : PARAMDIFF_SHARDED;
}

static enum paramdiff_how compare_two(const struct paramdiff_class *one,
				      const struct paramdiff_class *other)
{
	const struct tensor *a = &one->tensor;
	const struct tensor *b = &other->tensor;

	if (paramdiff_is_none(one) || paramdiff_is_none(other))
		return PARAMDIFF_MISSING;
	if (one->error || other->error)
		return PARAMDIFF_UNREAD;
	if (one->value || other->value)
		return PARAMDIFF_VALUES;
	if (!a->dtype || !b->dtype)
		return PARAMDIFF_UNREAD;
	if (strcmp(a->dtype, b->dtype) != 0)
		return PARAMDIFF_DTYPE;
	if (!paramdiff_judge_is_same_text(a->placement, b->placement))
		return PARAMDIFF_PLACEMENT;
	if (tensor_is_shard(a))
		return compare_shards(one, other);
	if (!tensor_has_same_shape(a, b))
		return PARAMDIFF_SHAPE;
	/* A tensor without a hash was not read, and may be equal. */
	return a->has_hash && b->has_hash ? PARAMDIFF_ELEMENTS : PARAMDIFF_UNREAD;
}

/* Returns the most important difference of a row: the lowest in the enumeration. */
static enum paramdiff_how judge_row(const struct paramdiff_row *row)
{
	const struct tensor *first = &row->classes[0].tensor;
	enum paramdiff_how how = PARAMDIFF_SAME;

	if (rankset_count(&row->missing) > 0)
		return PARAMDIFF_MISSING;
	if (row->class_count == 1 && paramdiff_is_none(&row->classes[0]))
		return PARAMDIFF_NONE;
	if (row->class_count == 1 && tensor_is_shard(first))
		return first->has_hash ? PARAMDIFF_SHARDED : PARAMDIFF_UNREAD;
	if (row->class_count == 1)
		return first->has_hash || row->classes[0].value ? PARAMDIFF_SAME : PARAMDIFF_UNREAD;
	for (size_t i = 1; i < row->class_count; i++) {
		enum paramdiff_how other = compare_two(&row->classes[0], &row->classes[i]);

		if (how == PARAMDIFF_SAME || other < how)
			how = other;
	}
	return how;
}

bool paramdiff_row_differs(const struct paramdiff_row *row)
{
	return row->how >= PARAMDIFF_MISSING && row->how <= PARAMDIFF_VALUES;
}

size_t paramdiff_differing(const struct paramdiff *diff)
{
	size_t count = 0;

	for (int i = PARAMDIFF_MISSING; i <= PARAMDIFF_VALUES; i++)
		count += diff->counts[i];
	return count;
}

static bool paramdiff_judge_has_nan(const struct paramdiff_class *class)
{
	return tensor_nan_count(&class->tensor) > 0 || tensor_infinity_count(&class->tensor) > 0;
}

bool paramdiff_row_is_odd(const struct paramdiff_row *row)
{
	for (size_t i = 0; i < row->class_count; i++)
		if (paramdiff_judge_has_nan(&row->classes[i]))
			return true;
	return paramdiff_row_differs(row);
}

size_t paramdiff_odd(const struct paramdiff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->row_count; i++)
		count += paramdiff_row_is_odd(&diff->rows[i]);
	return count;
}

bool paramdiff_is_finding(const struct paramdiff *diff)
{
	return paramdiff_differing(diff) > 0 || diff->nan_count > 0 ||
	       diff->reordered.range_count > 0;
}

void paramdiff_append_nan(struct buffer *out, const struct paramdiff_class *class)
{
	int64_t nan = tensor_nan_count(&class->tensor);
	int64_t infinite = tensor_infinity_count(&class->tensor);

	if (nan > 0)
		buffer_printf(out, "%" PRId64 " NaN", nan);
	if (nan > 0 && infinite > 0)
		buffer_append_string(out, ", ");
	if (infinite > 0)
		buffer_printf(out, "%" PRId64 " Inf", infinite);
}

/* If a class of the row has NaN, counts the row and adds the ranks of that class. */
static void find_nan(struct paramdiff *diff, size_t number)
{
	const struct paramdiff_row *row = &diff->rows[number];
	bool is_any = false;

	for (size_t i = 0; i < row->class_count; i++) {
		if (!paramdiff_judge_has_nan(&row->classes[i]))
			continue;
		rankset_unite(&diff->nan_ranks, &row->classes[i].ranks);
		is_any = true;
	}
	diff->nan_count += is_any;
	if (is_any && diff->first_nan < 0)
		diff->first_nan = (int64_t)number;
}

/* Sorts the rows: those of the first rank in that rank's order, then those of later ranks only. */
static void sort_rows(struct paramdiff *diff)
{
	struct paramdiff_row *sorted = xcalloc(diff->row_count + 1, sizeof(*sorted));
	uint32_t *moved = xcalloc(diff->row_count + 1, sizeof(*moved));
	size_t count = 0;

	for (size_t i = 0; i < diff->rank_count; i++) {
		const struct paramdiff_rank *rank = &diff->ranks[i];

		for (size_t j = 0; j < rank->count; j++) {
			if (moved[rank->rows[j]])
				continue;
			sorted[count++] = diff->rows[rank->rows[j]];
			moved[rank->rows[j]] = (uint32_t)count;
		}
	}
	for (size_t i = 0; i < diff->rank_count; i++)
		for (size_t j = 0; j < diff->ranks[i].count; j++)
			diff->ranks[i].rows[j] = moved[diff->ranks[i].rows[j]] - 1;
	free(moved);
	free(diff->rows);
	diff->rows = sorted;
	diff->row_capacity = diff->row_count + 1;
}

/*
 * True if the rank's rows are in another order than diff->rows; rows that some ranks lack are
 * ignored.
 */
static bool is_reordered(const struct paramdiff *diff, const struct paramdiff_rank *rank)
{
	uint32_t last = 0;

	for (size_t i = 0; i < rank->count; i++) {
		uint32_t row = rank->rows[i];

		if (rankset_count(&diff->rows[row].missing) > 0)
			continue;
		if (row < last)
			return true;
		last = row;
	}
	return false;
}

static uint64_t paramdiff_judge_mix(uint64_t hash, uint64_t number)
{
	/* FNV-1a, of 8 bytes at a time */
	return (hash ^ number) * UINT64_C(0x100000001b3);
}

/* Index of the row's class that the rank belongs to; class_count: none. */
static size_t paramdiff_judge_class_of(const struct paramdiff_row *row, int rank)
{
	size_t number = 0;

	while (number < row->class_count && !rankset_contains(&row->classes[number].ranks, rank))
		number++;
	return number;
}

static void paramdiff_judge_sign(const struct paramdiff *diff, struct paramdiff_rank *rank)
{
	rank->signature = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < rank->count; i++) {
		uint32_t row = rank->rows[i];

		rank->signature = paramdiff_judge_mix(rank->signature, row);
		/* An unread value may be equal: leave it out of the signature. */
		if (diff->rows[row].how != PARAMDIFF_UNREAD)
			rank->signature = paramdiff_judge_mix(
				rank->signature,
				paramdiff_judge_class_of(&diff->rows[row], rank->rank));
	}
}

bool paramdiff_is_whole(const struct paramdiff *diff, int rank)
{
	const struct paramdiff_rank *of = paramdiff_find_rank(diff, rank);

	return diff->is_over && of && !of->error && of->count > 0 &&
	       diff->counts[PARAMDIFF_UNREAD] == 0;
}

void paramdiff_judge(struct paramdiff *diff)
{
	struct rankset whole = RANKSET_INIT;

	find_whole(diff, &whole);
	sort_rows(diff);
	diff->first = -1;
	diff->first_nan = -1;
	diff->nan_count = 0;
	rankset_clear(&diff->nan_ranks);
	memset(diff->counts, 0, sizeof(diff->counts));
	for (size_t i = 0; i < diff->row_count; i++) {
		struct paramdiff_row *row = &diff->rows[i];

		find_missing(row, &whole);
		row->how = judge_row(row);
		diff->counts[row->how]++;
		find_nan(diff, i);
		if (diff->first < 0 && paramdiff_row_differs(row))
			diff->first = (int64_t)i;
	}
	for (size_t i = 0; i < diff->rank_count; i++) {
		paramdiff_judge_sign(diff, &diff->ranks[i]);
		if (!diff->ranks[i].error && is_reordered(diff, &diff->ranks[i]))
			rankset_add(&diff->reordered, diff->ranks[i].rank);
	}
	rankset_clear(&whole);
}

/* From here on: the sentence about the comparison. */

/* Number of rows with this difference (how) whose values are plain, not tensors. */
static size_t count_values(const struct paramdiff *diff, enum paramdiff_how how)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->row_count; i++)
		count += diff->rows[i].how == how && diff->rows[i].class_count > 0 &&
			 diff->rows[i].classes[0].value;
	return count;
}

/* Appends "3 tensors and 2 plain values". */
static void paramdiff_judge_append_kinds(struct buffer *out, size_t tensors, size_t values)
{
	if (tensors > 0) {
		text_count(out, tensors);
		buffer_append_string(out, tensors == 1 ? " tensor" : " tensors");
	}
	if (tensors > 0 && values > 0)
		buffer_append_string(out, " and ");
	if (values > 0) {
		text_count(out, values);
		buffer_append_string(out, values == 1 ? " plain value" : " plain values");
	}
}

static void append_what(struct buffer *out, const struct paramdiff *diff, size_t count)
{
	size_t values = count_values(diff, PARAMDIFF_SAME);

	if (values > 0) {
		paramdiff_judge_append_kinds(out, count - values, values);
	} else {
		text_count(out, count);
		if (diff->is_of_gradients)
			buffer_append_string(out, count == 1 ? " gradient" : " gradients");
		else
			buffer_append_string(out, count == 1 ? " parameter or buffer"
							     : " parameters and buffers");
	}
	buffer_append_string(out, " of ");
	text_append_line(out, diff->expression, strcspn(diff->expression, "\n"));
}

void paramdiff_absent(const struct paramdiff_row *row, struct rankset *absent)
{
	rankset_copy(absent, &row->missing);
	for (size_t i = 0; i < row->class_count; i++)
		if (paramdiff_is_none(&row->classes[i]))
			rankset_unite(absent, &row->classes[i].ranks);
}

/*
 * Appends that ranks lack the parameter while the values of other ranks differ; false: nothing was
 * appended.
 */
static bool paramdiff_judge_append_absent(struct buffer *out, const struct paramdiff *diff,
					  const struct paramdiff_row *row)
{
	struct rankset absent = RANKSET_INIT;
	struct rankset others = RANKSET_INIT;
	size_t values = 0;

	paramdiff_absent(row, &absent);
	for (size_t i = 0; i < row->class_count; i++) {
		if (paramdiff_is_none(&row->classes[i]))
			continue;
		rankset_unite(&others, &row->classes[i].ranks);
		values++;
	}
	if (rankset_count(&absent) > 0 && values > 1) {
		rankset_append_named(out, &absent);
		buffer_append_string(out, rankset_count(&absent) == 1 ? " has no " : " have no ");
		if (diff->is_of_gradients)
			buffer_append_string(out, "gradient of ");
		text_append_line(out, row->name, strcspn(row->name, "\n"));
		buffer_append_string(out, ", and the values of ");
		rankset_append_named(out, &others);
		buffer_append_string(out, " differ");
	}
	values = rankset_count(&absent) > 0 ? values : 0;
	rankset_clear(&absent);
	rankset_clear(&others);
	return values > 1;
}

/*
 * Appends where elements differ, unless the sentence that begins at start says where; a sentence
 * about NaN does not.
 */
static void paramdiff_judge_append_where(struct buffer *out, const struct paramdiff *diff,
					 size_t start)
{
	const struct difference *difference = &diff->difference;

	if (!diff->has_difference || difference->state != DIFFERENCE_DONE ||
	    strstr(out->data + start, "elements differ"))
		return;
	buffer_printf(out, "; rank %d against rank %d: ", difference->rank, difference->against);
	tensordiff_append(out, &difference->found);
}

/* Appends "w is Shard(1) of [8, 4] on rank 1, Shard(0) of [8, 4] on ranks 0,2"; false: the
 * placements are equal, and nothing was appended. */
static bool paramdiff_judge_append_placement(struct buffer *out, const struct paramdiff_row *row)
{
	const char *lead = " is ";

	if (row->how != PARAMDIFF_PLACEMENT)
		return false;
	text_append_line(out, row->name, strcspn(row->name, "\n"));
	for (size_t i = 0; i < row->class_count; i++) {
		const struct paramdiff_class *class = &row->classes[i];
		const char *placement = class->tensor.placement;

		buffer_append_string(out, lead);
		if (placement)
			text_append_line(out, placement, strlen(placement));
		else
			buffer_append_string(out, "not sharded");
		buffer_append_string(out, " on ");
		rankset_append_named(out, &class->ranks);
		lead = ", ";
	}
	return true;
}

static bool append_replicas(struct buffer *out, const struct paramdiff_row *row)
{
	if (row->how != PARAMDIFF_REPLICAS)
		return false;
	buffer_append_string(out, "replicas of one shard of ");
	text_append_line(out, row->name, strcspn(row->name, "\n"));
	buffer_append_string(out, " differ: ");
	for (size_t i = 1; i < row->class_count; i++) {
		buffer_append_string(out, i > 1 ? "; " : "");
		rankset_append_named(out, &row->classes[i].ranks);
	}
	buffer_append_string(out, " from ");
	rankset_append_named(out, &row->classes[0].ranks);
	return true;
}

static void append_first(struct buffer *out, const struct paramdiff *diff)
{
	const struct paramdiff_row *row = &diff->rows[diff->first];
	struct answers answers = { .question = NULL };
	struct answer_classes classes;
	size_t count = paramdiff_differing(diff);
	size_t start = out->length;

	paramdiff_to_answers(&answers, diff, row);
	answer_classes_make(&classes, &answers);
	if (paramdiff_judge_append_placement(out, row) || append_replicas(out, row))
		;
	else if (answer_classes_majority(&classes) ||
		 !paramdiff_judge_append_absent(out, diff, row))
		answer_classes_append_sentence(out, &classes, &answers);
	answer_classes_clear(&classes);
	answers_clear(&answers);
	paramdiff_judge_append_where(out, diff, start);
	if (count < 2)
		return;
	buffer_append_string(out, "; the first of ");
	text_count(out, count);
	buffer_append_string(out, " that differ");
}

/*
 * Returns the number of different shards of the row, 0: unknown; sets *ranks to the number of ranks
 * with a value.
 */
static size_t count_shards(const struct paramdiff_row *row, size_t *ranks)
{
	size_t count = 0;

	*ranks = 0;
	for (size_t i = 0; i < row->class_count; i++) {
		if (row->classes[i].shards)
			count += strmap_count(row->classes[i].shards);
		*ranks += rankset_count(&row->classes[i].ranks);
	}
	return count;
}

/* Appends whether the elements of shards were compared. */
static void append_replicated(struct buffer *out, const struct paramdiff *diff)
{
	bool has_replicas = false;
	bool is_known = true;

	for (size_t i = 0; i < diff->row_count; i++) {
		size_t ranks;
		size_t count;

		if (diff->rows[i].how != PARAMDIFF_SHARDED)
			continue;
		count = count_shards(&diff->rows[i], &ranks);
		is_known = is_known && count > 0;
		has_replicas = has_replicas || count < ranks;
	}
	if (!is_known)
		buffer_append_string(out, "; elements of shards are not compared");
	else if (has_replicas)
		buffer_append_string(out, "; replicas of a shard are the same");
}

/* Appends "4 parameters and buffers of model are shards with the same placement on ranks 0-3". */
static void append_sharded(struct buffer *out, const struct paramdiff *diff,
			   const struct rankset *whole)
{
	bool is_one = diff->counts[PARAMDIFF_SHARDED] == 1;

	append_what(out, diff, diff->counts[PARAMDIFF_SHARDED]);
	buffer_append_string(out, is_one ? " is a shard with the same placement on "
					 : " are shards with the same placement on ");
	rankset_append_named(out, whole);
	append_replicated(out, diff);
}

static void append_same(struct buffer *out, const struct paramdiff *diff)
{
	struct rankset whole = RANKSET_INIT;
	bool is_one = diff->counts[PARAMDIFF_SAME] == 1;

	find_whole(diff, &whole);
	if (diff->counts[PARAMDIFF_SAME] == 0 && diff->counts[PARAMDIFF_SHARDED] > 0) {
		append_sharded(out, diff, &whole);
		rankset_clear(&whole);
		return;
	}
	append_what(out, diff, diff->counts[PARAMDIFF_SAME]);
	if (rankset_count(&whole) == 1)
		buffer_append_string(out, is_one ? " was found only on " : " were found only on ");
	else
		buffer_append_string(out, is_one ? " is the same on " : " are the same on ");
	rankset_append_named(out, &whole);
	rankset_clear(&whole);
}

static const struct paramdiff_class *first_with_nan(const struct paramdiff_row *row)
{
	for (size_t i = 0; i < row->class_count; i++)
		if (paramdiff_judge_has_nan(&row->classes[i]))
			return &row->classes[i];
	return NULL;
}

/* Appends "ranks 0-3 have NaN in 26 tensors of model, first in fc.weight: 12 NaN of 256". */
static void paramdiff_judge_append_nan(struct buffer *out, const struct paramdiff *diff)
{
	const struct paramdiff_row *row = &diff->rows[diff->first_nan];
	const struct paramdiff_class *class = first_with_nan(row);
	bool is_one = rankset_count(&diff->nan_ranks) == 1;

	rankset_append_named(out, &diff->nan_ranks);
	buffer_append_string(out, is_one ? " has " : " have ");
	buffer_append_string(out, tensor_nan_count(&class->tensor) > 0 ? "NaN in " : "Inf in ");
	text_count(out, diff->nan_count);
	buffer_append_string(out, diff->is_of_gradients ? " gradient" : " tensor");
	buffer_append_string(out, diff->nan_count == 1 ? " of " : "s of ");
	text_append_line(out, diff->expression, strcspn(diff->expression, "\n"));
	buffer_append_string(out, diff->nan_count == 1 ? ": " : ", first in ");
	text_append_line(out, row->name, strcspn(row->name, "\n"));
	buffer_append_string(out, " (");
	paramdiff_append_nan(out, class);
	buffer_append_string(out, " of ");
	text_count(out, (uint64_t)class->tensor.element_count);
	buffer_append_char(out, ')');
}

/* True if only the first row that differs has NaN: the sentence about that row mentions NaN. */
static bool is_nan_told(const struct paramdiff *diff)
{
	return diff->nan_count == 0 || (diff->nan_count == 1 && diff->first_nan == diff->first);
}

static void paramdiff_judge_append_rest(struct buffer *out, const struct paramdiff *diff)
{
	if (diff->counts[PARAMDIFF_SHARDED] > 0 &&
	    (diff->counts[PARAMDIFF_SAME] > 0 || diff->first >= 0)) {
		buffer_printf(out, "; %zu %s with the same placement",
			      diff->counts[PARAMDIFF_SHARDED],
			      diff->counts[PARAMDIFF_SHARDED] == 1 ? "is a shard" : "are shards");
		append_replicated(out, diff);
	}
	if (diff->counts[PARAMDIFF_NONE] > 0)
		buffer_printf(out, "; %zu %s no gradient", diff->counts[PARAMDIFF_NONE],
			      diff->counts[PARAMDIFF_NONE] == 1 ? "has" : "have");
	if (diff->counts[PARAMDIFF_UNREAD] > 0)
		buffer_printf(out, "; elements of %zu could not be read",
			      diff->counts[PARAMDIFF_UNREAD]);
	if (diff->reordered.range_count == 0)
		return;
	buffer_append_string(out, "; the order of the tensors differs on ");
	rankset_append_named(out, &diff->reordered);
}

void paramdiff_append_sentence(struct buffer *out, const struct paramdiff *diff)
{
	if (!diff->is_over)
		return;
	if (diff->row_count == 0) {
		text_append_line(out, diff->expression, strcspn(diff->expression, "\n"));
		buffer_append_string(out, diff->is_of_gradients ? " has no gradients"
								: " has no parameters or buffers");
		return;
	}
	if (diff->first >= 0) {
		append_first(out, diff);
		buffer_append_string(out, is_nan_told(diff) ? "" : "; ");
		if (!is_nan_told(diff))
			paramdiff_judge_append_nan(out, diff);
	} else if (diff->nan_count > 0) {
		paramdiff_judge_append_nan(out, diff);
		buffer_append_string(out, "; ");
		append_same(out, diff);
	} else {
		append_same(out, diff);
	}
	paramdiff_judge_append_rest(out, diff);
}

/* Returns the first reason why a class was not read; NULL: no reason is known. */
static const char *why_unread(const struct paramdiff_row *row)
{
	for (size_t i = 0; i < row->class_count; i++) {
		const struct paramdiff_class *class = &row->classes[i];

		if (class->error)
			return class->error;
		if (class->tensor.unread)
			return class->tensor.unread;
	}
	return NULL;
}

static void append_unread_row(struct buffer *out, const struct paramdiff *diff,
			      const struct paramdiff_row *row)
{
	size_t more = diff->counts[PARAMDIFF_UNREAD] - 1;
	const char *why = why_unread(row);

	text_append_line(out, row->name, strcspn(row->name, "\n"));
	buffer_append_string(out, more > 0 ? " was not compared (" : " was not compared: ");
	if (why)
		text_append_line(out, why, strcspn(why, "\n"));
	else
		buffer_append_string(out, "the elements were not read");
	if (more > 0) {
		buffer_append_string(out, more == 1 ? "), nor was " : "), nor were ");
		text_count(out, more);
		buffer_append_string(out, more == 1 ? " other part of " : " other parts of ");
		text_append_line(out, diff->expression, strcspn(diff->expression, "\n"));
	}
}

void paramdiff_append_unread(struct buffer *out, const struct paramdiff *diff)
{
	for (size_t i = 0; i < diff->rank_count; i++) {
		const char *error = diff->ranks[i].error;

		if (!error)
			continue;
		buffer_append_string(out, "not compared: ");
		text_append_line(out, error, strcspn(error, "\n"));
		return;
	}
	for (size_t i = 0; i < diff->row_count; i++) {
		if (diff->rows[i].how != PARAMDIFF_UNREAD)
			continue;
		append_unread_row(out, diff, &diff->rows[i]);
		return;
	}
	buffer_append_string(out, "not compared: ");
	if (diff->row_count == 0)
		paramdiff_append_sentence(out, diff);
}
