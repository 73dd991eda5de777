#include "engine/tensor-compare.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/crc.h"
#include "base/error.h"
#include "engine/engine.h"
#include "engine/request-group.h"
#include "engine/tensor-question.h"
#include "protocol/tensoranswer.h"

#define BLOCKS 4096

/* One of the two. */
struct side {
	int rank;
	struct tensor_answer told; /* the tensor, with its blocks */
	struct tensor_answer part; /* the elements that came last */
	uint32_t crc;		   /* of the block that is being read, up to at */
};

struct tensor_compare {
	struct engine *engine;
	struct request_group *group; /* of both sides */
	pairing_moved *moved;
	void *data;
	char *expression;
	int row_count;
	int column_count;
	struct side sides[2];
	bool has_blocks; /* both have told them */
	bool is_over;
	struct error error;
	struct tensordiff found;
	int64_t at;    /* the next element that is to be compared */
	int64_t count; /* of the part that is asked for */
	int64_t done;  /* bytes */
	int64_t total;
};

bool tensor_compare_is_over(const struct tensor_compare *pairing)
{
	return pairing->is_over;
}

const char *tensor_compare_error(const struct tensor_compare *pairing)
{
	return error_is_set(&pairing->error) ? pairing->error.message : NULL;
}

void tensor_compare_progress(const struct tensor_compare *pairing, int64_t *done, int64_t *total)
{
	*done = pairing->done;
	*total = pairing->total;
}

void tensor_compare_take(struct tensor_compare *pairing, struct tensordiff *found)
{
	*found = pairing->found;
	pairing->found = (struct tensordiff){ .dtype = NULL };
}

static void fail(struct tensor_compare *pairing)
{
	tensordiff_clear(&pairing->found);
	pairing->is_over = true;
}

static int check_there(struct tensor_compare *pairing, const struct side *side)
{
	const struct rank *rank = session_find_rank(&pairing->engine->session, side->rank);

	return !rank || rank_is_gone(rank)
		       ? error_set(&pairing->error, "rank %d is gone", side->rank)
		       : 0;
}

/* -1, and pairing->error: a rank is gone. */
static int ask_both(struct tensor_compare *pairing, const struct tensor_question *ask)
{
	for (int i = 0; i < 2; i++)
		if (check_there(pairing, &pairing->sides[i]) < 0)
			return -1;
	for (int i = 0; i < 2; i++) {
		int number = pairing->sides[i].rank;

		request_group_add(
			pairing->group, number, "tensor",
			tensor_question_arguments(
				pairing->engine,
				tensor_question_place(
					pairing->engine,
					session_find_rank(&pairing->engine->session, number),
					pairing->expression),
				ask),
			NULL);
	}
	return 0;
}

static void on_done(struct engine *engine, void *data);

struct tensor_compare *tensor_compare_new(struct engine *engine,
					  const struct tensor_compare_question *question,
					  pairing_moved *moved, void *data)
{
	struct tensor_compare *pairing = xcalloc(1, sizeof(*pairing));
	const struct tensor_question ask = {
		.wants_hash = true,
		.block_count = BLOCKS,
	};

	pairing->engine = engine;
	pairing->group = request_group_new(engine, NULL, on_done, pairing);
	pairing->moved = moved;
	pairing->data = data;
	pairing->expression = xstrdup(question->expression);
	pairing->row_count = question->row_count;
	pairing->column_count = question->column_count;
	pairing->sides[0].rank = question->rank;
	pairing->sides[1].rank = question->against;
	if (ask_both(pairing, &ask) < 0)
		fail(pairing);
	return pairing;
}

void tensor_compare_free(struct tensor_compare *pairing)
{
	if (!pairing)
		return;
	request_group_free(pairing->group);
	for (int i = 0; i < 2; i++) {
		tensor_answer_clear(&pairing->sides[i].told);
		tensor_answer_clear(&pairing->sides[i].part);
	}
	tensordiff_clear(&pairing->found);
	free(pairing->expression);
	free(pairing);
}

/* As many parts of equal size as there must be. */
static bool has_sound_blocks(const struct tensor *tensor)
{
	int64_t size = tensor->block_elements;
	int64_t count = (int64_t)tensor->block_count;

	if (tensor->element_count == 0)
		return true;
	return tensor->blocks && size > 0 && (tensor->element_count - 1) / size + 1 == count;
}

static int check_side(struct tensor_compare *pairing, const struct side *side)
{
	const struct tensor *tensor = &side->told.tensor;
	struct error *error = &pairing->error;

	if (!side->told.has_tensor)
		return error_set(error, "rank %d has no tensor there", side->rank);
	if (tensor->unread)
		return error_set(error, "rank %d: %s", side->rank, tensor->unread);
	if (tensor->has_mask)
		return error_set(error,
				 "rank %d: it has a mask: its elements are compared by their hash, "
				 "not one by one",
				 side->rank);
	if (!has_sound_blocks(tensor))
		return error_set(error, "rank %d gave no hashes of its elements", side->rank);
	return 0;
}

static bool is_block_same(const struct tensor_compare *pairing, int64_t block)
{
	return pairing->sides[0].told.tensor.blocks[block] ==
	       pairing->sides[1].told.tensor.blocks[block];
}

/* The elements from at to the end of its block, or of the tensor. */
static int64_t rest_of_block(const struct tensor_compare *pairing, int64_t at)
{
	int64_t size = pairing->sides[0].told.tensor.block_elements;
	int64_t rest = size - at % size;
	int64_t left = pairing->found.element_count - at;

	return rest < left ? rest : left;
}

static void count_total(struct tensor_compare *pairing)
{
	const struct tensordiff *found = &pairing->found;
	int64_t count = 0;

	for (int64_t at = 0; at < found->element_count;) {
		int64_t size = pairing->sides[0].told.tensor.block_elements;
		int64_t rest = rest_of_block(pairing, at);

		if (!is_block_same(pairing, at / size))
			count += rest;
		at += rest;
	}
	/* A product of what a node says may be more than there are numbers. */
	pairing->total = count > TENSOR_COMPARE_BYTES_MAXIMUM / found->item_size
				 ? TENSOR_COMPARE_BYTES_MAXIMUM
				 : count * found->item_size;
}

static int begin(struct tensor_compare *pairing)
{
	const struct tensor *a = &pairing->sides[0].told.tensor;
	const struct tensor *b = &pairing->sides[1].told.tensor;

	for (int i = 0; i < 2; i++)
		if (check_side(pairing, &pairing->sides[i]) < 0)
			return -1;
	if (tensordiff_begin(&pairing->found, a, b, pairing->row_count, pairing->column_count,
			     &pairing->error) < 0)
		return -1;
	if (a->block_elements != b->block_elements)
		return error_set(&pairing->error, "the two gave hashes of other parts of it");
	pairing->found.is_torn = a->is_torn || b->is_torn;
	pairing->has_blocks = true;
	if (a->element_count > 0)
		count_total(pairing);
	return 0;
}

/* Over blocks that are the same; false: nothing is left to compare. */
static bool skip_same(struct tensor_compare *pairing)
{
	struct tensordiff *found = &pairing->found;

	while (pairing->at < found->element_count) {
		int64_t size = pairing->sides[0].told.tensor.block_elements;
		int64_t rest;

		if (pairing->at % size != 0 || !is_block_same(pairing, pairing->at / size))
			return true;
		rest = rest_of_block(pairing, pairing->at);
		tensordiff_add_same(found, pairing->at, rest);
		pairing->at += rest;
	}
	return false;
}

/* All that differs in a row, as far as it fits. */
static int64_t choose_count(const struct tensor_compare *pairing)
{
	int64_t item = pairing->found.item_size;
	int64_t room = TENSOR_COMPARE_BYTES_MAXIMUM - pairing->done;
	int64_t size = pairing->sides[0].told.tensor.block_elements;
	int64_t at = pairing->at;

	if (room > TENSOR_DATA_MAXIMUM)
		room = TENSOR_DATA_MAXIMUM;
	room /= item;
	while (at < pairing->found.element_count && at - pairing->at < room &&
	       (at % size != 0 || !is_block_same(pairing, at / size)))
		at += rest_of_block(pairing, at);
	return at - pairing->at < room ? at - pairing->at : room;
}

static void ask_more(struct tensor_compare *pairing)
{
	struct tensor_question ask = { .statistics = NULL };

	if (skip_same(pairing))
		pairing->count = choose_count(pairing);
	else
		pairing->count = 0;
	pairing->is_over = pairing->count <= 0;
	if (pairing->is_over)
		return;
	ask.data_start = pairing->at;
	ask.data_count = pairing->count;
	if (ask_both(pairing, &ask) < 0)
		fail(pairing);
}

/* -1: it failed, pairing->error says why. */
static int take_side(struct tensor_compare *pairing, struct side *side,
		     const struct group_answer *answer)
{
	struct tensor_answer *into = pairing->has_blocks ? &side->part : &side->told;
	struct error error = ERROR_INIT;

	tensor_answer_clear(into);
	if (answer->error)
		error_set(&error, "%s", answer->error);
	else if (tensor_answer_from_json(into, answer->body, &error) == 0)
		return 0;
	return error_set(&pairing->error, "rank %d: %s", side->rank, error.message);
}

static int check_part(struct tensor_compare *pairing, const struct side *side)
{
	int64_t wanted = pairing->count * pairing->found.item_size;

	if ((int64_t)side->part.data.length == wanted)
		return 0;
	return error_set(
		&pairing->error,
		"rank %d gave %zu bytes of its elements, not %lld: it has become another tensor",
		side->rank, side->part.data.length, (long long)wanted);
}

/* What was hashed before must be what came now, or it was written meanwhile. */
static void check_hashes(struct tensor_compare *pairing, struct side *side)
{
	const struct tensor *tensor = &side->told.tensor;
	const uint8_t *data = (const uint8_t *)side->part.data.data;
	size_t item = (size_t)pairing->found.item_size;
	int64_t end = pairing->at + pairing->count;

	for (int64_t at = pairing->at; at < end;) {
		int64_t block = at / tensor->block_elements;
		int64_t rest = rest_of_block(pairing, at);
		bool is_end = rest <= end - at;
		int64_t count = is_end ? rest : end - at;

		if (at % tensor->block_elements == 0)
			side->crc = 0;
		side->crc = crc_add(side->crc, data, (size_t)count * item);
		if (is_end && side->crc != tensor->blocks[block])
			pairing->found.is_torn = true;
		data += (size_t)count * item;
		at += count;
	}
}

static int take_part(struct tensor_compare *pairing)
{
	struct side *sides = pairing->sides;

	for (int i = 0; i < 2; i++)
		if (check_part(pairing, &sides[i]) < 0)
			return -1;
	for (int i = 0; i < 2; i++)
		check_hashes(pairing, &sides[i]);
	tensordiff_add(&pairing->found, pairing->at, (const uint8_t *)sides[0].part.data.data,
		       (const uint8_t *)sides[1].part.data.data, pairing->count);
	pairing->at += pairing->count;
	pairing->done += pairing->count * pairing->found.item_size;
	return 0;
}

/* -1: it failed. */
static int take_both(struct tensor_compare *pairing)
{
	struct group_answer answer;

	for (int i = 0; i < 2 && request_group_take(pairing->group, &answer); i++)
		if (take_side(pairing, &pairing->sides[i], &answer) < 0)
			return -1;
	return pairing->has_blocks ? take_part(pairing) : begin(pairing);
}

static void on_done(struct engine *engine, void *data)
{
	struct tensor_compare *pairing = data;

	if (take_both(pairing) < 0)
		fail(pairing);
	else
		ask_more(pairing);
	pairing->moved(engine, pairing->data);
}
