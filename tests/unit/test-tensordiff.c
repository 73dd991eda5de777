/*
 * How two tensors differ.
 */
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
#include "base/buffer.h"
#include "base/error.h"
#include "model/tensordiff.h"
#include "model/tensorformat.h"

/* float32 of these sizes. */
static void make(struct tensor *tensor, int64_t rows, int64_t columns)
{
	tensor_init(tensor);
	tensor->dtype = xstrdup("float32");
	tensor->dimension_count = 2;
	tensor->shape[0] = rows;
	tensor->shape[1] = columns;
	tensor->element_count = rows * columns;
	tensor->item_size = 4;
}

static void begin(struct tensordiff *diff, int64_t rows, int64_t columns, int grid_rows,
		  int grid_columns)
{
	struct tensor tensor;

	*diff = (struct tensordiff){ .dtype = NULL };
	make(&tensor, rows, columns);
	assert_int_equal(tensordiff_begin(diff, &tensor, &tensor, grid_rows, grid_columns, NULL),
			 0);
	tensor_clear(&tensor);
}

static void add(struct tensordiff *diff, int64_t start, const float *a, const float *b,
		int64_t count)
{
	tensordiff_add(diff, start, (const uint8_t *)a, (const uint8_t *)b, count);
}

static void check(struct tensordiff *diff, const char *wanted)
{
	struct buffer out = BUFFER_INIT;

	tensordiff_append(&out, diff);
	assert_string_equal(out.data, wanted);
	buffer_clear(&out);
	tensordiff_clear(diff);
}

/* 1 and the next float behind it are not both "1". */
static void values_have_the_digits_that_differ(void **state)
{
	const float a[] = { 1, 0.5f };
	const float b[] = { 1.00000012f, 0.5f };
	struct tensordiff diff;

	(void)state;
	begin(&diff, 1, 2, 0, 0);
	add(&diff, 0, a, b, 2);
	check(&diff, "1 of 2 elements differ, first at [0, 0]: 1 and 1.00000012; max |difference| "
		     "1.192e-07 at [0, 0]");
}

static void the_first_and_the_farthest_are_told(void **state)
{
	const float a[] = { 1, NAN, 3, 4.5f, NAN, 6 };
	const float b[] = { 1, 2, 3.25f, 2.5f, NAN, 6 };
	struct tensordiff diff;

	(void)state;
	begin(&diff, 4, 3, 0, 0);
	tensordiff_add_same(&diff, 0, 6);
	add(&diff, 6, a, b, 6);
	assert_int_equal(diff.unlike, 1);
	assert_false(tensordiff_is_within(&diff, 10));
	check(&diff,
	      "3 of 12 elements differ, first at [2, 1]: nan and 2; max |difference| 2 at [3, 0]");
}

static void what_was_not_read_is_told(void **state)
{
	const float a[] = { 1 };
	const float b[] = { 1 };
	struct tensordiff diff;

	(void)state;
	begin(&diff, 2, 2, 0, 0);
	add(&diff, 0, a, b, 1);
	assert_false(tensordiff_is_within(&diff, 1));
	check(&diff, "no element differs; only 1 of 4 elements were compared");
}

static void a_tolerance_is_that_of_numbers(void **state)
{
	const float a[] = { 1 };
	const float b[] = { 1.5f };
	struct tensordiff diff;

	(void)state;
	begin(&diff, 1, 1, 0, 0);
	add(&diff, 0, a, b, 1);
	assert_true(tensordiff_is_within(&diff, 0.5));
	assert_false(tensordiff_is_within(&diff, 0.4));
	diff.is_torn = true;
	assert_false(tensordiff_is_within(&diff, 0.5));
	check(&diff, "1 of 1 element differs, first at [0, 0]: 1 and 1.5; max |difference| 0.5 at "
		     "[0, 0]; the tensor changed during the comparison");
}

/* Each cell "0", its largest difference, "x" for NaN, "." for not read. */
static void check_grid(const struct tensordiff *diff, const char *wanted)
{
	struct buffer out = BUFFER_INIT;

	for (int i = 0; i < diff->row_count * diff->column_count; i++) {
		double cell = diff->grid[i];

		if (i > 0 && i % diff->column_count == 0)
			buffer_append_char(&out, '|');
		if (isnan(cell))
			buffer_append_char(&out, 'x');
		else if (cell < 0)
			buffer_append_char(&out, '.');
		else
			buffer_printf(&out, "%g", cell);
	}
	assert_string_equal(out.data, wanted);
	buffer_clear(&out);
}

static void a_grid_has_the_largest_of_each_cell(void **state)
{
	const float a[] = { 1, 2, 3, 4, 5 };
	const float b[] = { 1, 4, 3, 3, NAN };
	struct tensordiff diff;

	(void)state;
	begin(&diff, 5, 5, 3, 2);
	assert_int_equal(diff.row_count, 3);
	assert_int_equal(diff.column_count, 2);
	check_grid(&diff, "..|..|..");
	tensordiff_add_same(&diff, 0, 10);
	add(&diff, 10, a, b, 5);
	check_grid(&diff, "00|2x|..");
	tensordiff_add_same(&diff, 15, 2);
	check_grid(&diff, "00|2x|..");
	tensordiff_add_same(&diff, 17, 8);
	check_grid(&diff, "00|2x|00");
	tensordiff_clear(&diff);
}

static void others_are_not_compared(void **state)
{
	struct tensordiff diff = { .dtype = NULL };
	struct error error = ERROR_INIT;
	struct tensor a;
	struct tensor b;

	(void)state;
	make(&a, 8, 32);
	make(&b, 8, 31);
	assert_int_equal(tensordiff_begin(&diff, &a, &b, 0, 0, &error), -1);
	assert_string_equal(error.message, "cannot compare element by element: the shapes differ");
	free(b.dtype);
	b.dtype = xstrdup("float64");
	assert_int_equal(tensordiff_begin(&diff, &a, &b, 0, 0, &error), -1);
	tensor_clear(&a);
	tensor_clear(&b);
}

/* One element each, as its bytes lie. */
static void check_types(const char *dtype, int64_t size, const void *a, const void *b,
			const char *wanted)
{
	struct tensordiff diff = { .dtype = NULL };
	struct tensor tensor;

	make(&tensor, 1, 1);
	free(tensor.dtype);
	tensor.dtype = xstrdup(dtype);
	tensor.item_size = size;
	assert_int_equal(tensordiff_begin(&diff, &tensor, &tensor, 0, 0, NULL), 0);
	tensordiff_add(&diff, 0, a, b, 1);
	tensor_clear(&tensor);
	check(&diff, wanted);
}

#define FIRST "1 of 1 element differs, first at [0, 0]"

static void distances_are_those_of_the_type(void **state)
{
	const int64_t large[] = { INT64_MAX, INT64_MAX - 1 };
	const int64_t signs[] = { -1, 1 };
	const float complex[] = { 1, 2, 4, 6 };

	(void)state;
	check_types("int64", 8, &large[0], &large[1],
		    FIRST
		    ": 9223372036854775807 and 9223372036854775806; max |difference| 1 at [0, 0]");
	check_types(">int64", 8, &signs[0], &signs[1],
		    FIRST ": -1 and 1; max |difference| 2 at [0, 0]");
	check_types("uint64", 8, &signs[0], &signs[1],
		    FIRST ": 18446744073709551615 and 1; max |difference| 1.845e+19 at [0, 0]");
	check_types("complex64", 8, &complex[0], &complex[2],
		    FIRST ": 1+2j and 4+6j; max |difference| 5 at [0, 0]");
	check_types("float8_e4m3fn", 1, "\x38", "\x7f", FIRST ": 1 and nan");
	/* A double does not tell these apart, and these have no distance. */
	check_types("longdouble", 16, "0123456789abcdef", "1123456789abcdef", FIRST);
	check_types("datetime64[ns]", 8, &large[0], &large[1], FIRST);
	check_types("object", 8, &large[0], &large[1], FIRST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_have_the_digits_that_differ),
		cmocka_unit_test(the_first_and_the_farthest_are_told),
		cmocka_unit_test(what_was_not_read_is_told),
		cmocka_unit_test(a_tolerance_is_that_of_numbers),
		cmocka_unit_test(a_grid_has_the_largest_of_each_cell),
		cmocka_unit_test(distances_are_those_of_the_type),
		cmocka_unit_test(others_are_not_compared),
	};

	return cmocka_run_group_tests_name("tensordiff", tests, NULL, NULL);
}
