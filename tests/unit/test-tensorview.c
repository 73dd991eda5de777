/*
 * What the tensor pane reckons: planes of a tensor and their text, the means
 * of a map, numbers as people read them, and readings that follow each other.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/tensorformat.h"
#include "model/tensorview.h"

static struct tensor shaped(int count, const int64_t *shape)
{
	struct tensor tensor;

	tensor_init(&tensor);
	tensor.dimension_count = count;
	tensor.element_count = 1;
	for (int i = 0; i < count; i++) {
		tensor.shape[i] = shape[i];
		tensor.element_count *= shape[i];
	}
	return tensor;
}

static void check_plane(const struct tensor_plane *plane, const char *expected)
{
	struct buffer text = BUFFER_INIT;

	tensor_plane_append(&text, plane);
	assert_string_equal(text.data, expected);
	buffer_clear(&text);
}

static void the_last_two_dimensions_run(void **state)
{
	static const int64_t shape[] = { 4, 8, 32 };
	static const char *const texts[] = { "[]", "[:]", "[:, :]", "[0, :, :]" };
	struct tensor_plane plane;

	(void)state;
	for (int count = 0; count <= 3; count++) {
		struct tensor tensor = shaped(count, shape);

		tensor_plane_init(&plane);
		tensor_plane_fit(&plane, &tensor);
		check_plane(&plane, texts[count]);
	}
}

struct slice_text {
	const char *text;
	const char *plane; /* NULL: it is refused */
	int64_t row;
	int64_t column;
};

static void a_slice_is_read(void **state)
{
	static const int64_t shape[] = { 4, 8, 32 };
	static const struct slice_text texts[] = {
		{ "[2, :, :]", "[2, :, :]", 0, 0 },
		{ "2", "[2, :, :]", 0, 0 },
		{ " [ -1 , : , 3: ] ", "[3, :, :]", 0, 3 },
		{ ":,0,:", "[:, 0, :]", 0, 0 },
		{ "[:, 5, 31:]", "[:, 5, :]", 0, 31 },
		{ "[1,2]", "[1, 2, :]", 0, 0 },
		{ "[1,2,-2:]", "[1, 2, :]", 0, 30 },
		{ "[1,2,3]", "[1, 2, 3]", 0, 0 },
		{ "[1:, :, 0]", "[:, :, 0]", 1, 0 },
		{ "", NULL, 0, 0 },
		{ "[:, :, :]", NULL, 0, 0 },
		{ "[0, 0, 0, 0]", NULL, 0, 0 },
		{ "[4, :, :]", NULL, 0, 0 },
		{ "[-5, :, :]", NULL, 0, 0 },
		{ "[0, :, 32:]", NULL, 0, 0 },
		{ "[0, :, 1:4]", NULL, 0, 0 },
		{ "[a, :, :]", NULL, 0, 0 },
		{ "[0 :, :", NULL, 0, 0 },
		{ "[0]]", NULL, 0, 0 },
		{ "0]", NULL, 0, 0 },
		{ "99999999999999999999", NULL, 0, 0 },
	};
	struct tensor tensor = shaped(3, shape);

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct tensor_place place = { 0, 0 };
		struct error error = ERROR_INIT;
		struct tensor_plane plane;
		int result;

		tensor_plane_init(&plane);
		tensor_plane_fit(&plane, &tensor);
		result = tensor_plane_parse(&plane, &place, &tensor, texts[i].text, &error);
		if ((result == 0) != (texts[i].plane != NULL))
			fail_msg("'%s' gave %d", texts[i].text, result);
		check_plane(&plane, texts[i].plane != NULL ? texts[i].plane : "[0, :, :]");
		assert_int_equal(place.row, texts[i].row);
		assert_int_equal(place.column, texts[i].column);
		assert_int_equal(error_is_set(&error), result < 0);
	}
}

static void planes_follow_each_other(void **state)
{
	static const int64_t shape[] = { 2, 3, 5, 7 };
	struct tensor tensor = shaped(4, shape);
	struct tensor_plane plane;

	(void)state;
	tensor_plane_init(&plane);
	tensor_plane_fit(&plane, &tensor);
	for (int i = 0; i < 4; i++)
		assert_true(tensor_plane_step(&plane, &tensor, 1));
	check_plane(&plane, "[1, 1, :, :]");
	for (int i = 0; i < 5; i++)
		assert_true(tensor_plane_step(&plane, &tensor, -1));
	check_plane(&plane, "[1, 2, :, :]");
	assert_true(tensor_plane_step(&plane, &tensor, 1));
	check_plane(&plane, "[0, 0, :, :]");
	tensor = shaped(2, shape + 2);
	tensor_plane_fit(&plane, &tensor);
	assert_false(tensor_plane_step(&plane, &tensor, 1));
}

static void elements_are_found(void **state)
{
	static const int64_t shape[] = { 2, 3, 5, 7 };
	struct tensor tensor = shaped(4, shape);
	struct tensor_place place = { 0, 0 };
	struct error error = ERROR_INIT;
	struct tensor_plane plane;

	(void)state;
	tensor_plane_init(&plane);
	assert_int_equal(tensor_plane_parse(&plane, &place, &tensor, "[:, 0, :, 0]", &error), 0);
	for (int64_t flat = 0; flat < tensor.element_count; flat++) {
		place = tensor_plane_show(&plane, &tensor, flat);
		assert_int_equal(tensor_plane_flat(&plane, &tensor, &place), flat);
	}
	assert_int_equal(place.row, 1);
	assert_int_equal(place.column, 4);
	check_plane(&plane, "[:, 2, :, 6]");
	/* What a node says may be anything. */
	tensor_plane_show(&plane, &tensor, 210);
	tensor_plane_show(&plane, &tensor, -1);
	check_plane(&plane, "[:, 2, :, 6]");
}

/* Every number of the slice is its flat index; one is NaN. */
static struct tensor_slice fill(struct tensor_slice slice, const struct tensor *tensor, int64_t odd)
{
	struct tensor_plane plane;

	tensor_plane_init(&plane);
	tensor_plane_fit(&plane, tensor);
	slice.count = (size_t)(slice.row_count * slice.column_count);
	slice.numbers = xcalloc(slice.count, sizeof(*slice.numbers));
	for (size_t i = 0; i < slice.count; i++) {
		struct tensor_place place = {
			slice.row + (int64_t)i / slice.column_count,
			slice.column + (int64_t)i % slice.column_count,
		};
		int64_t flat = tensor_plane_flat(&plane, tensor, &place);

		slice.numbers[i] = (struct tensor_number){
			.kind = TENSOR_NUMBER_REAL,
			.real = flat == odd ? NAN : (double)flat,
		};
	}
	return slice;
}

/* Reads a whole map; returns how many elements that took. */
static int64_t read_map(struct tensor_heat *heat, const struct tensor *tensor, int64_t odd)
{
	struct tensor_slice wanted;
	int64_t count = 0;

	while (tensor_heat_next(heat, &wanted)) {
		struct tensor_slice slice = fill(wanted, tensor, odd);

		assert_in_range(slice.count, 1, TENSOR_CELLS_MAXIMUM);
		assert_true(slice.row + slice.row_count <= heat->rows);
		assert_true(slice.column + slice.column_count <= heat->columns);
		count += (int64_t)slice.count;
		tensor_heat_add(heat, &slice);
		tensor_slice_clear(&slice);
	}
	return count;
}

static void a_map_has_the_means_of_its_parts(void **state)
{
	static const int64_t shape[] = { 10, 20 };
	struct tensor tensor = shaped(2, shape);
	struct tensor_plane plane;
	struct tensor_heat heat;
	double low = 0;
	double high = 0;

	(void)state;
	tensor_plane_init(&plane);
	tensor_plane_fit(&plane, &tensor);
	tensor_heat_begin(&heat, &plane, &tensor, 4, 5, 0);
	assert_int_equal(heat.row_count, 4);
	assert_int_equal(heat.bin_rows, 3);
	assert_int_equal(heat.column_count, 5);
	assert_int_equal(heat.bin_columns, 4);
	assert_int_equal(read_map(&heat, &tensor, 21), 200);
	/* Rows 0-2, columns 0-3, without element 21. */
	assert_int_equal(heat.bins[0].count, 11);
	assert_int_equal(heat.bins[0].odd_count, 1);
	assert_true(heat.bins[0].sum == 6 + 4 * 20 + 6 - 21 + 4 * 40 + 6);
	/* The last row alone, columns 16-19. */
	assert_int_equal(heat.bins[19].count, 4);
	assert_true(heat.bins[19].sum / 4 == 197.5);
	assert_true(tensor_heat_range(&heat, &low, &high));
	assert_true(low == heat.bins[0].sum / 11);
	assert_true(high == 197.5);
	assert_true(tensor_heat_is_of(&heat, &plane, &tensor, 4, 5, 19));
	assert_false(tensor_heat_is_of(&heat, &plane, &tensor, 4, 7, 0));
	tensor_heat_clear(&heat);
	assert_false(tensor_heat_is_of(&heat, &plane, &tensor, 4, 5, 0));
}

struct extent {
	int64_t shape[2];
	int rows;
	int columns;
	int64_t read;  /* elements */
	int64_t shown; /* columns */
};

static void a_large_plane_is_read_in_part(void **state)
{
	static const struct extent extents[] = {
		{ { 1000, 1000 }, 28, 70, 1000000, 1000 },
		/* 26 parts of 158 rows, 9 rows each. */
		{ { 4096, 4096 }, 26, 70, 26 * 9 * 4096, 4096 },
		{ { 1, 3000000 }, 28, 70, 1 << 20, 1 << 20 },
		{ { 100000000, 10 }, 25, 70, 25 * 4194 * 10, 10 },
		{ { INT64_C(1) << 40, 1 << 20 }, 1, 1, 1 << 20, 1 << 20 },
		{ { 5, 0 }, 28, 70, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(extents); i++) {
		const struct extent *extent = &extents[i];
		struct tensor tensor = shaped(2, extent->shape);
		struct tensor_plane plane;
		struct tensor_heat heat;

		tensor_plane_init(&plane);
		tensor_plane_fit(&plane, &tensor);
		tensor_heat_begin(&heat, &plane, &tensor, extent->rows, extent->columns, 0);
		/* The maths of a page alone where there are very many. */
		if (extent->shape[0] < 1000000)
			assert_int_equal(read_map(&heat, &tensor, -1), extent->read);
		assert_int_equal(heat.shown_columns, extent->shown);
		tensor_heat_clear(&heat);
	}
}

static void a_value_has_a_step_of_the_ramp(void **state)
{
	(void)state;
	assert_int_equal(tensor_heat_step(0, 0, 10, 10), 0);
	assert_int_equal(tensor_heat_step(4.99, 0, 10, 10), 4);
	assert_int_equal(tensor_heat_step(5, 0, 10, 10), 5);
	assert_int_equal(tensor_heat_step(10, 0, 10, 10), 9);
	assert_int_equal(tensor_heat_step(11, 0, 10, 10), 9);
	assert_int_equal(tensor_heat_step(-1, 0, 10, 10), 0);
	assert_int_equal(tensor_heat_step(3, 3, 3, 10), 0);
	assert_int_equal(tensor_heat_step(NAN, 0, 1, 10), 0);
	assert_int_equal(tensor_heat_step(0, -DBL_MAX, DBL_MAX, 10), 5);
	assert_int_equal(tensor_heat_step(0, -INFINITY, INFINITY, 10), 0);
}

struct number_text {
	struct tensor_number number;
	struct tensor_format format;
	const char *text;
};

static void numbers_are_read_by_people(void **state)
{
	static const struct number_text texts[] = {
		{ { .kind = TENSOR_NUMBER_REAL, .real = -0.29254 },
		  { TENSOR_FIXED, 4 },
		  "-0.2925" },
		{ { .kind = TENSOR_NUMBER_REAL, .real = 1234.5 },
		  { TENSOR_SCIENTIFIC, 2 },
		  "1.23e+03" },
		{ { .kind = TENSOR_NUMBER_REAL, .real = 0.5 },
		  { TENSOR_HEXADECIMAL, 4 },
		  "0x1p-1" },
		{ { .kind = TENSOR_NUMBER_REAL, .real = -INFINITY }, { TENSOR_FIXED, 4 }, "-inf" },
		{ { .kind = TENSOR_NUMBER_INTEGER, .integer = INT64_MIN },
		  { TENSOR_HEXADECIMAL, 4 },
		  "-0x8000000000000000" },
		{ { .kind = TENSOR_NUMBER_UNSIGNED, .integer = -1 },
		  { TENSOR_FIXED, 4 },
		  "18446744073709551615" },
		{ { .kind = TENSOR_NUMBER_BOOLEAN, .integer = 1 }, { TENSOR_FIXED, 4 }, "True" },
		{ { .kind = TENSOR_NUMBER_COMPLEX, .real = 1, .imaginary = -2 },
		  { TENSOR_FIXED, 1 },
		  "1.0-2.0j" },
		{ { .kind = TENSOR_NUMBER_COMPLEX, .imaginary = NAN },
		  { TENSOR_FIXED, 1 },
		  "0.0+nanj" },
		{ { .kind = TENSOR_NUMBER_TEXT, .text = (char *)"a\033b" },
		  { TENSOR_FIXED, 4 },
		  "a^[b" },
		{ { .kind = TENSOR_NUMBER_UNKNOWN }, { TENSOR_FIXED, 4 }, "?" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct buffer text = BUFFER_INIT;

		tensor_text_append(&text, &texts[i].number, texts[i].format);
		assert_string_equal(text.data, texts[i].text);
		assert_int_equal(tensor_text_width(&texts[i].number, texts[i].format),
				 (int)strlen(texts[i].text));
		buffer_clear(&text);
	}
}

static void small_and_large_numbers_are_scientific(void **state)
{
	struct tensor_format format = { TENSOR_AUTOMATIC, 4 };

	(void)state;
	assert_int_equal(tensor_format_resolve(format, 0).notation, TENSOR_FIXED);
	assert_int_equal(tensor_format_resolve(format, 12).notation, TENSOR_FIXED);
	assert_int_equal(tensor_format_resolve(format, 1e-5).notation, TENSOR_SCIENTIFIC);
	assert_int_equal(tensor_format_resolve(format, 1e9).notation, TENSOR_SCIENTIFIC);
	format.notation = TENSOR_FIXED;
	assert_int_equal(tensor_format_resolve(format, 1e9).notation, TENSOR_FIXED);
}

#define TENSOR                                                                                     \
	"{\"dtype\":\"float32\",\"shape\":[2,2],\"strides\":[2,1],"                                \
	"\"numel\":4,\"itemsize\":4,\"nbytes\":16,\"stats\":%s}"
#define VALUE "{\"name\":\"x\",\"value\":\"tensor\"}"
#define SLICE                                                                                      \
	"{\"rowDimension\":0,\"columnDimension\":1,\"index\":[0,0],"                               \
	"\"rows\":2,\"columns\":2,\"numbers\":%s}"

static int take(struct tensorview *tensorview, enum tensor_work work, const char *statistics,
		const char *numbers)
{
	struct error error = ERROR_INIT;
	char *tensor = xasprintf(TENSOR, statistics);
	char *slice = xasprintf(SLICE, numbers);
	char *text = xasprintf("{\"value\":" VALUE ",\"tensor\":%s,\"slice\":%s}", tensor, slice);
	json_t *body = json_loads(text, 0, NULL);
	int result = tensorview_take(tensorview, work, body, 1, &error);

	assert_non_null(body);
	json_decref(body);
	free(text);
	free(slice);
	free(tensor);
	return result;
}

static void what_changed_is_told_of_the_reading_before(void **state)
{
	struct tensor_place place = { 0, 1 };
	struct tensor_slice both;
	struct tensorview view;
	struct tensor_plane plane;

	(void)state;
	tensorview_init(&view);
	tensorview_look(&view, "x");
	tensorview_begin_reading(&view);
	assert_int_equal(take(&view, TENSOR_WORK_LOOK, "{\"max\":4.0}", "[1.0,2.0,3.0,\"nan\"]"),
			 0);
	tensor_plane_init(&plane);
	tensor_plane_fit(&plane, &view.tensor);
	assert_true(tensorview_number(&view, &plane, &place)->real == 2);
	assert_false(tensorview_has_changed(&view, &plane, &place));
	assert_false(view.has_before);
	tensorview_begin_reading(&view);
	both = tensor_plane_slice(&plane, &(struct tensor_place){ 0, 0 }, 2, 2);
	assert_false(tensorview_covers(&view, &both));
	take(&view, TENSOR_WORK_LOOK, "{\"max\":5.0}", "[1.0,5.0,3.0,\"nan\"]");
	assert_true(tensorview_covers(&view, &both));
	assert_true(tensorview_has_changed(&view, &plane, &place));
	assert_true(view.has_before);
	assert_true(view.before.maximum.real == 4);
	/* Of the same reading: what it was compared with stays. */
	take(&view, TENSOR_WORK_SLICE, "null", "[1.0,5.0,3.0,\"nan\"]");
	assert_true(tensorview_has_changed(&view, &plane, &place));
	assert_true(view.tensor.statistics.maximum.real == 5);
	place = (struct tensor_place){ 1, 1 };
	assert_false(tensorview_has_changed(&view, &plane, &place));
	place.row = 2;
	assert_null(tensorview_number(&view, &plane, &place));
	tensorview_clear(&view);
}

/* As in numbers of one part: so many digits, not so many behind the point. */
static void complex_numbers_are_short(void **state)
{
	struct tensor_number number = {
		.kind = TENSOR_NUMBER_COMPLEX,
		.real = 1e-9,
		.imaginary = -0.0,
	};
	struct buffer out = BUFFER_INIT;

	(void)state;
	tensor_text_append_short(&out, &number, 3);
	assert_string_equal(out.data, "1e-09-0j");
	buffer_clear(&out);
}

static void statistics_of_another_shape_are_forgotten(void **state)
{
	struct error error = ERROR_INIT;
	struct tensorview view;
	json_t *body =
		json_loads("{\"value\":" VALUE ",\"tensor\":{\"dtype\":\"float32\",\"shape\":[3],"
			   "\"strides\":[1],\"numel\":3,\"itemsize\":4}}",
			   0, NULL);

	(void)state;
	tensorview_init(&view);
	tensorview_look(&view, "x");
	take(&view, TENSOR_WORK_LOOK, "{\"max\":4.0}", "[1.0,2.0,3.0,4.0]");
	assert_int_equal(tensorview_take(&view, TENSOR_WORK_SLICE, body, 2, &error), 0);
	assert_false(view.tensor.has_statistics);
	json_decref(body);
	tensorview_clear(&view);
}

static void nonsense_changes_nothing(void **state)
{
	struct tensorview view;

	(void)state;
	tensorview_init(&view);
	tensorview_look(&view, "x");
	take(&view, TENSOR_WORK_LOOK, "null", "[1.0,2.0,3.0,4.0]");
	assert_int_equal(take(&view, TENSOR_WORK_SLICE, "7", "[1.0]"), -1);
	assert_int_equal(take(&view, TENSOR_WORK_SLICE, "{\"min\":\"x\"}", "[1.0,2.0,3.0,5.0]"),
			 -1);
	assert_true(view.slice.numbers[3].real == 4);
	assert_int_equal(view.tensor.element_count, 4);
	tensorview_clear(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_two_dimensions_run),
		cmocka_unit_test(a_slice_is_read),
		cmocka_unit_test(planes_follow_each_other),
		cmocka_unit_test(elements_are_found),
		cmocka_unit_test(a_map_has_the_means_of_its_parts),
		cmocka_unit_test(a_large_plane_is_read_in_part),
		cmocka_unit_test(a_value_has_a_step_of_the_ramp),
		cmocka_unit_test(numbers_are_read_by_people),
		cmocka_unit_test(small_and_large_numbers_are_scientific),
		cmocka_unit_test(what_changed_is_told_of_the_reading_before),
		cmocka_unit_test(complex_numbers_are_short),
		cmocka_unit_test(statistics_of_another_shape_are_forgotten),
		cmocka_unit_test(nonsense_changes_nothing),
	};

	return cmocka_run_group_tests_name("tensorview", tests, NULL, NULL);
}
