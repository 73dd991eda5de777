/*
 * In which parameters replicas differ, on the screen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/paramdiff.h"
#include "stage.h"
#include "ui/commands.h"
#include "ui/view.h"

#define RANKS 8

static void add(struct tensor_parameters *page, const char *name, int columns, uint32_t hash)
{
	struct tensor_parameter *parameter = tensor_parameters_add(page);
	struct tensor *tensor = &parameter->tensor;

	parameter->name = xstrdup(name);
	tensor->dtype = xstrdup("float32");
	tensor->dimension_count = 2;
	tensor->shape[0] = 64;
	tensor->shape[1] = columns;
	tensor->element_count = 64 * columns;
	tensor->item_size = 4;
	tensor->byte_count = 256 * columns;
	tensor->has_hash = true;
	tensor->hash = hash;
}

/* Rank 5 has drifted, and rank 6 has another head. */
static void give(struct paramdiff *diff, size_t number)
{
	struct tensor_parameters page = { .total = 4 };
	int rank = (int)number;

	add(&page, "layers.0.weight", 32, 1);
	add(&page, "layers.0.bias", 1, rank == 5 ? 22 : 2);
	add(&page, "layers.1.weight", 32, rank == 5 ? 33 : 3);
	add(&page, "head.weight", rank == 6 ? 31 : 32, rank == 6 ? 44 : 4);
	paramdiff_take(diff, number, &page);
	tensor_parameters_clear(&page);
}

static void begin(struct stage *stage)
{
	struct paramdiff *diff = &stage->engine.session.paramdiff;

	paramdiff_begin(diff, "model", false, 0);
	for (int rank = 0; rank < RANKS; rank++)
		paramdiff_add_rank(diff, rank);
	view_open(&stage->app.view, VIEW_PARAMETERS);
}

static void give_all(struct stage *stage)
{
	struct paramdiff *diff = &stage->engine.session.paramdiff;

	begin(stage);
	for (size_t i = 0; i < RANKS - 1; i++)
		give(diff, i);
	paramdiff_fail(diff, RANKS - 1, "the rank has exited");
	paramdiff_judge(diff);
	diff->is_over = true;
}

struct picture {
	const char *name;
	int row_count;
	int column_count;
};

static void draws_the_picture(void **state)
{
	static const struct picture pictures[] = {
		{ "parameters-80x24", 24, 80 },
		{ "parameters-40x10", 10, 40 },
		{ "parameters-200x50", 50, 200 },
	};
	struct stage *stage = *state;

	give_all(stage);
	for (size_t i = 0; i < ARRAY_LENGTH(pictures); i++) {
		struct buffer drawn = BUFFER_INIT;

		stage_resize(stage, pictures[i].row_count, pictures[i].column_count);
		stage_draw(stage, &drawn);
		stage_check_golden(pictures[i].name, &drawn);
		buffer_clear(&drawn);
	}
}

static void it_says_how_far_it_is(void **state)
{
	struct stage *stage = *state;

	begin(stage);
	stage_check_shows(stage, "model   0 parameters, ranks 0-7");
	for (size_t i = 0; i < 4; i++)
		give(&stage->engine.session.paramdiff, i);
	stage_check_shows(stage, "model   16 of ");
	stage_check_hides(stage, "layers.0.bias");
}

static void the_cursor_chooses_a_parameter(void **state)
{
	struct stage *stage = *state;

	give_all(stage);
	stage_keys(stage, "Down Down Space");
	stage_check_shows(stage, "focus 6 (1)");
	stage_keys(stage, "/ b i a s Enter");
	assert_int_equal(stage->app.view.cursors[VIEW_PARAMETERS], 0);
	app_draw(&stage->app);
	commands_run(&stage->app, "click 6 10");
	assert_int_equal(stage->app.view.cursors[VIEW_PARAMETERS], 1);
}

/* None of the ranks of a recording that is looked at can be asked. */
static void enter_compares_it(void **state)
{
	struct stage *stage = *state;

	give_all(stage);
	stage_keys(stage, "Down Enter");
	assert_int_equal(stage->app.view.kind, VIEW_COMPARE);
	assert_string_equal(stage->engine.session.answers.question,
			    "model.layers._modules[\"1\"].weight");
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_PARAMETERS);
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
}

static void nothing_differs(void **state)
{
	struct stage *stage = *state;
	struct paramdiff *diff = &stage->engine.session.paramdiff;

	begin(stage);
	for (size_t i = 0; i < RANKS; i++)
		give(diff, 0);
	for (size_t i = 1; i < RANKS; i++)
		paramdiff_fail(diff, i, "the rank has exited");
	paramdiff_judge(diff);
	diff->is_over = true;
	stage_check_shows(stage, "0 of ");
	stage_keys(stage, "Enter");
	stage_check_shows(stage, "no differing parameter found");
}

/* The first character of the summary, behind its mark. */
static int style_of_summary(struct stage *stage)
{
	app_draw(&stage->app);
	return canvas_cell(&stage->app.canvas, 1, 3)->style;
}

/* All ranks have the same, which is no number. */
static void nan_on_all_ranks_is_bad(void **state)
{
	struct stage *stage = *state;
	struct paramdiff *diff = &stage->engine.session.paramdiff;

	for (int count = 0; count < 2; count++) {
		begin(stage);
		for (size_t i = 0; i < RANKS; i++) {
			struct tensor_parameters page = { .total = 2 };

			add(&page, "layers.0.weight", 32, 1);
			page.items[0].tensor.has_statistics = true;
			page.items[0].tensor.statistics.nan_count = count;
			add(&page, "layers.0.bias", 1, 2);
			paramdiff_take(diff, i, &page);
		}
		paramdiff_judge(diff);
		diff->is_over = true;
		assert_int_equal(style_of_summary(stage),
				 count > 0 ? STYLE_VERDICT_BAD : STYLE_VERDICT_NOTE);
	}
	stage_check_shows(stage, "ranks 0-7 have NaN in 1 tensor of model: layers.0.weight");
	stage_check_shows(stage, "0 of 2 differ, 1 has NaN");
	stage_check_shows(stage, "float32 [64, 32] (1 NaN)");
}

/* What a recording has of them; here it has none, and says so. */
static void a_recording_is_looked_through(void **state)
{
	struct stage *stage = *state;

	commands_run(&stage->app, "diff-params model");
	assert_int_equal(stage->app.view.kind, VIEW_PARAMETERS);
	stage_check_shows(stage, "--record-locals");
}

static void it_fits_any_size(void **state)
{
	struct stage *stage = *state;

	give_all(stage);
	for (int rows = 1; rows < 30; rows += 3) {
		for (int columns = 1; columns < 90; columns += 4) {
			stage_resize(stage, rows, columns);
			stage_keys(stage, "End");
			app_draw(&stage->app);
		}
	}
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STAGE(draws_the_picture),
		ON_STAGE(it_says_how_far_it_is),
		ON_STAGE(the_cursor_chooses_a_parameter),
		ON_STAGE(enter_compares_it),
		ON_STAGE(nothing_differs),
		ON_STAGE(nan_on_all_ranks_is_bad),
		ON_STAGE(a_recording_is_looked_through),
		ON_STAGE(it_fits_any_size),
	};

	return cmocka_run_group_tests_name("parameters", tests, NULL, NULL);
}
