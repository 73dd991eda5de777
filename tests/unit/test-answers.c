/*
 * What ranks answer, equal answers together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/answers.h"
#include "model/paramdiff.h"
#include "model/tensordiff.h"
#include "protocol/tensor.h"

/* "RANKS: TEXT DEVIATION|", with ! in front of what is odd, ? of failures. */
static void check_classes(const struct answers *answers, const char *wanted)
{
	struct answer_classes classes;
	struct buffer out = BUFFER_INIT;

	answer_classes_make(&classes, answers);
	for (size_t i = 0; i < classes.count; i++) {
		const struct answer_class *class = &classes.items[i];

		if (class->is_odd)
			buffer_append_char(&out, '!');
		if (class->is_failure)
			buffer_append_char(&out, '?');
		rankset_append(&out, &class->ranks);
		buffer_printf(&out, ": %s", class->text);
		if (class->deviation != 0)
			buffer_append_char(&out, ' ');
		answer_class_append_deviation(&out, class);
		buffer_append_char(&out, '|');
	}
	answer_classes_append_summary(&out, &classes, answers);
	assert_string_equal(out.data, wanted);
	answer_classes_clear(&classes);
	buffer_clear(&out);
}

static void check(struct answers *answers, const char *wanted)
{
	check_classes(answers, wanted);
	answers_clear(answers);
}

static void ask(struct answers *answers, int count)
{
	*answers = (struct answers){ .question = NULL };
	answers_begin(answers, "loss.item()", ANSWERS_COMPARE, 1);
	for (int i = 0; i < count; i++)
		answers_wait(answers, i);
}

static void answer(struct answers *answers, int first, int last, const char *text)
{
	for (int i = first; i <= last; i++)
		answers_take(answers, i, text, NULL);
}

static void numbers_are_measured_against_the_median(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 8);
	answer(&answers, 0, 7, "0.1182");
	answer(&answers, 3, 3, "0.1306");
	answer(&answers, 5, 5, "nan");
	check(&answers, "!5: nan|3: 0.1306 +10 % of the median|0-2,4,6-7: 0.1182|3 values over 8 "
			"ranks; rank 5 is nan");
}

static void signs_are_told(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 6);
	answer(&answers, 0, 2, "-1.0");
	answer(&answers, 3, 3, "20.0");
	answer(&answers, 4, 4, "-30.0");
	answer(&answers, 5, 5, "-inf");
	check(&answers, "!5: -inf|4: -30.0 30 times the median|3: 20.0 -20 times the median|0-2: "
			"-1.0|4 values over 6 ranks; rank 5 is -inf");
}

/* Their sum is none that a number can be. */
static void the_largest_numbers_have_a_median(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 3);
	answer(&answers, 0, 1, "1e308");
	answers_take(&answers, 2, NULL, "It runs.");
	check(&answers, "0-1: 1e308|?2: It runs.|1 value over 2 ranks; no answer from rank 2");
}

static void tensors_of_one_number_are_numbers(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 6);
	answer(&answers, 0, 2, "tensor(2.)");
	answer(&answers, 3, 3, "tensor(1.9, grad_fn=<MulBackward0>)");
	answer(&answers, 4, 4, "np.float64(inf)");
	answer(&answers, 5, 5, "tensor([1.0, 2.0])");
	check(&answers,
	      "!4: np.float64(inf)|!5: tensor([1.0, 2.0])|3: tensor(1.9, grad_fn=<MulBackward0>) "
	      "-5.0 % of the median|0-2: tensor(2.)|4 values over 6 ranks; rank 4 is inf");
}

static void the_farthest_is_first(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 5);
	answer(&answers, 0, 0, "100");
	answer(&answers, 1, 1, "101");
	answer(&answers, 2, 2, "99");
	answer(&answers, 3, 3, "4000");
	answer(&answers, 4, 4, "-100");
	check(&answers, "3: 4000 40 times the median|4: -100 -200 % of the median|1: 101 +1.0 % of "
			"the median|2: 99 -1.0 % of the median|0: 100|5 values over 5 ranks");
}

/* Of ranks and process ids none is far from the others. */
static void numbers_of_their_own_are_in_order(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 4);
	answer(&answers, 0, 0, "0");
	answer(&answers, 1, 1, "1");
	answer(&answers, 2, 2, "2");
	answer(&answers, 3, 3, "3");
	check(&answers, "0: 0|1: 1|2: 2|3: 3|4 values over 4 ranks");
}

static void what_most_are_not_is_odd(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 5);
	answer(&answers, 0, 4, "torch.Size([64, 32])");
	answer(&answers, 2, 2, "torch.Size([63, 32])");
	check(&answers,
	      "!2: torch.Size([63, 32])|0-1,3-4: torch.Size([64, 32])|2 values over 5 ranks");
	/* Of two wait groups of a size none is. */
	ask(&answers, 4);
	answer(&answers, 0, 1, "'a'");
	answer(&answers, 2, 3, "'b'");
	check(&answers, "0-1: 'a'|2-3: 'b'|2 values over 4 ranks");
}

static void addresses_do_not_differ(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 3);
	answer(&answers, 0, 0, "<Net object at 0x7f00deadbeef>");
	answer(&answers, 1, 1, "<Net object at 0x7f11cafe0123>\n");
	answer(&answers, 2, 2, "looks at 0x10");
	check(&answers, "!2: looks at 0x10|0-1: <Net object at 0x\u2026>|2 values over 3 ranks");
}

static void failures_are_together_and_last(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 4);
	answer(&answers, 0, 0, "1");
	answers_take(&answers, 1, NULL, "it runs");
	answers_take(&answers, 2, NULL, "it runs");
	answers_take(&answers, 3, NULL, "1");
	check(&answers, "0: 1|?3: 1|?1-2: it runs|1 value over 1 rank; no answer from ranks 1-3");
}

static void who_has_not_answered_is_waited_for(void **state)
{
	struct answers answers;

	(void)state;
	ask(&answers, 3);
	answer(&answers, 1, 1, "True");
	check(&answers, "1: True|1 of 3 answered");
	ask(&answers, 0);
	check(&answers, "0 values over 0 ranks");
}

static void what_looks_like_a_number_may_be_none(void **state)
{
	static const char *const texts[] = {
		"0x10",	  "1 2", "nano",     "-",  "e",	 "1_000", "(1)",
		"int(x)", "f(1", "infinite", "+1", "1j", ".",	  "tensor(",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct answers answers;
		struct answer_classes classes;

		ask(&answers, 1);
		answer(&answers, 0, 0, texts[i]);
		answer_classes_make(&classes, &answers);
		assert_false(classes.items[0].is_number);
		answer_classes_clear(&classes);
		answers_clear(&answers);
	}
}

static void take_value(struct answers *answers, int rank, const char *value, const char *output)
{
	answers_take_whole(answers, &(struct answer){
					    .rank = rank,
					    .value = (char *)value,
					    .output = (char *)output,
				    });
}

static void what_code_printed_is_a_part_of_its_answer(void **state)
{
	struct eval_history eval_history = { .items = NULL };
	struct answers *answers = eval_history_add(&eval_history, "f()", ANSWERS_EVAL, 1, 0);

	(void)state;
	take_value(answers, 0, "'a'", "hello\n");
	take_value(answers, 1, "'a'", "hello");
	take_value(answers, 2, "'a'", NULL);
	take_value(answers, 3, NULL, "hello\n");
	take_value(answers, 4, NULL, NULL);
	take_value(answers, 5, "None", "hello\n");
	take_value(answers, 6, "None", NULL);
	check_classes(answers,
		      "2: 'a'|4: done|6: None|0-1: hello\n'a'|3,5: hello|5 values over 7 ranks");
	eval_history_clear(&eval_history);
}

static void what_raised_is_told_from_what_was_not_run(void **state)
{
	struct eval_history eval_history = { .items = NULL };
	struct answers *answers = eval_history_add(&eval_history, "x", ANSWERS_EVAL, 1, 0);
	struct answer raised = {
		.rank = 1,
		.error = (char *)"NameError: name 'x' is not defined",
		.traceback = (char *)"Traceback \u2026",
		.is_raised = true,
	};
	struct answer_classes classes;

	(void)state;
	answers_take_whole(answers, &raised);
	answers_take(answers, 0, NULL, "It has no agent.");
	answer_classes_make(&classes, answers);
	assert_int_equal(classes.count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct answer_class *class = &classes.items[i];
		bool is_raised = rankset_contains(&class->ranks, 1);

		assert_int_equal(class->is_raised, is_raised);
		assert_true(class->is_failure);
		assert_int_equal(class->first->traceback != NULL, is_raised);
	}
	answer_classes_clear(&classes);
	eval_history_clear(&eval_history);
}

static void the_oldest_questions_are_forgotten(void **state)
{
	struct eval_history eval_history = { .items = NULL };

	(void)state;
	for (uint64_t i = 1; i <= EVAL_HISTORY_MAXIMUM + 2; i++)
		eval_history_add(&eval_history, "x", ANSWERS_EVAL, i, 0);
	assert_int_equal(eval_history.count, EVAL_HISTORY_MAXIMUM);
	assert_null(eval_history_find(&eval_history, 2));
	assert_ptr_equal(eval_history_find(&eval_history, 3), &eval_history.items[0]);
	eval_history_clear(&eval_history);
}

/* A long text of each of many ranks: of few questions that is much. */
static void what_is_long_is_forgotten_sooner(void **state)
{
	struct eval_history eval_history = { .items = NULL };
	size_t length = (size_t)1 << 20;
	char *text = xcalloc(1, length + 1);

	(void)state;
	memset(text, 'x', length);
	for (uint64_t i = 1; i <= 6; i++) {
		struct answers *answers = eval_history_add(&eval_history, "x", ANSWERS_EVAL, i, 0);

		/* What a rank says anew takes the place of what it said. */
		for (int rank = 0; rank < 16; rank++)
			answers_take(answers, rank % 8, text, NULL);
		assert_int_equal(answers->bytes, 8 * length);
		for (int rank = 8; rank < 24; rank++)
			answers_take(answers, rank, text, NULL);
	}
	assert_int_equal(eval_history.count, 3);
	assert_non_null(eval_history_find(&eval_history, 6));
	eval_history_clear(&eval_history);
	free(text);
}

/*
 * Tensors
 */

/* float32 [rows, 32] with this hash (0: none), and so many NaN. */
static void answer_tensor(struct answers *answers, int first, int last, int64_t rows, uint32_t hash,
			  int64_t nan_count)
{
	struct tensor tensor;
	struct answer whole = { .text = "Parameter", .tensor = &tensor };

	tensor_init(&tensor);
	tensor.dtype = xstrdup("float32");
	tensor.dimension_count = 2;
	tensor.shape[0] = rows;
	tensor.shape[1] = 32;
	tensor.element_count = rows * 32;
	tensor.item_size = 4;
	tensor.has_hash = hash != 0;
	tensor.hash = hash;
	tensor.has_statistics = true;
	tensor.statistics.nan_count = nan_count;
	tensor.statistics.has_norm = nan_count == 0;
	tensor.statistics.norm = 2.5;
	for (int i = first; i <= last; i++) {
		whole.rank = i;
		answers_take_whole(answers, &whole);
	}
	tensor_clear(&tensor);
}

static void ask_weight(struct answers *answers, int count)
{
	*answers = (struct answers){ .question = NULL };
	answers_begin(answers, "fc.weight", ANSWERS_COMPARE, 1);
	for (int i = 0; i < count; i++)
		answers_wait(answers, i);
}

/* "RANKS (merged)|…" with ! in front of the odd and ~ of the unsure. */
static void check_tensors(struct answers *answers, const char *wanted)
{
	struct answer_classes classes;
	struct buffer out = BUFFER_INIT;

	answer_classes_make(&classes, answers);
	for (size_t i = 0; i < classes.count; i++) {
		const struct answer_class *class = &classes.items[i];

		buffer_append_string(&out, class->is_odd ? "!" : "");
		buffer_append_string(&out, class->is_sure ? "" : "~");
		rankset_append(&out, &class->ranks);
		if (class->merged > 1)
			buffer_printf(&out, " (%zu)", class->merged);
		buffer_append_char(&out, '|');
	}
	answer_classes_append_sentence(&out, &classes, answers);
	assert_string_equal(out.data, wanted);
	answer_classes_clear(&classes);
	buffer_clear(&out);
	answers_clear(answers);
}

static void tensors_are_equal_by_their_hash(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 4);
	answer_tensor(&answers, 0, 3, 8, 0x1234, 0);
	check_tensors(&answers, "0-3|fc.weight is the same on ranks 0-3");
	ask_weight(&answers, 4);
	answer_tensor(&answers, 0, 3, 8, 0x1234, 0);
	answer_tensor(&answers, 2, 2, 8, 0x1235, 0);
	check_tensors(&answers, "!2|0-1,3|fc.weight on rank 2 differs from ranks 0-1,3");
}

static void nan_comes_first_and_is_told(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 8);
	answer_tensor(&answers, 0, 7, 8, 0x1234, 0);
	answer_tensor(&answers, 1, 1, 8, 0x99, 0);
	answer_tensor(&answers, 5, 5, 8, 0x1235, 12);
	check_tensors(&answers, "!5|!1|0,2-4,6-7|rank 5 has 12 NaN in fc.weight; ranks 0-4,6-7 "
				"have none; rank 1 also differs");
}

/* All have the same, or are unlike: a finding in either case. */
static void nan_on_all_ranks_is_told(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 4);
	answer_tensor(&answers, 0, 3, 8, 0x1234, 256);
	check_tensors(&answers,
		      "!0-3|ranks 0-3 have 256 NaN in fc.weight; the elements are the same "
		      "on these ranks");
	ask_weight(&answers, 2);
	answer_tensor(&answers, 0, 0, 8, 0x1234, 3);
	answer_tensor(&answers, 1, 1, 8, 0x1235, 4);
	check_tensors(&answers, "!0|!1|ranks 0-1 have NaN in fc.weight; the elements differ "
				"between the ranks");
	ask_weight(&answers, 3);
	answer_tensor(&answers, 0, 2, 8, 0x1234, 3);
	answer_tensor(&answers, 1, 1, 8, 0x1235, 3);
	check_tensors(&answers,
		      "!1|!0,2|fc.weight on rank 1 differs from ranks 0,2; ranks 0-2 have 3 NaN");
	ask_weight(&answers, 4);
	answer(&answers, 0, 3, "nan");
	check_tensors(&answers, "!0-3|fc.weight is nan on all 4 ranks");
	ask_weight(&answers, 4);
	answer(&answers, 0, 3, "inf");
	check_tensors(&answers, "0-3|fc.weight is the same on ranks 0-3");
}

static void answer_shard(struct answers *answers, int rank, uint32_t hash, const char *shard,
			 const char *placement)
{
	struct tensor *tensor;

	answer_tensor(answers, rank, rank, 8, hash, 0);
	tensor = answers_find(answers, rank)->tensor;
	tensor->placement = xstrdup(placement);
	tensor->shard = shard ? xstrdup(shard) : NULL;
}

/* Parts of one tensor differ by right; replicas of one part do not. */
static void shards_are_told_as_such(void **state)
{
	static const char placement[] = "Shard(0) of [32, 32]";
	struct answer_classes classes;
	struct answers answers;

	(void)state;
	ask_weight(&answers, 2);
	answer_shard(&answers, 0, 0x11, "0", placement);
	answer_shard(&answers, 1, 0x22, "1", placement);
	answer_classes_make(&classes, &answers);
	assert_true(answer_classes_are_shards(&classes));
	answer_classes_clear(&classes);
	check_tensors(&answers, "0|1|fc.weight is sharded, Shard(0) of [32, 32], on ranks 0-1");
	ask_weight(&answers, 4);
	for (int i = 0; i < 4; i++)
		answer_shard(&answers, i, 0x11 + (uint32_t)i % 2, i % 2 ? "1" : "0", placement);
	check_tensors(&answers, "0,2|1,3|fc.weight is sharded, Shard(0) of [32, 32], on ranks 0-3; "
				"replicas of a shard are the same");
	ask_weight(&answers, 2);
	answer_shard(&answers, 0, 0x11, "0", placement);
	answer_shard(&answers, 1, 0x22, "0", placement);
	answer_classes_make(&classes, &answers);
	assert_false(answer_classes_are_shards(&classes));
	answer_classes_clear(&classes);
	check_tensors(&answers, "0|1|replicas of one shard of fc.weight differ: rank 0 and rank 1");
	ask_weight(&answers, 2);
	answer_shard(&answers, 0, 0x11, NULL, placement);
	answer_shard(&answers, 1, 0x22, NULL, placement);
	check_tensors(&answers, "0|1|fc.weight is sharded, Shard(0) of [32, 32], on ranks 0-1; "
				"elements are not compared");
	ask_weight(&answers, 3);
	for (int i = 0; i < 3; i++)
		answer_shard(&answers, i, 0x11, "0", i == 1 ? "Shard(1) of [8, 128]" : placement);
	check_tensors(&answers, "!1|0,2|fc.weight is Shard(1) of [8, 128] on rank 1, but "
				"Shard(0) of [32, 32] on ranks 0,2");
}

static void another_shape_is_told(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 4);
	answer_tensor(&answers, 0, 3, 8, 0x1234, 0);
	answer_tensor(&answers, 2, 2, 7, 0x1234, 0);
	check_tensors(&answers,
		      "!2|0-1,3|fc.weight has shape [7, 32] on rank 2, but [8, 32] on ranks 0-1,3");
}

static void a_sample_makes_nothing_sure(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 2);
	answer_tensor(&answers, 0, 1, 8, 0, 0);
	check_tensors(&answers, "~0-1|fc.weight: sampled elements are the same on ranks 0-1");
}

/* Of those in a dict only what they are is told. */
static void tensors_within_a_value_are_not_all_shown(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 2);
	answer(&answers, 0, 1, "{'x': tensor float32 [8, 32] cpu}");
	check_tensors(&answers, "~0-1|fc.weight was not compared: only a summary of the value "
				"was read");
}

/* A function, whose name alone is shown, is no more. */
static void what_is_shown_by_its_name_is_not_compared(void **state)
{
	static const char *const texts[] = {
		"Net (2 modules)",
		"Linear (2 parameters)",
		"<function train.<locals>.<lambda> at play.py:18>",
		"<torch.optim.adam.Adam at 0x7f0012345678>",
		"[0, 1, \u2026]",
	};
	struct answers answers;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		ask_weight(&answers, 2);
		answer(&answers, 0, 1, texts[i]);
		check_tensors(&answers,
			      "~0-1|fc.weight was not compared: only a summary of the value "
			      "was read");
	}
	ask_weight(&answers, 2);
	answer(&answers, 0, 1, "{'lr': 0.1, 'betas': (0.9, 0.999)}");
	check_tensors(&answers, "0-1|fc.weight is the same on ranks 0-1");
}

/* What a rank's model has in it: a weight, and where it is known, lr. */
static void add_parts(struct answers *answers, int rank, uint32_t hash, const char *lr)
{
	struct tensor_parameters page = { .total = -1 };
	struct tensor_parameter *item = tensor_parameters_add(&page);
	size_t number;

	if (!answers->parts) {
		answers->parts = xcalloc(1, sizeof(*answers->parts));
		paramdiff_begin(answers->parts, "model", false, 1);
	}
	number = paramdiff_add_rank(answers->parts, rank);
	item->name = xstrdup("weight");
	item->tensor.dtype = xstrdup("float32");
	item->tensor.dimension_count = 1;
	item->tensor.shape[0] = item->tensor.element_count = 2;
	item->tensor.has_hash = hash != 0;
	item->tensor.hash = hash;
	if (lr) {
		item = tensor_parameters_add(&page);
		item->name = xstrdup("lr");
		item->value = xstrdup(lr);
	}
	page.total = (int64_t)page.count;
	paramdiff_take(answers->parts, number, &page);
}

static void check_parts(struct answers *answers, const char *wanted)
{
	paramdiff_judge(answers->parts);
	answers->parts->is_over = true;
	check_tensors(answers, wanted);
}

static void ask_model(struct answers *answers, int count)
{
	ask_weight(answers, count);
	answer(answers, 0, count - 1, "Net (2 modules)");
}

static void what_is_in_a_value_is_compared(void **state)
{
	struct answers answers;

	(void)state;
	ask_model(&answers, 3);
	for (int i = 0; i < 3; i++)
		add_parts(&answers, i, 0x11, NULL);
	check_parts(&answers, "0-2|1 parameter or buffer of model is the same on ranks 0-2");
	ask_model(&answers, 3);
	for (int i = 0; i < 3; i++)
		add_parts(&answers, i, i == 1 ? 0x22 : 0x11, "0.1");
	check_parts(&answers, "!1|0,2|weight on rank 1 differs from ranks 0,2");
	ask_model(&answers, 3);
	for (int i = 0; i < 3; i++)
		add_parts(&answers, i, 0x11, i == 1 ? "0.2" : "0.1");
	check_parts(&answers, "!1|0,2|lr is 0.2 on rank 1, but 0.1 on ranks 0,2");
	ask_model(&answers, 2);
	for (int i = 0; i < 2; i++)
		add_parts(&answers, i, 0x11, "0.1");
	check_parts(&answers, "0-1|1 tensor and 1 plain value of model are the same on ranks 0-1");
}

static void what_in_it_was_not_read_is_not_compared(void **state)
{
	struct answers answers;

	(void)state;
	ask_model(&answers, 2);
	add_parts(&answers, 0, 0, "0.1");
	add_parts(&answers, 1, 0x11, "0.1");
	check_parts(&answers, "~0-1|weight was not compared: the elements were not read");
	ask_model(&answers, 3);
	for (int i = 0; i < 3; i++)
		add_parts(&answers, i, 0x11, NULL);
	paramdiff_fail(answers.parts, 1, "it is gone");
	check_parts(&answers, "~1|0,2|not compared: it is gone");
}

/* Before all is known nothing is said. */
static void while_parts_are_compared_nothing_is_said(void **state)
{
	struct answers answers;

	(void)state;
	ask_model(&answers, 2);
	add_parts(&answers, 0, 0x11, NULL);
	check_tensors(&answers, "~0-1|");
}

/* It may be the same as the others. */
static void what_was_not_read_does_not_differ(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 4);
	answer_tensor(&answers, 0, 3, 8, 0x12, 0);
	answers_find(&answers, 2)->tensor->has_hash = false;
	answers_find(&answers, 2)->tensor->has_statistics = false;
	check_tensors(&answers,
		      "~2|0-1,3|fc.weight: shape and dtype are the same; elements were not read on "
		      "rank 2");
}

static void a_tensor_beside_none_is_told(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 3);
	answer_tensor(&answers, 0, 2, 8, 0x12, 0);
	answer(&answers, 1, 1, "None");
	check_tensors(&answers,
		      "!1|0,2|fc.weight is None on rank 1, but a tensor, float32 [8, 32] on "
		      "ranks 0,2");
}

static void numbers_within_a_tolerance_are_one_class(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 4);
	answers.tolerance = 0.01;
	answer(&answers, 0, 1, "0.5");
	answer(&answers, 2, 2, "0.505");
	answer(&answers, 3, 3, "0.515");
	check_tensors(&answers, "3|0-2 (2)|fc.weight is 0.515 on rank 3, but 0.5 on ranks 0-2");
}

/* One element of rank and against is that far apart. */
static void note_difference(struct answers *answers, int rank, int against, float distance)
{
	struct difference *difference = difference_add(answers, rank, against);
	const struct tensor *tensor = answers_find(answers, rank)->tensor;
	float one = distance;
	float other = 0;

	assert_int_equal(tensordiff_begin(&difference->found, tensor, tensor, 0, 0, NULL), 0);
	tensordiff_add(&difference->found, 0, (const uint8_t *)&one, (const uint8_t *)&other, 1);
	tensordiff_add_same(&difference->found, 1, tensor->element_count - 1);
	difference->state = DIFFERENCE_DONE;
}

static void tensors_within_a_tolerance_are_one_class(void **state)
{
	struct answers answers;

	(void)state;
	ask_weight(&answers, 4);
	answers.tolerance = 0.01;
	answer_tensor(&answers, 0, 1, 8, 0x1, 0);
	answer_tensor(&answers, 2, 2, 8, 0x2, 0);
	answer_tensor(&answers, 3, 3, 8, 0x3, 0);
	note_difference(&answers, 2, 0, 0.0078125f);
	note_difference(&answers, 3, 1, 0.5f);
	check_tensors(&answers,
		      "!3|0-2 (2)|fc.weight on rank 3 differs from ranks 0-2: 1 of 256 elements "
		      "differ, first at [0, 0]: 0.5 and 0; max |difference| 0.5 at [0, 0]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_measured_against_the_median),
		cmocka_unit_test(signs_are_told),
		cmocka_unit_test(the_largest_numbers_have_a_median),
		cmocka_unit_test(tensors_of_one_number_are_numbers),
		cmocka_unit_test(the_farthest_is_first),
		cmocka_unit_test(numbers_of_their_own_are_in_order),
		cmocka_unit_test(what_most_are_not_is_odd),
		cmocka_unit_test(addresses_do_not_differ),
		cmocka_unit_test(failures_are_together_and_last),
		cmocka_unit_test(who_has_not_answered_is_waited_for),
		cmocka_unit_test(what_looks_like_a_number_may_be_none),
		cmocka_unit_test(what_code_printed_is_a_part_of_its_answer),
		cmocka_unit_test(what_raised_is_told_from_what_was_not_run),
		cmocka_unit_test(the_oldest_questions_are_forgotten),
		cmocka_unit_test(what_is_long_is_forgotten_sooner),
		cmocka_unit_test(tensors_are_equal_by_their_hash),
		cmocka_unit_test(nan_comes_first_and_is_told),
		cmocka_unit_test(nan_on_all_ranks_is_told),
		cmocka_unit_test(shards_are_told_as_such),
		cmocka_unit_test(another_shape_is_told),
		cmocka_unit_test(a_sample_makes_nothing_sure),
		cmocka_unit_test(tensors_within_a_value_are_not_all_shown),
		cmocka_unit_test(what_is_shown_by_its_name_is_not_compared),
		cmocka_unit_test(what_is_in_a_value_is_compared),
		cmocka_unit_test(what_in_it_was_not_read_is_not_compared),
		cmocka_unit_test(while_parts_are_compared_nothing_is_said),
		cmocka_unit_test(what_was_not_read_does_not_differ),
		cmocka_unit_test(a_tensor_beside_none_is_told),
		cmocka_unit_test(numbers_within_a_tolerance_are_one_class),
		cmocka_unit_test(tensors_within_a_tolerance_are_one_class),
	};

	return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
