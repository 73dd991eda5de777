/*
 * The tensor pane: what a tensor is, its statistics, and its elements as
 * numbers, as a map and as a histogram; moving in it, and what changed.
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
#include "base/error.h"
#include "model/tensorview.h"
#include "stage.h"
#include "ui/commands.h"
#include "ui/layout.h"
#include "ui/tensorscreen.h"
#include "ui/theme.h"
#include "ui/view.h"
#include "ui/views/pane-tensor.h"

static struct tensorview *known_of(struct stage *stage)
{
	return &stage->engine.session.tensorview;
}

/* Any value, the same each time: between -0.41 and 0.39. */
static double value_at(int64_t flat)
{
	return (double)(flat * 7919 % 801 - 410) / 1000;
}

static json_t *number_at(int64_t flat, int64_t odd)
{
	return flat == odd ? json_string("nan") : json_real(value_at(flat));
}

/* Of a plane of so many columns, at place 0 of the dimensions before. */
static json_t *numbers_of(const struct tensor_slice *slice, int64_t columns, int64_t odd)
{
	json_t *numbers = json_array();

	for (int64_t i = 0; i < slice->row_count; i++)
		for (int64_t j = 0; j < slice->column_count; j++)
			json_array_append_new(
				numbers,
				number_at((slice->row + i) * columns + slice->column + j, odd));
	return numbers;
}

static json_t *slice_of(const struct tensor_slice *slice, int64_t columns, int64_t odd)
{
	json_t *json = tensor_slice_to_json(slice);

	json_object_set_new(json, "numbers", numbers_of(slice, columns, odd));
	return json;
}

static json_t *statistics_of(int64_t nan_count)
{
	return json_pack("{s:f, s:f, s:f, s:f, s:o, s:I, s:i, s:i}", "min", -0.41, "max", 0.39,
			 "mean", 0.00123, "std", 0.1801, "norm",
			 nan_count > 0 ? json_string("nan") : json_real(2.8134), "nan",
			 (json_int_t)nan_count, "inf", 0, "zeros", 0);
}

static json_t *histogram_of(void)
{
	json_t *bins = json_array();

	for (int i = 0; i < TENSOR_BINS; i++)
		json_array_append_new(bins, json_integer((i + 1) * (60 - i) / 60));
	return json_pack("{s:f, s:f, s:o}", "low", -0.41, "high", 0.39, "bins", bins);
}

static json_t *tensor_of(int64_t rows, int64_t columns, int64_t nan_count)
{
	return json_pack("{s:s, s:[I,I], s:[I,i], s:I, s:i, s:I, s:s, s:b, s:I, s:i, s:b, s:b, "
			 "s:o, s:o, s:f}",
			 "dtype", "float32", "shape", (json_int_t)rows, (json_int_t)columns,
			 "strides", (json_int_t)columns, 1, "numel", (json_int_t)(rows * columns),
			 "itemsize", 4, "nbytes", (json_int_t)(4 * rows * columns), "device", "cpu",
			 "requires_grad", 1, "storage_nbytes", (json_int_t)(4 * rows * columns),
			 "storage_users", 1, "is_parameter", 1, "live", 0, "stats",
			 statistics_of(nan_count), "histogram", histogram_of(), "share", 1.0);
}

/* What a node tells of it where no statistics are wanted. */
static json_t *bare(const struct tensorview *known)
{
	json_t *tensor = tensor_to_json(&known->tensor);

	json_object_set_new(tensor, "stats", json_null());
	json_object_del(tensor, "histogram");
	return tensor;
}

static void take(struct stage *stage, enum tensor_work work, json_t *owned_tensor,
		 json_t *owned_slice)
{
	struct error error = ERROR_INIT;
	json_t *body = json_object();

	json_object_set_new(
		body, "value",
		json_pack("{s:s, s:s, s:s}", "name", "x", "type", "Tensor", "value", "tensor"));
	json_object_set_new(body, "tensor",
			    owned_tensor != NULL ? owned_tensor : bare(known_of(stage)));
	if (owned_slice != NULL)
		json_object_set_new(body, "slice", owned_slice);
	json_object_set_new(body, "frame",
			    json_pack("{s:s, s:s, s:i}", "func", "train", "file", "/job/train.py",
				      "lineno", 14));
	if (tensorview_take(known_of(stage), work, body, stage->engine.session.now, &error) < 0)
		fail_msg("%s", error.message);
	json_decref(body);
}

static struct tensor_slice slice_at(const struct tensor *tensor, int64_t row, int64_t column,
				    int64_t rows, int64_t columns)
{
	struct tensor_place place = { row, column };
	struct tensor_plane plane;

	tensor_plane_init(&plane);
	tensor_plane_fit(&plane, tensor);
	return tensor_plane_slice(&plane, &place, rows, columns);
}

/* It is looked at, and has come. */
static void show(struct stage *stage, int64_t rows, int64_t columns, int64_t odd)
{
	struct tensorview *known = known_of(stage);
	struct tensor_slice slice;

	tensorview_look(known, "model.fc.weight");
	tensorview_move(known, 5, 0, 105);
	tensorview_begin_reading(known);
	take(stage, TENSOR_WORK_LOOK, tensor_of(rows, columns, odd >= 0 ? 12 : 0), NULL);
	slice = slice_at(&known->tensor, 0, 0, rows < 60 ? rows : 60, columns < 60 ? columns : 60);
	take(stage, TENSOR_WORK_SLICE, tensor_of(rows, columns, odd >= 0 ? 12 : 0),
	     slice_of(&slice, columns, odd));
	view_open(&stage->app.view, VIEW_TENSOR);
}

/* The map that the pane wants. */
static void read_map(struct stage *stage, int64_t odd)
{
	struct tensorview *known = known_of(stage);
	const struct view *view = &stage->app.view;
	struct tensor_screen screen;
	struct tensor_slice wanted;
	struct layout layout;
	int rows;
	int columns;

	layout_make(&layout, &stage->engine.session, view);
	tensor_screen_make(&screen, &stage->engine.session, view, layout.body.row_count,
			   layout.body.column_count);
	tensor_screen_map(&screen, view, &rows, &columns);
	tensor_heat_clear(&known->next_heat);
	tensor_heat_begin(&known->next_heat, &screen.plane, &known->tensor, rows, columns,
			  screen.cursor.column);
	while (known->next_heat.bins != NULL && tensor_heat_next(&known->next_heat, &wanted))
		take(stage, TENSOR_WORK_HEAT, NULL, slice_of(&wanted, screen.columns, odd));
}

static void show_numbers(struct stage *stage)
{
	show(stage, 8, 32, 3 * 32 + 8);
}

static void show_map(struct stage *stage)
{
	show(stage, 8, 32, 3 * 32 + 8);
	stage->app.view.tensor.mode = TENSOR_HEAT;
	read_map(stage, 3 * 32 + 8);
}

static void show_large_map(struct stage *stage)
{
	show(stage, 300, 500, 3 * 500 + 8);
	stage->app.view.tensor.mode = TENSOR_HEAT;
	read_map(stage, 3 * 500 + 8);
}

static void show_histogram(struct stage *stage)
{
	show(stage, 8, 32, 3 * 32 + 8);
	stage->app.view.tensor.mode = TENSOR_HISTOGRAM;
}

struct picture {
	const char *name;
	int row_count;
	int column_count;
	void (*show)(struct stage *stage);
	bool is_ascii;
};

static void draws_the_picture(void **state)
{
	static const struct picture pictures[] = {
		{ "tensor-80x24", 24, 80, show_numbers, false },
		{ "tensor-40x10", 10, 40, show_numbers, false },
		{ "tensor-200x50", 50, 200, show_numbers, false },
		{ "tensor-heat-80x24", 24, 80, show_map, false },
		{ "tensor-heat-ascii-80x24", 24, 80, show_large_map, true },
		{ "tensor-histogram-80x24", 24, 80, show_histogram, false },
	};
	struct stage *stage = *state;

	for (size_t i = 0; i < ARRAY_LENGTH(pictures); i++) {
		struct buffer drawn = BUFFER_INIT;

		stage_resize(stage, pictures[i].row_count, pictures[i].column_count);
		stage->app.view.is_ascii = pictures[i].is_ascii;
		pictures[i].show(stage);
		stage_draw(stage, &drawn);
		stage_check_golden(pictures[i].name, &drawn);
		buffer_clear(&drawn);
		tensor_choice_init(&stage->app.view.tensor);
	}
}

/* Where there are colours a cell has two values: the letters are steps. */
static void a_map_has_two_colours_in_a_cell(void **state)
{
	struct stage *stage = *state;
	struct buffer drawn = BUFFER_INIT;

	stage->app.view.has_heat = true;
	show_map(stage);
	app_draw(&stage->app);
	for (int row = 0; row < 24; row++) {
		for (int column = 0; column < 80; column++) {
			const struct cell *cell = canvas_cell(&stage->app.canvas, row, column);
			bool is_pair = cell->lower != 0;
			int step = (is_pair ? cell->lower : cell->style) - STYLE_HEAT_1;

			buffer_append_char(&drawn,
					   step < 0 || step >= STYLE_HEAT_COUNT
						   ? (cell->style == STYLE_VALUE_NAN ? '!' : '.')
						   : (char)((is_pair ? 'a' : 'A') + step));
		}
		buffer_append_char(&drawn, '\n');
	}
	stage_check_golden("tensor-heat-colours", &drawn);
	buffer_clear(&drawn);
}

/* An element that is masked is shown as numpy shows it. */
static void what_is_masked_is_counted(void **state)
{
	struct stage *stage = *state;
	struct tensorview *known = known_of(stage);
	json_t *tensor = tensor_of(8, 32, 0);
	struct tensor_slice slice;
	json_t *told;

	show_numbers(stage);
	stage_check_hides(stage, "masked");
	json_object_set_new(tensor, "has_mask", json_true());
	json_object_set_new(json_object_get(tensor, "stats"), "count", json_integer(253));
	json_object_set_new(json_object_get(tensor, "stats"), "masked", json_integer(3));
	slice = slice_at(&known->tensor, 0, 0, 8, 32);
	told = slice_of(&slice, 32, -1);
	json_array_set_new(json_object_get(told, "numbers"), 0, json_pack("{s:s}", "text", "--"));
	tensorview_begin_reading(known);
	take(stage, TENSOR_WORK_SLICE, tensor, told);
	stage_check_shows(stage, "3 of 256 masked");
	stage_check_shows(stage, "[0, 0] --");
}

static void the_cursor_moves(void **state)
{
	struct stage *stage = *state;

	show_numbers(stage);
	stage_check_shows(stage, "rows 0-7 of 8, columns 0-8 of 32");
	stage_check_shows(stage, "[0, 0] -0.41");
	stage_keys(stage, "Down Down Right");
	stage_check_shows(stage, "[2, 1]");
	stage_keys(stage, "End");
	stage_check_shows(stage, "columns 23-31 of 32");
	stage_check_shows(stage, "[2, 31]");
	stage_keys(stage, "End");
	stage_check_shows(stage, "[7, 31]");
	stage_keys(stage, "Home PgUp");
	stage_check_shows(stage, "[0, 0]");
	stage_keys(stage, "Left Up");
	stage_check_shows(stage, "[0, 0]");
}

static void a_click_chooses_an_element(void **state)
{
	struct stage *stage = *state;

	show_numbers(stage);
	app_draw(&stage->app);
	commands_run(&stage->app, "click 12 28");
	stage_check_shows(stage, "[2, 2]");
	stage->app.view.tensor.mode = TENSOR_HEAT;
	read_map(stage, -1);
	app_draw(&stage->app);
	commands_run(&stage->app, "click 13 11");
	stage_check_shows(stage, "heat map");
	stage_check_hides(stage, "[2, 2]");
}

static void slices_are_typed(void **state)
{
	struct stage *stage = *state;

	show_numbers(stage);
	stage_keys(stage, "i");
	stage_check_shows(stage, "index [:, :]");
	stage_keys(stage, "C-u [ 3 , Space : ] Enter");
	stage_check_shows(stage, "[3, :]   columns 0-8 of 32");
	stage_check_shows(stage, "\u00b7");
	stage_keys(stage, ">");
	stage_check_shows(stage, "[4, :]");
	stage_keys(stage, "i C-u 9 Enter");
	stage_check_shows(stage, "dimension 0 has 8 elements");
	stage_keys(stage, "i C-u : , : , : Enter");
	stage_check_shows(stage, "the tensor has only 2 dimensions");
	stage_keys(stage, "i C-u : , 3 : 5 Enter");
	stage_check_shows(stage, "cannot end the range before the last");
}

static void numbers_are_written_otherwise(void **state)
{
	struct stage *stage = *state;

	show_numbers(stage);
	stage_check_shows(stage, "-0.4100");
	stage_keys(stage, "- -");
	stage_check_shows(stage, "-0.41 ");
	stage_keys(stage, "F F + +");
	stage_check_shows(stage, "-4.1000e-01");
	stage_check_shows(stage, "scientific numbers");
	stage_keys(stage, "F");
	stage_check_shows(stage, "0x1.");
	stage_keys(stage, "v v o");
	stage_check_shows(stage, "logarithmic histogram");
}

static void what_was_found_is_shown(void **state)
{
	struct stage *stage = *state;
	struct tensorview *known = known_of(stage);

	show_numbers(stage);
	known->has_found = true;
	known->found = 3 * 32 + 8;
	stage_check_shows(stage, "[3, 8] nan");
	known->has_found = true;
	known->found = -1;
	stage_check_shows(stage, "the tensor has no element of the requested kind");
	known->tensor.statistics.nan_count = 0;
	known->tensor.statistics.infinity_count = 0;
	known->has_found = true;
	stage_check_shows(stage, "the tensor has no NaN and no infinity");
	/* A node may say anything. */
	known->has_found = true;
	known->found = 1000000;
	app_draw(&stage->app);
}

static void what_changed_is_marked(void **state)
{
	struct stage *stage = *state;
	struct tensorview *known = known_of(stage);
	struct tensor_slice slice;
	const struct cell *cell;

	show(stage, 8, 32, -1);
	slice = slice_at(&known->tensor, 0, 0, 8, 32);
	tensorview_begin_reading(known);
	/* The first row is what the second was. */
	slice.row = 1;
	slice.row_count = 7;
	take(stage, TENSOR_WORK_LOOK, tensor_of(8, 32, 0), slice_of(&slice, 33, -1));
	app_draw(&stage->app);
	cell = canvas_cell(&stage->app.canvas, 11, 18);
	assert_int_equal(cell->style, STYLE_VALUE_CHANGED);
	stage_check_shows(stage, "norm 2.81");
}

static void what_is_not_whole_says_so(void **state)
{
	struct stage *stage = *state;
	struct tensorview *known = known_of(stage);

	show_numbers(stage);
	stage_check_shows(stage, "Rank 5 has 12 NaN in model.fc.weight");
	stage_check_hides(stage, "of the elements");
	known->tensor.share = 0.0312;
	stage_check_shows(stage, "from 3.1 % of the elements");
	known->tensor.is_torn = true;
	stage_check_shows(stage, "~ changed while read");
	stage->engine.session.now += 30;
	stage_check_shows(stage, "read 30 s ago");
	tensorview_fail(known, "it has ended");
	stage_check_shows(stage, "refresh failed: it has ended");
	stage_check_shows(stage, "-0.4100");
}

static void what_cannot_be_read_says_why(void **state)
{
	struct stage *stage = *state;
	struct tensorview *known = known_of(stage);

	tensorview_look(known, "loss");
	view_open(&stage->app.view, VIEW_TENSOR);
	stage_check_shows(stage, "reading the tensor");
	tensorview_fail(known, "the name loss is not known here");
	stage_check_shows(stage, "the name loss is not known here");
	show_numbers(stage);
	known->tensor.unread = xstrdup("the tensor is not in CPU memory: an agent can read it");
	free(known->tensor.device);
	known->tensor.device = xstrdup("cuda:0");
	stage_check_shows(stage, "the tensor is not in CPU memory: an agent can read it (:inject)");
	stage_keys(stage, "N");
	stage_check_shows(stage, "\n the tensor is not in CPU memory");
}

static void it_is_opened_and_left(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, ": t e n s o r Enter");
	stage_check_shows(stage, "tensor needs a Python expression");
	stage_keys(stage, "T x . g r a d Enter");
	assert_int_equal(stage->app.view.kind, VIEW_TENSOR);
	stage_check_shows(stage, "Tensor \u00b7 x.grad");
	stage_keys(stage, "? Esc");
	assert_int_equal(stage->app.view.kind, VIEW_TENSOR);
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
	stage_keys(stage, ": t e n s o r - f i n d Space n a n Enter");
	stage_check_shows(stage, "no tensor is shown");
}

static void it_fits_any_size(void **state)
{
	struct stage *stage = *state;

	show(stage, 40, 60, 7);
	for (int mode = 0; mode < TENSOR_MODE_COUNT; mode++) {
		stage->app.view.tensor.mode = (enum tensor_mode)mode;
		stage->app.view.has_heat = mode == TENSOR_HEAT;
		for (int rows = 1; rows < 30; rows += 3) {
			for (int columns = 1; columns < 90; columns += 7) {
				stage_resize(stage, rows, columns);
				if (mode == TENSOR_HEAT && rows == 13)
					read_map(stage, 7);
				stage_keys(stage, "End PgDn");
				app_draw(&stage->app);
			}
		}
	}
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STAGE(draws_the_picture),
		ON_STAGE(a_map_has_two_colours_in_a_cell),
		ON_STAGE(what_is_masked_is_counted),
		ON_STAGE(the_cursor_moves),
		ON_STAGE(a_click_chooses_an_element),
		ON_STAGE(slices_are_typed),
		ON_STAGE(numbers_are_written_otherwise),
		ON_STAGE(what_was_found_is_shown),
		ON_STAGE(what_changed_is_marked),
		ON_STAGE(what_is_not_whole_says_so),
		ON_STAGE(what_cannot_be_read_says_why),
		ON_STAGE(it_is_opened_and_left),
		ON_STAGE(it_fits_any_size),
	};

	return cmocka_run_group_tests_name("tensor pane", tests, NULL, NULL);
}
