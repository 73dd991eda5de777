/*
 * What ranks answered to one question, on the screen: as it comes, equal
 * answers together, the odd first.
 */
#include <math.h>
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
#include "model/tensordiff.h"
#include "protocol/tensor.h"
#include "stage.h"
#include "ui/commands.h"
#include "ui/view.h"

static void ask(struct stage *stage, const char *question, enum answers_kind kind)
{
	struct answers *answers = &stage->engine.session.answers;

	answers_begin(answers, question, kind, stage->engine.session.now);
	for (int rank = 0; rank < 8; rank++)
		answers_wait(answers, rank);
	view_open(&stage->app.view, VIEW_COMPARE);
}

static void answer(struct stage *stage, int rank, const char *text)
{
	answers_take(&stage->engine.session.answers, rank, text, NULL);
}

static void answer_all(struct stage *stage)
{
	ask(stage, "loss.item()", ANSWERS_COMPARE);
	for (int rank = 0; rank < 8; rank++)
		answer(stage, rank, "0.1182");
	answer(stage, 3, "0.1306");
	answer(stage, 5, "nan");
}

static void answer_in_lines(struct stage *stage)
{
	ask(stage, "w", ANSWERS_BROADCAST);
	for (int rank = 0; rank < 8; rank++)
		answer(stage, rank,
		       "  train.py(19)<module>()\n-> train()\n"
		       "> train.py(14)train()\n-> loss = model(x)\n");
	answer(stage, 3,
	       "  train.py(19)<module>()\n-> train()\n"
	       "> train.py(13)train()\n-> x = load_batch(step, rank)\n");
	answers_take(&stage->engine.session.answers, 6, NULL,
		     "not evaluated: the rank is running: pause it first");
}

/* As in the picture: 12 of rank 5's elements are NaN. */
static struct tensor make_weight(int rank)
{
	bool is_odd = rank == 5;
	struct tensor tensor;

	tensor_init(&tensor);
	tensor.type = xstrdup("torch.nn.Parameter");
	tensor.dtype = xstrdup("float32");
	tensor.dimension_count = 2;
	tensor.shape[0] = 8;
	tensor.shape[1] = 32;
	tensor.element_count = 256;
	tensor.item_size = 4;
	tensor.byte_count = 1024;
	tensor.has_statistics = true;
	tensor.share = 1;
	tensor.statistics = (struct tensor_statistics){
		.minimum = { .kind = TENSOR_NUMBER_REAL, .real = -0.41 },
		.maximum = { .kind = TENSOR_NUMBER_REAL, .real = is_odd ? 0.38 : 0.39 },
		.mean = 0.001,
		.deviation = 0.18,
		.norm = is_odd ? NAN : 2.8134,
		.has_norm = true,
		.count = 256,
		.nan_count = is_odd ? 12 : 0,
	};
	tensor.has_hash = true;
	tensor.hash = is_odd ? 0x9f3c0102 : 0x77ab0304;
	return tensor;
}

static void answer_tensor(struct stage *stage, int rank, struct tensor *tensor)
{
	struct answer answer = {
		.rank = rank,
		.has_come = true,
		.text = (char *)"tensor",
		.tensor = tensor,
		.address = 0x7f0000001000,
	};

	answers_take_whole(&stage->engine.session.answers, &answer);
	tensor_clear(tensor);
}

static void answer_weights(struct stage *stage)
{
	ask(stage, "model.fc.weight", ANSWERS_COMPARE);
	for (int rank = 0; rank < 8; rank++) {
		struct tensor tensor = make_weight(rank);

		answer_tensor(stage, rank, &tensor);
	}
}

/* What rank 5 has differs from [3, 8] on, in each 21st element. */
static void find_difference(struct stage *stage, enum difference_state state)
{
	struct answers *answers = &stage->engine.session.answers;
	struct difference *difference = difference_add(answers, 5, 0);
	float one[256];
	float other[256];

	for (int i = 0; i < 256; i++) {
		other[i] = sinf((float)i / 9);
		one[i] = other[i];
		if (i >= 104 && i % 21 == 0)
			one[i] += (float)i / 1000;
	}
	one[104] = NAN;
	difference->state = state;
	difference->done = 12 << 20;
	difference->total = 64 << 20;
	assert_int_equal(tensordiff_begin(&difference->found, answers_find(answers, 5)->tensor,
					  answers_find(answers, 0)->tensor, 64, 128, NULL),
			 0);
	if (state == DIFFERENCE_DONE)
		tensordiff_add(&difference->found, 0, (uint8_t *)one, (uint8_t *)other, 256);
}

static void differ(struct stage *stage)
{
	answer_weights(stage);
	find_difference(stage, DIFFERENCE_DONE);
}

static void open_it(struct stage *stage)
{
	differ(stage);
	stage->app.view.has_heat = false;
	stage_keys(stage, "Enter");
	assert_int_equal(stage->app.view.kind, VIEW_DIFFERENCE);
}

static void open_it_in_colour(struct stage *stage)
{
	open_it(stage);
	stage->app.view.has_heat = true;
}

static void open_what_is_read(struct stage *stage)
{
	answer_weights(stage);
	find_difference(stage, DIFFERENCE_READING);
	stage_keys(stage, "Enter");
}

/* Nothing of it is as it should be. */
static void answer_all_kinds(struct stage *stage)
{
	struct tensor tensor;

	answer_weights(stage);
	tensor = make_weight(2);
	tensor.shape[1] = 31;
	tensor.hash = 1;
	answer_tensor(stage, 2, &tensor);
	tensor = make_weight(5);
	tensor.statistics.infinity_count = 1234;
	tensor.statistics.maximum.real = 6.02e23;
	answer_tensor(stage, 5, &tensor);
	tensor = make_weight(6);
	tensor.has_statistics = false;
	tensor.has_hash = false;
	tensor.unread = xstrdup("its elements lie on cuda:6");
	answer_tensor(stage, 6, &tensor);
	answers_take(&stage->engine.session.answers, 7, NULL, "rank 7 has exited");
}

struct picture {
	const char *name;
	int row_count;
	int column_count;
	void (*answer)(struct stage *stage);
};

static void draws_the_picture(void **state)
{
	static const struct picture pictures[] = {
		{ "compare-80x24", 24, 80, answer_all },
		{ "compare-40x10", 10, 40, answer_all },
		{ "compare-tensor-80x24", 24, 80, answer_weights },
		{ "compare-tensor-40x10", 10, 40, answer_weights },
		{ "compare-differs-80x24", 24, 80, differ },
		{ "difference-80x24", 24, 80, open_it },
		{ "difference-colour-80x24", 24, 80, open_it_in_colour },
		{ "difference-40x10", 10, 40, open_it },
		{ "difference-200x50", 50, 200, open_it },
		{ "difference-reading-80x24", 24, 80, open_what_is_read },
		{ "compare-kinds-80x24", 24, 80, answer_all_kinds },
		{ "compare-kinds-40x10", 10, 40, answer_all_kinds },
		{ "compare-kinds-200x50", 50, 200, answer_all_kinds },
		{ "broadcast-80x24", 24, 80, answer_in_lines },
	};
	struct stage *stage = *state;

	for (size_t i = 0; i < ARRAY_LENGTH(pictures); i++) {
		struct buffer drawn = BUFFER_INIT;

		stage_resize(stage, pictures[i].row_count, pictures[i].column_count);
		pictures[i].answer(stage);
		stage_draw(stage, &drawn);
		stage_check_golden(pictures[i].name, &drawn);
		buffer_clear(&drawn);
	}
}

static void lines_appear_as_ranks_answer(void **state)
{
	struct stage *stage = *state;

	ask(stage, "step", ANSWERS_COMPARE);
	stage_check_shows(stage, "0 of 8 answered");
	stage_check_shows(stage, "0-7");
	answer(stage, 0, "41");
	answer(stage, 2, "41");
	stage_check_shows(stage, "2 of 8 answered");
	stage_check_shows(stage, "  0,2         (2)  41");
	stage_check_shows(stage, "  1,3-7       (6)  \u2026");
}

static void old_answers_are_said_to_be(void **state)
{
	struct stage *stage = *state;

	answer_all(stage);
	stage_check_hides(stage, "asked");
	stage->engine.session.now += 30;
	stage_check_shows(stage, "evaluated 30 s ago");
}

static void the_cursor_chooses_ranks(void **state)
{
	struct stage *stage = *state;

	answer_all(stage);
	stage_keys(stage, "Down Space");
	stage_check_shows(stage, "focus 3 (1)");
	stage_keys(stage, "End Space");
	stage_check_shows(stage, "focus 0-2,4,6-7 (6)");
	stage_keys(stage, "Home g");
	stage_check_shows(stage, "rank 5");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
}

static void the_whole_of_an_answer_is_shown(void **state)
{
	struct stage *stage = *state;

	answer_in_lines(stage);
	stage_keys(stage, "Down Enter");
	assert_int_equal(stage->app.view.kind, VIEW_TEXT);
	stage_check_shows(stage, "rank 3");
	stage_check_shows(stage, "-> x = load_batch(step, rank)");
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_COMPARE);
	assert_int_equal(stage->app.view.cursors[VIEW_COMPARE], 1);
	ask(stage, "step", ANSWERS_COMPARE);
	stage_keys(stage, "Enter");
	stage_check_shows(stage, "no rank has answered yet");
}

static void a_line_is_not_sent_again(void **state)
{
	struct stage *stage = *state;

	answer_in_lines(stage);
	stage_keys(stage, "R");
	stage_check_shows(stage, "the last broadcast is not repeated automatically");
}

static void it_is_clicked(void **state)
{
	struct stage *stage = *state;

	answer_all(stage);
	app_draw(&stage->app);
	commands_run(&stage->app, "click 5 10");
	assert_int_equal(stage->app.view.cursors[VIEW_COMPARE], 1);
	commands_run(&stage->app, "click 6 10 open");
	assert_int_equal(stage->app.view.kind, VIEW_TEXT);
	stage_check_shows(stage, "ranks 0-2,4,6-7");
}

static void a_difference_is_opened(void **state)
{
	struct stage *stage = *state;

	differ(stage);
	stage_check_shows(stage, "rank 5 against the majority: 9 of 256");
	stage_keys(stage, "Down Enter");
	stage_check_shows(stage, "the selected row is the reference");
	stage_keys(stage, "Up Enter");
	stage_check_shows(stage, "9 of 256 elements differ; in 1 of them");
	stage_check_shows(stage, "first at [3, 8]: nan and");
	stage_keys(stage, "t 0 . 3 Enter");
	stage_check_shows(stage, "not within the tolerance of 0.3");
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_COMPARE);
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
}

/* Two float64 may be farther apart than the largest is large. */
static void an_infinite_difference_is_seen(void **state)
{
	struct stage *stage = *state;
	struct tensordiff *found;

	open_it(stage);
	found = &stage->app.engine->session.answers.differences[0].found;
	found->grid[0] = INFINITY;
	found->maximum = INFINITY;
	app_draw(&stage->app);
	stage_check_shows(stage, "|difference| inf at");
	stage_check_shows(stage, "\u2502 @.....");
}

static void reading_is_given_up(void **state)
{
	struct stage *stage = *state;

	open_what_is_read(stage);
	stage_check_shows(stage, "reading both tensors, 12 MB of 64 MB");
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_DIFFERENCE);
	stage_check_shows(stage, "comparison cancelled before the tensors were read");
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_COMPARE);
}

static void other_shapes_have_no_elements_to_compare(void **state)
{
	struct stage *stage = *state;

	answer_all_kinds(stage);
	stage_check_shows(stage, "rank 2 against the majority: shape ");
	stage_keys(stage, "Down Enter");
	assert_int_equal(stage->app.view.kind, VIEW_COMPARE);
}

static void a_rows_tensor_is_shown(void **state)
{
	struct stage *stage = *state;

	answer_weights(stage);
	stage_keys(stage, "T");
	assert_int_equal(stage->app.view.kind, VIEW_TENSOR);
	stage_check_shows(stage, "Tensor \u00b7 model.fc.weight");
	assert_int_equal(stage->engine.session.choice.selection.rank, 5);
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_COMPARE);
}

static void two_ranks_have_no_majority(void **state)
{
	struct stage *stage = *state;
	struct answers *answers = &stage->engine.session.answers;
	struct tensor tensor;

	answers_begin(answers, "w", ANSWERS_COMPARE, 0);
	for (int rank = 4; rank < 6; rank++) {
		tensor = make_weight(rank);
		answer_tensor(stage, rank, &tensor);
	}
	view_open(&stage->app.view, VIEW_COMPARE);
	stage_check_shows(stage, "rank 5 against rank 4: ");
}

static void what_is_compared_is_watched(void **state)
{
	struct stage *stage = *state;

	answer_all(stage);
	stage_keys(stage, "w");
	assert_string_equal(stage->engine.session.choice.displays.items[0].expression,
			    "loss.item()");
}

static void the_tolerance_joins_classes(void **state)
{
	struct stage *stage = *state;

	answer_all(stage);
	stage_keys(stage, "t 0 . 1 Enter");
	stage_check_shows(stage, "2 values over 8 ranks");
	stage_keys(stage, "t x Enter");
	stage_check_shows(stage, "'x' is");
}

static void it_is_searched(void **state)
{
	struct stage *stage = *state;

	answer_in_lines(stage);
	stage_keys(stage, "/ l o a d _ Enter");
	stage_check_shows(stage, "load_: 1 of 1");
	assert_int_equal(stage->app.view.cursors[VIEW_COMPARE], 3);
}

static void back_leads_to_it(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "M");
	answer_all(stage);
	stage_keys(stage, "? L Esc");
	assert_int_equal(stage->app.view.kind, VIEW_COMPARE);
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_MERGED);
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
}

static void it_fits_any_size(void **state)
{
	struct stage *stage = *state;

	answer_in_lines(stage);
	for (int rows = 1; rows < 30; rows += 3) {
		for (int columns = 1; columns < 90; columns += 4) {
			stage_resize(stage, rows, columns);
			stage_keys(stage, "End");
			app_draw(&stage->app);
		}
	}
}

static void nobody_can_be_asked(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, ": b r o a d c a s t Space x Enter");
	stage_check_shows(stage, "broadcast: none of the ranks 0-7 is stopped");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STAGE(draws_the_picture),
		ON_STAGE(lines_appear_as_ranks_answer),
		ON_STAGE(old_answers_are_said_to_be),
		ON_STAGE(the_cursor_chooses_ranks),
		ON_STAGE(the_whole_of_an_answer_is_shown),
		ON_STAGE(a_line_is_not_sent_again),
		ON_STAGE(a_difference_is_opened),
		ON_STAGE(an_infinite_difference_is_seen),
		ON_STAGE(reading_is_given_up),
		ON_STAGE(other_shapes_have_no_elements_to_compare),
		ON_STAGE(a_rows_tensor_is_shown),
		ON_STAGE(two_ranks_have_no_majority),
		ON_STAGE(what_is_compared_is_watched),
		ON_STAGE(the_tolerance_joins_classes),
		ON_STAGE(it_is_clicked),
		ON_STAGE(it_is_searched),
		ON_STAGE(back_leads_to_it),
		ON_STAGE(it_fits_any_size),
		ON_STAGE(nobody_can_be_asked),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
