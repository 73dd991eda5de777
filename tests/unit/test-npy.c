/*
 * Files of numpy, and slices as they are typed.
 */
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
#include "model/npy.h"
#include "model/tensorplane.h"
#include "protocol/tensor.h"

static void make(struct tensor *tensor, const char *dtype, int item_size, int count,
		 const int64_t *shape)
{
	tensor_init(tensor);
	tensor->dtype = xstrdup(dtype);
	tensor->item_size = item_size;
	tensor->dimension_count = count;
	tensor->element_count = 1;
	for (int i = 0; i < count; i++) {
		tensor->shape[i] = shape[i];
		tensor->element_count *= shape[i];
	}
}

/* As numpy 1.24 writes it, byte by byte. */
static void the_header_is_numpys(void **state)
{
	static const int64_t shape[] = { 8, 32 };
	struct buffer out = BUFFER_INIT;
	struct tensor tensor;

	(void)state;
	make(&tensor, ">float32", 4, 2, shape);
	assert_int_equal(npy_append_header(&out, &tensor, NULL), 0);
	assert_int_equal(out.length, 128);
	assert_memory_equal(out.data, "\x93NUMPY\x01\x00\x76\x00", 10);
	assert_memory_equal(out.data + 10,
			    "{'descr': '<f4', 'fortran_order': False, 'shape': (8, 32), }  ", 61);
	assert_int_equal(out.data[127], '\n');
	buffer_clear(&out);
	tensor_clear(&tensor);
}

static void shapes_are_tuples(void **state)
{
	static const int64_t shape[] = { 5 };
	struct buffer out = BUFFER_INIT;
	struct tensor tensor;

	(void)state;
	make(&tensor, "int64", 8, 1, shape);
	assert_int_equal(npy_append_header(&out, &tensor, NULL), 0);
	assert_non_null(strstr(out.data + 10, "'<i8'"));
	assert_non_null(strstr(out.data + 10, "'shape': (5,), }"));
	tensor_clear(&tensor);
	buffer_reset(&out);
	make(&tensor, "bool", 1, 0, NULL);
	assert_int_equal(npy_append_header(&out, &tensor, NULL), 0);
	assert_non_null(strstr(out.data + 10, "'shape': (), }"));
	tensor_clear(&tensor);
	buffer_clear(&out);
}

/* 64 dimensions of 14 digits still fit in a header of format 1.0. */
static void long_headers_are_aligned(void **state)
{
	int64_t shape[TENSOR_DIMENSIONS];
	struct buffer out = BUFFER_INIT;
	struct tensor tensor;

	(void)state;
	for (int i = 0; i < TENSOR_DIMENSIONS; i++)
		shape[i] = i == 0 ? 0 : INT64_C(100000000000000);
	tensor_init(&tensor);
	tensor.dtype = xstrdup("uint8");
	tensor.item_size = 1;
	tensor.dimension_count = TENSOR_DIMENSIONS;
	memcpy(tensor.shape, shape, sizeof(shape));
	assert_int_equal(npy_append_header(&out, &tensor, NULL), 0);
	assert_int_equal(out.length % 64, 0);
	assert_int_equal((uint8_t)out.data[8] | (uint8_t)out.data[9] << 8, (int)out.length - 10);
	tensor_clear(&tensor);
	buffer_clear(&out);
}

static void what_numpy_has_not_becomes_float32(void **state)
{
	static const int64_t shape[] = { 2 };
	static const uint8_t bytes[] = { 0x80, 0x3f, 0x00, 0xc0 };
	struct buffer out = BUFFER_INIT;
	struct tensor tensor;

	(void)state;
	make(&tensor, "bfloat16", 2, 1, shape);
	assert_string_equal(npy_converted(&tensor), "float32");
	assert_int_equal(npy_append_header(&out, &tensor, NULL), 0);
	assert_non_null(strstr(out.data + 10, "'<f4'"));
	buffer_reset(&out);
	npy_append_elements(&out, &tensor, bytes, 2);
	assert_int_equal(out.length, 8);
	assert_memory_equal(out.data, "\x00\x00\x80\x3f\x00\x00\x00\xc0", 8);
	tensor_clear(&tensor);
	buffer_clear(&out);
}

static void objects_have_no_place_in_it(void **state)
{
	static const int64_t shape[] = { 2 };
	struct error error = ERROR_INIT;
	struct buffer out = BUFFER_INIT;
	struct tensor tensor;

	(void)state;
	make(&tensor, "object", 8, 1, shape);
	assert_int_equal(npy_append_header(&out, &tensor, &error), -1);
	assert_non_null(strstr(error.message, "object"));
	assert_int_equal(out.length, 0);
	tensor_clear(&tensor);
}

/* "ROWDIM:FIRST+COUNT COLDIM:FIRST+COUNT INDEX…", or the sentence. */
static void check_slice(const char *text, const char *wanted)
{
	static const int64_t shape[] = { 4, 8, 32 };
	struct tensor_slice slice;
	struct error error = ERROR_INIT;
	struct buffer out = BUFFER_INIT;
	struct tensor tensor;

	make(&tensor, "float32", 4, 3, shape);
	if (slicetext_parse(&slice, text, &tensor, &error) < 0)
		buffer_append_string(&out, error.message);
	else
		buffer_printf(&out, "%d:%d+%d %d:%d+%d %d,%d,%d", slice.row_dimension,
			      (int)slice.row, (int)slice.row_count, slice.column_dimension,
			      (int)slice.column, (int)slice.column_count, (int)slice.index[0],
			      (int)slice.index[1], (int)slice.index[2]);
	assert_string_equal(out.data, wanted);
	buffer_clear(&out);
	tensor_clear(&tensor);
}

static void slices_are_pythons(void **state)
{
	static const char *const rows[][2] = {
		{ "[1]", "1:0+8 2:0+32 1,0,0" },
		{ "[-1, 2:4, :5]", "1:2+2 2:0+5 3,0,0" },
		{ "0, :, 31", "-1:0+1 1:0+8 0,0,31" },
		{ "[0:2, 3, -4:]", "0:0+2 2:28+4 0,3,0" },
		{ "[0,1,2]", "-1:0+1 -1:0+1 0,1,2" },
		{ "[0, 9:99, 5:2]", "1:8+0 2:5+0 0,0,0" },
		{ "[:]",
		  "more than two ranges in the slice: give the other dimensions an index, as in "
		  "[0, :, :]" },
		{ "[4]", "index out of range: dimension 0 has 4 elements" },
		{ "[0,0,0,0]", "the tensor has only 3 dimensions" },
		{ "[0, 1, 2]3", "'3' is not part of a slice such as [0:8, 3, :]" },
		{ "0]", "']' is not part of a slice such as [0:8, 3, :]" },
		{ "[x]", "'x]' is not part of a slice such as [0:8, 3, :]" },
		{ "[0:8:2]", "':2]' is not part of a slice such as [0:8, 3, :]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		check_slice(rows[i][0], rows[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_header_is_numpys),
		cmocka_unit_test(shapes_are_tuples),
		cmocka_unit_test(long_headers_are_aligned),
		cmocka_unit_test(what_numpy_has_not_becomes_float32),
		cmocka_unit_test(objects_have_no_place_in_it),
		cmocka_unit_test(slices_are_pythons),
	};

	return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
