#include "engine/tensor-compare.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/pack.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "engine/tensor-requests.h"
#include "model/answers.h"
#include "model/tensordiff.h"
#include "protocol/tensoranswer.h"

#define BLOCKS 4096

/* One of the two ranks. */
struct side {
	int rank;
	struct tensor_answer told; /* the tensor, with hashes of its blocks */
	struct tensor_answer part; /* the newest answer with elements */
	uint32_t crc;		   /* CRC of the current block's elements up to comparison->at */
};

struct tensor_compare {
	struct engine *engine;
	struct request_group *group; /* requests to both ranks */
	comparison_moved *moved;
	void *data;
	char *expression;
	int row_count;
	int column_count;
	struct side sides[2];
	bool has_blocks; /* the hashes of both ranks have come */
	bool is_over;
	struct error error;
	struct tensordiff found;
	int64_t at;    /* index of the next element to compare */
	int64_t count; /* number of elements of the requested part */
	int64_t done;  /* bytes compared so far, of total */
	int64_t total;
};

bool tensor_compare_is_over(const struct tensor_compare *comparison)
{
	return comparison->is_over;
}

const char *tensor_compare_error(const struct tensor_compare *comparison)
{
	return error_is_set(&comparison->error) ? comparison->error.message : NULL;
}

void tensor_compare_progress(const struct tensor_compare *comparison, int64_t *done, int64_t *total)
{
	*done = comparison->done;
	*total = comparison->total;
}

void tensor_compare_take(struct tensor_compare *comparison, struct tensordiff *found)
{
	*found = comparison->found;
	comparison->found = (struct tensordiff){ .dtype = NULL };
}

static void tensor_compare_fail(struct tensor_compare *comparison)
{
	tensordiff_clear(&comparison->found);
	comparison->is_over = true;
}

static int check_there(struct tensor_compare *comparison, const struct side *side)
{
	const struct rank *rank = session_find_rank(&comparison->engine->session, side->rank);

	return !rank || rank_is_gone(rank)
		       ? error_set(&comparison->error, "rank %d has exited", side->rank)
		       : 0;
}

/* Sends the request to both ranks. Returns -1 and sets comparison->error if a rank is gone. */
static int ask_both(struct tensor_compare *comparison, const struct tensor_question *ask)
{
	for (int i = 0; i < 2; i++)
		if (check_there(comparison, &comparison->sides[i]) < 0)
			return -1;
	for (int i = 0; i < 2; i++) {
		int number = comparison->sides[i].rank;
		const struct rank *rank = session_find_rank(&comparison->engine->session, number);

		request_group_add(
			comparison->group, rank->node, number, "tensor",
			tensor_question_arguments(comparison->engine,
						  tensor_question_place(comparison->engine, rank,
									comparison->expression),
						  ask),
			NULL);
	}
	return 0;
}

static void tensor_compare_on_done(struct engine *engine, void *data);

struct tensor_compare *tensor_compare_new(struct engine *engine,
					  const struct tensor_compare_question *question,
					  comparison_moved *moved, void *data)
{
	struct tensor_compare *comparison = xcalloc(1, sizeof(*comparison));
	const struct tensor_question ask = {
		.wants_hash = true,
		.block_count = BLOCKS,
	};

	comparison->engine = engine;
	comparison->group = request_group_new(engine, NULL, tensor_compare_on_done, comparison);
	comparison->moved = moved;
	comparison->data = data;
	comparison->expression = xstrdup(question->expression);
	comparison->row_count = question->row_count;
	comparison->column_count = question->column_count;
	comparison->sides[0].rank = question->rank;
	comparison->sides[1].rank = question->against;
	if (ask_both(comparison, &ask) < 0)
		tensor_compare_fail(comparison);
	return comparison;
}

void tensor_compare_free(struct tensor_compare *comparison)
{
	if (!comparison)
		return;
	request_group_free(comparison->group);
	for (int i = 0; i < 2; i++) {
		tensor_answer_clear(&comparison->sides[i].told);
		tensor_answer_clear(&comparison->sides[i].part);
	}
	tensordiff_clear(&comparison->found);
	free(comparison->expression);
	free(comparison);
}

/* True if the number of blocks fits the number of elements. */
static bool has_sound_blocks(const struct tensor *tensor)
{
	int64_t size = tensor->block_elements;
	int64_t count = (int64_t)tensor->block_count;

	if (tensor->element_count == 0)
		return true;
	return tensor->blocks && size > 0 && (tensor->element_count - 1) / size + 1 == count;
}

static int check_side(struct tensor_compare *comparison, const struct side *side)
{
	const struct tensor *tensor = &side->told.tensor;
	struct error *error = &comparison->error;

	if (!side->told.has_tensor)
		return error_set(error, CANNOT_COMPARE "the value of rank %d is not a tensor",
				 side->rank);
	if (tensor->unread)
		return error_set(error, CANNOT_COMPARE "rank %d: %s", side->rank, tensor->unread);
	if (tensor->has_mask)
		return error_set(error, CANNOT_COMPARE "the tensor of rank %d is masked",
				 side->rank);
	if (!has_sound_blocks(tensor))
		return error_set(error, CANNOT_COMPARE "rank %d sent no valid hashes of elements",
				 side->rank);
	return 0;
}

static bool is_block_same(const struct tensor_compare *comparison, int64_t block)
{
	return comparison->sides[0].told.tensor.blocks[block] ==
	       comparison->sides[1].told.tensor.blocks[block];
}

/*
 * Number of elements from index at to the end of the block that contains at, or to the end of the
 * tensor.
 */
static int64_t rest_of_block(const struct tensor_compare *comparison, int64_t at)
{
	int64_t size = comparison->sides[0].told.tensor.block_elements;
	int64_t rest = size - at % size;
	int64_t left = comparison->found.element_count - at;

	return rest < left ? rest : left;
}

static void count_total(struct tensor_compare *comparison)
{
	const struct tensordiff *found = &comparison->found;
	int64_t count = 0;

	for (int64_t at = 0; at < found->element_count;) {
		int64_t size = comparison->sides[0].told.tensor.block_elements;
		int64_t rest = rest_of_block(comparison, at);

		if (!is_block_same(comparison, at / size))
			count += rest;
		at += rest;
	}
	/* Compare before multiplying: the node's count times the item size may overflow. */
	comparison->total = count > TENSOR_COMPARE_BYTES_MAXIMUM / found->item_size
				    ? TENSOR_COMPARE_BYTES_MAXIMUM
				    : count * found->item_size;
}

static int tensor_compare_begin(struct tensor_compare *comparison)
{
	const struct tensor *a = &comparison->sides[0].told.tensor;
	const struct tensor *b = &comparison->sides[1].told.tensor;

	for (int i = 0; i < 2; i++)
		if (check_side(comparison, &comparison->sides[i]) < 0)
			return -1;
	if (tensordiff_begin(&comparison->found, a, b, comparison->row_count,
			     comparison->column_count, &comparison->error) < 0)
		return -1;
	if (a->block_elements != b->block_elements)
		return error_set(&comparison->error,
				 CANNOT_COMPARE
				 "ranks %d and %d sent hashes of blocks of different sizes",
				 comparison->sides[0].rank, comparison->sides[1].rank);
	comparison->found.is_torn = a->is_torn || b->is_torn;
	comparison->has_blocks = true;
	if (a->element_count > 0)
		count_total(comparison);
	return 0;
}

/* Skips blocks with equal hashes. Returns false if all elements are compared. */
static bool skip_same(struct tensor_compare *comparison)
{
	struct tensordiff *found = &comparison->found;

	while (comparison->at < found->element_count) {
		int64_t size = comparison->sides[0].told.tensor.block_elements;
		int64_t rest;

		if (comparison->at % size != 0 || !is_block_same(comparison, comparison->at / size))
			return true;
		rest = rest_of_block(comparison, comparison->at);
		tensordiff_add_same(found, comparison->at, rest);
		comparison->at += rest;
	}
	return false;
}

/* Number of elements to request: all adjacent blocks that differ, within the limits. */
static int64_t choose_count(const struct tensor_compare *comparison)
{
	int64_t item = comparison->found.item_size;
	int64_t room = TENSOR_COMPARE_BYTES_MAXIMUM - comparison->done;
	int64_t size = comparison->sides[0].told.tensor.block_elements;
	int64_t at = comparison->at;

	if (room > TENSOR_DATA_MAXIMUM)
		room = TENSOR_DATA_MAXIMUM;
	room /= item;
	while (at < comparison->found.element_count && at - comparison->at < room &&
	       (at % size != 0 || !is_block_same(comparison, at / size)))
		at += rest_of_block(comparison, at);
	return at - comparison->at < room ? at - comparison->at : room;
}

static void ask_more(struct tensor_compare *comparison)
{
	struct tensor_question ask = { .statistics = NULL };

	if (skip_same(comparison))
		comparison->count = choose_count(comparison);
	else
		comparison->count = 0;
	comparison->is_over = comparison->count <= 0;
	if (comparison->is_over)
		return;
	ask.data_start = comparison->at;
	ask.data_count = comparison->count;
	if (ask_both(comparison, &ask) < 0)
		tensor_compare_fail(comparison);
}

/* Stores the answer of one rank. Returns -1 and sets comparison->error on failure. */
static int take_side(struct tensor_compare *comparison, struct side *side,
		     const struct group_answer *answer)
{
	struct tensor_answer *into = comparison->has_blocks ? &side->part : &side->told;
	struct error error = ERROR_INIT;

	tensor_answer_clear(into);
	if (answer->error)
		error_set(&error, "%s", answer->error);
	else if (tensor_answer_from_json(into, answer->body, &error) == 0)
		return 0;
	return error_set(&comparison->error, "rank %d: %s", side->rank, error.message);
}

static int check_part(struct tensor_compare *comparison, const struct side *side)
{
	int64_t wanted = comparison->count * comparison->found.item_size;

	if ((int64_t)side->part.data.length == wanted)
		return 0;
	return error_set(&comparison->error,
			 CANNOT_COMPARE
			 "the tensor of rank %d changed (%zu bytes read, %lld expected): stop the "
			 "rank and compare again",
			 side->rank, side->part.data.length, (long long)wanted);
}

/*
 * Compares the elements' CRC with the block's earlier hash: a difference means that the program
 * wrote to the tensor in the meantime.
 */
static void check_hashes(struct tensor_compare *comparison, struct side *side)
{
	const struct tensor *tensor = &side->told.tensor;
	const uint8_t *data = (const uint8_t *)side->part.data.data;
	size_t item = (size_t)comparison->found.item_size;
	int64_t end = comparison->at + comparison->count;

	for (int64_t at = comparison->at; at < end;) {
		int64_t block = at / tensor->block_elements;
		int64_t rest = rest_of_block(comparison, at);
		bool is_end = rest <= end - at;
		int64_t count = is_end ? rest : end - at;

		if (at % tensor->block_elements == 0)
			side->crc = 0;
		side->crc = crc_add(side->crc, data, (size_t)count * item);
		if (is_end && side->crc != tensor->blocks[block])
			comparison->found.is_torn = true;
		data += (size_t)count * item;
		at += count;
	}
}

static int tensor_compare_take_part(struct tensor_compare *comparison)
{
	struct side *sides = comparison->sides;

	for (int i = 0; i < 2; i++)
		if (check_part(comparison, &sides[i]) < 0)
			return -1;
	for (int i = 0; i < 2; i++)
		check_hashes(comparison, &sides[i]);
	tensordiff_add(&comparison->found, comparison->at, (const uint8_t *)sides[0].part.data.data,
		       (const uint8_t *)sides[1].part.data.data, comparison->count);
	comparison->at += comparison->count;
	comparison->done += comparison->count * comparison->found.item_size;
	return 0;
}

/* Takes the answers of both ranks. Returns -1 and sets comparison->error on failure. */
static int take_both(struct tensor_compare *comparison)
{
	struct group_answer answer;

	for (int i = 0; i < 2 && request_group_take(comparison->group, &answer); i++)
		if (take_side(comparison, &comparison->sides[i], &answer) < 0)
			return -1;
	return comparison->has_blocks ? tensor_compare_take_part(comparison)
				      : tensor_compare_begin(comparison);
}

static void tensor_compare_on_done(struct engine *engine, void *data)
{
	struct tensor_compare *comparison = data;

	if (take_both(comparison) < 0)
		tensor_compare_fail(comparison);
	else
		ask_more(comparison);
	comparison->moved(engine, comparison->data);
}

/* Rows and columns of the heat map; a smaller pane merges cells. */
#define ROWS 64
#define COLUMNS 128
/* Maximum number of pairs of ranks per question. */
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

/* Returns the pair's difference, or NULL if the pair belongs to an older question. */
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
		return error_set(error, CANNOT_COMPARE "rank %d is not part of the comparison",
				 rank);
	if (!answer->has_come || answer->error)
		return error_set(error, CANNOT_COMPARE "rank %d has not sent the value", rank);
	if (!answer->tensor)
		return error_set(error, CANNOT_COMPARE "the value of rank %d is not a tensor",
				 rank);
	return 0;
}

int value_difference_begin(struct engine *engine, int rank, int against, struct error *error)
{
	struct answers *answers = &engine->session.answers;
	struct tensordiff trial = { .dtype = NULL };
	int result;

	if (!answers->question)
		return error_set(error, CANNOT_COMPARE "no value was compared before");
	if (value_difference_check(answers, rank, error) < 0 ||
	    value_difference_check(answers, against, error) < 0)
		return -1;
	result = tensordiff_begin(&trial, answers_find(answers, rank)->tensor,
				  answers_find(answers, against)->tensor, 0, 0, error);
	tensordiff_clear(&trial);
	if (result == 0 && engine->replay)
		result =
			error_set(error, CANNOT_COMPARE "a recording has no elements, only hashes");
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
	difference->error = xstrdup("comparison cancelled before the tensors were read");
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
			xasprintf("comparison not finished within %g s: try a longer --timeout",
				  engine->settings.timeout);
	}
	value_difference_clear(engine);
}
