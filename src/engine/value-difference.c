#include "engine/value-difference.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/tensor-compare.h"
#include "model/answers.h"
#include "model/difference.h"

/* Size of the heat map; a smaller pane merges cells. */
#define ROWS 64
#define COLUMNS 128
/* Maximum of pairs per question. */
#define PAIRS_MAXIMUM 64

struct value_difference_pair {
	uint64_t question;
	int rank;
	int against;
	struct tensor_compare *comparison;
};

static void free_pair(struct value_difference_pair *pair)
{
	tensor_compare_free(pair->comparison);
	free(pair);
}

void value_difference_clear(struct engine *engine)
{
	struct value_difference *differing = &engine->differing;

	for (size_t i = 0; i < differing->count; i++)
		free_pair(differing->pairs[i]);
	free(differing->pairs);
	*differing = (struct value_difference){ .pairs = NULL };
}

/* NULL: the pair belongs to an older question. */
static struct difference *value_difference_find(struct engine *engine,
						const struct value_difference_pair *pair)
{
	struct answers *answers = &engine->session.answers;

	if (!answers->question || answers->number != pair->question)
		return NULL;
	return difference_find(answers, pair->rank, pair->against);
}

static void value_difference_drop(struct engine *engine, int rank, int against)
{
	struct value_difference *differing = &engine->differing;
	size_t kept = 0;

	for (size_t i = 0; i < differing->count; i++) {
		struct value_difference_pair *pair = differing->pairs[i];

		if (pair->rank == rank && pair->against == against)
			free_pair(pair);
		else
			differing->pairs[kept++] = pair;
	}
	differing->count = kept;
}

static void value_difference_end(struct value_difference_pair *pair, struct difference *difference)
{
	const char *error = tensor_compare_error(pair->comparison);

	difference->state = error ? DIFFERENCE_FAILED : DIFFERENCE_DONE;
	difference->error = xstrdup_or_null(error);
	tensordiff_clear(&difference->found);
	tensor_compare_take(pair->comparison, &difference->found);
}

/* Frees the pair when the comparison is over or a new question was asked. */
static void value_difference_on_moved(struct engine *engine, void *data)
{
	struct value_difference_pair *pair = data;
	struct difference *difference = value_difference_find(engine, pair);
	bool is_over = tensor_compare_is_over(pair->comparison);

	if (difference && is_over)
		value_difference_end(pair, difference);
	else if (difference)
		tensor_compare_progress(pair->comparison, &difference->done, &difference->total);
	if (!difference || is_over)
		value_difference_drop(engine, pair->rank, pair->against);
	engine->session.revision++;
}

static void begin_pair(struct engine *engine, int rank, int against)
{
	const struct answers *answers = &engine->session.answers;
	struct value_difference *differing = &engine->differing;
	const struct tensor_compare_question question = {
		.rank = rank,
		.against = against,
		.expression = answers->question,
		.row_count = ROWS,
		.column_count = COLUMNS,
	};
	struct value_difference_pair *pair = xcalloc(1, sizeof(*pair));

	pair->question = answers->number;
	pair->rank = rank;
	pair->against = against;
	pair->comparison = tensor_compare_new(engine, &question, value_difference_on_moved, pair);
	ARRAY_GROW(differing->pairs, differing->count, differing->capacity);
	differing->pairs[differing->count++] = pair;
	if (tensor_compare_is_over(pair->comparison))
		value_difference_on_moved(engine, pair);
}

static int value_difference_check(const struct answers *answers, int rank, struct error *error)
{
	const struct answer *answer = answers_find(answers, rank);

	if (!answer)
		return error_set(error, "rank %d was not asked", rank);
	if (!answer->has_come || answer->error)
		return error_set(error, "rank %d has not answered", rank);
	if (!answer->tensor)
		return error_set(
			error, "rank %d has no tensor there: it has no elements to compare", rank);
	return 0;
}

int value_difference_begin(struct engine *engine, int rank, int against, struct error *error)
{
	struct answers *answers = &engine->session.answers;
	struct tensordiff trial = { .dtype = NULL };
	int result;

	if (!answers->question)
		return error_set(error, "no ranks were compared");
	if (value_difference_check(answers, rank, error) < 0 ||
	    value_difference_check(answers, against, error) < 0)
		return -1;
	result = tensordiff_begin(&trial, answers_find(answers, rank)->tensor,
				  answers_find(answers, against)->tensor, 0, 0, error);
	tensordiff_clear(&trial);
	if (result == 0 && engine->replay)
		result = error_set(error,
				   "a recording has no elements to compare, only their hashes");
	if (result < 0)
		return -1;
	value_difference_drop(engine, rank, against);
	difference_add(answers, rank, against);
	begin_pair(engine, rank, against);
	engine->session.revision++;
	return 0;
}

void value_difference_cancel(struct engine *engine, int rank, int against)
{
	struct difference *difference = difference_find(&engine->session.answers, rank, against);

	value_difference_drop(engine, rank, against);
	if (!difference || difference->state != DIFFERENCE_READING)
		return;
	difference->state = DIFFERENCE_FAILED;
	difference->error = xstrdup("given up before it was read");
	engine->session.revision++;
}

void value_difference_begin_all(struct engine *engine)
{
	const struct answers *answers = &engine->session.answers;
	struct answer_classes classes;
	const struct answer_class *leader;
	size_t count = 0;

	answer_classes_make(&classes, answers);
	leader = answer_classes_reference(&classes);
	for (size_t i = 0; leader && i < classes.value_count && count < PAIRS_MAXIMUM; i++) {
		const struct answer_class *class = &classes.items[i];

		if (class == leader || difference_of(answers, class, leader))
			continue;
		count += value_difference_begin(engine, rankset_first(&class->ranks),
						rankset_first(&leader->ranks), NULL) == 0;
	}
	answer_classes_clear(&classes);
}

static bool value_difference_is_over(const struct engine *engine, void *data)
{
	(void)data;
	return engine->differing.count == 0 || engine->rank_query.interrupts > 1;
}

void value_difference_wait(struct engine *engine)
{
	struct value_difference *differing = &engine->differing;

	engine_wait(engine, value_difference_is_over, NULL, engine->settings.timeout);
	for (size_t i = 0; i < differing->count; i++) {
		struct difference *difference = value_difference_find(engine, differing->pairs[i]);

		if (!difference)
			continue;
		difference->state = DIFFERENCE_FAILED;
		difference->error =
			xasprintf("it was not compared within %g s; --timeout SECONDS waits longer",
				  engine->settings.timeout);
	}
	value_difference_clear(engine);
}
