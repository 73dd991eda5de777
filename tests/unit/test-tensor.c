/* tensor: there and back, and what is refused. */
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
#include "base/json.h"
#include "protocol/tensor.h"
#include "protocol/tensoranswer.h"

#define WHOLE                                                                                      \
	"{\"type\":\"torch.Tensor\",\"dtype\":\"float32\",\"offset\":3,"                           \
	"\"numel\":6,\"itemsize\":4,\"nbytes\":24,\"device\":\"cpu\","                             \
	"\"grad_fn\":\"MulBackward0\",\"storage_nbytes\":64,"                                      \
	"\"storage_users\":2,\"live\":true,\"shape\":[2,3],\"strides\":[3,1],"                     \
	"\"requires_grad\":true,\"stats\":{\"min\":-1.5,\"max\":2.0,"                              \
	"\"mean\":0.25,\"std\":1.0,\"norm\":\"nan\",\"nan\":1,\"inf\":0,"                          \
	"\"zeros\":2,\"count\":6},\"hash\":\"00c0ffee\",\"share\":1.0,"                            \
	"\"histogram\":{\"low\":-1.5,\"high\":2.0,\"bins\":[1,4]},"                                \
	"\"blocks\":[\"00000001\",\"fffffffe\"],\"block_numel\":3}"

static int read_text(struct tensor *tensor, const char *text)
{
	struct error error = ERROR_INIT;
	json_t *json = json_parse(text, strlen(text), &error);
	int result;

	assert_non_null(json);
	tensor_init(tensor);
	result = tensor_from_json(tensor, json, &error);
	json_decref(json);
	if (result < 0)
		assert_true(error_is_set(&error));
	return result;
}

static void assert_same(const struct tensor *tensor, const char *text)
{
	struct buffer out = BUFFER_INIT;
	json_t *json = tensor_to_json(tensor);

	json_append(&out, json);
	assert_string_equal(out.data, text);
	json_decref(json);
	buffer_clear(&out);
}

static void what_is_sent_arrives(void **state)
{
	struct tensor tensor;
	struct tensor copy;

	(void)state;
	assert_int_equal(read_text(&tensor, WHOLE), 0);
	assert_true(isnan(tensor.statistics.norm));
	assert_same(&tensor, WHOLE);
	tensor_copy(&copy, &tensor);
	tensor_clear(&tensor);
	assert_same(&copy, WHOLE);
	tensor_clear(&copy);
}

/* 2 of 6; of one without a mask nothing is told of it. */
static void a_mask_is_told(void **state)
{
	const char *text =
		"{\"dtype\":\"float32\",\"offset\":0,\"numel\":6,\"nbytes\":24,\"has_mask\":true,"
		"\"shape\":[6],\"strides\":[4],\"device\":null,\"requires_grad\":null,\"stats\":{"
		"\"min\":1.0,\"max\":1.0,\"mean\":1.0,\"std\":0.0,\"norm\":2.0,\"nan\":0,\"inf\":0,"
		"\"zeros\":0,\"count\":4,\"masked\":2},\"hash\":null,\"share\":1.0}";
	struct tensor tensor, copy;

	(void)state;
	assert_int_equal(read_text(&tensor, text), 0);
	assert_true(tensor.has_mask);
	assert_int_equal(tensor.statistics.masked_count, 2);
	assert_same(&tensor, text);
	tensor_copy(&copy, &tensor);
	tensor_clear(&tensor);
	assert_false(tensor.has_mask);
	assert_same(&copy, text);
	tensor_clear(&copy);
	assert_int_equal(read_text(&tensor, "{\"dtype\":\"int8\",\"numel\":1,\"shape\":[],"
					    "\"strides\":[],\"stats\":{\"masked\":-1}}"),
			 -1);
	tensor_clear(&tensor);
}

static void what_is_not_known_is_null(void **state)
{
	const char *text = "{\"dtype\":\"int8\",\"offset\":0,\"numel\":1,\"nbytes\":1,\"shape\":[],"
			   "\"strides\":[],\"device\":null,\"requires_grad\":null,\"stats\":null,"
			   "\"hash\":null,\"share\":1.0}";
	struct tensor tensor;

	(void)state;
	assert_int_equal(read_text(&tensor, text), 0);
	assert_int_equal(tensor.requires_grad, -1);
	assert_same(&tensor, text);
	tensor_clear(&tensor);
}

/* Of a nested tensor, whose sizes are several, why is told. */
static void one_without_a_shape_has_a_reason(void **state)
{
	struct tensor told, got;
	struct error error = ERROR_INIT;
	json_t *json;

	(void)state;
	tensor_init(&told);
	tensor_init(&got);
	told.dtype = xstrdup("float32");
	told.element_count = -1;
	told.unread = xstrdup("the tensor is nested");
	json = tensor_to_json(&told);
	if (tensor_from_json(&got, json, &error) < 0)
		fail_msg("%s", error.message);
	assert_string_equal(got.unread, "the tensor is nested");
	assert_int_equal(got.element_count, -1);
	json_object_del(json, "unread");
	tensor_clear(&got);
	assert_int_equal(tensor_from_json(&got, json, &error), -1);
	json_decref(json);
	tensor_clear(&told);
	tensor_clear(&got);
}

static void what_makes_no_sense_is_refused(void **state)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"dtype\":\"int8\",\"numel\":2,\"shape\":[],\"strides\":[]}",
		"{\"dtype\":\"int8\",\"numel\":-2,\"shape\":[-2],\"strides\":[1]}",
		"{\"dtype\":\"int8\",\"numel\":0,\"shape\":[4611686018427387904,"
		"4611686018427387904,0],\"strides\":[1,1,1]}",
		"{\"dtype\":\"int8\",\"numel\":1,\"shape\":[1],\"strides\":[]}",
		"{\"numel\":1,\"shape\":[1],\"strides\":[1]}",
		"{\"dtype\":\"int8\",\"numel\":1,\"shape\":[1],\"strides\":[1],\"blocks\":[7]}",
		"{\"dtype\":\"int8\",\"numel\":1,\"shape\":[1],\"strides\":[1],\"histogram\":{"
		"\"bins\":[1]}}",
		"{\"dtype\":\"int8\",\"numel\":1,\"shape\":[1],\"strides\":[1],\"stats\":{\"min\":"
		"\"many\"}}",
		"{\"dtype\":\"int8\",\"numel\":1,\"shape\":[1],\"strides\":[1],\"stats\":{\"nan\":-"
		"1}}",
		"{\"dtype\":\"int8\",\"numel\":1,\"shape\":[1],\"strides\":[1],\"stats\":{\"inf\":"
		"2}}",
		"{\"dtype\":\"int8\",\"numel\":1,\"shape\":[1],\"strides\":[1],\"share\":1e9}",
		"{\"dtype\":\"int8\",\"numel\":1,\"shape\":[1],\"strides\":[1],\"histogram\":{"
		"\"low\":0,\"high\":1,\"bins\":[9223372036854775807,9223372036854775807]}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct tensor tensor;

		assert_int_equal(read_text(&tensor, texts[i]), -1);
		tensor_clear(&tensor);
	}
}

static int read_slice(struct tensor_slice *slice, const char *text)
{
	struct error error = ERROR_INIT;
	json_t *json = json_parse(text, strlen(text), &error);
	int result = tensor_slice_from_json(slice, json, &error);

	json_decref(json);
	return result;
}

static void slices(void **state)
{
	const char *text =
		"{\"rowDimension\":0,\"columnDimension\":2,\"index\":[0,5,0],\"row\":2,\"rows\":3,"
		"\"column\":0,\"columns\":3,\"numbers\":[0.5,\"nan\",\"-inf\",-7,\"u:"
		"18446744073709551615\",true,[1.0,\"inf\"],{\"text\":\"a\"},null]}";
	struct tensor_slice slice;
	struct buffer out = BUFFER_INIT;
	json_t *json;

	(void)state;
	assert_int_equal(read_slice(&slice, text), 0);
	json = tensor_slice_to_json(&slice);
	json_append(&out, json);
	assert_string_equal(out.data, text);
	json_decref(json);
	buffer_clear(&out);
	tensor_slice_clear(&slice);
}

static void slices_that_are_none(void **state)
{
	static const char *const texts[] = {
		"{}",
		"{\"index\":[0],\"rowDimension\":1}",
		"{\"index\":[0,0],\"rowDimension\":1,\"columnDimension\":1}",
		"{\"index\":[0],\"rows\":-1}",
		"{\"index\":[0],\"rows\":65536,\"columns\":65536}",
		"{\"index\":[0],\"row\":9223372036854775807}",
		"{\"index\":[0],\"rows\":2,\"numbers\":[1]}",
		"{\"index\":[0],\"numbers\":[\"one\"]}",
		"{\"index\":[0],\"numbers\":[\"u:1x\"]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		struct tensor_slice slice;

		assert_int_equal(read_slice(&slice, texts[i]), -1);
		tensor_slice_clear(&slice);
	}
}

static void parameters(void **state)
{
	const char *text =
		"{\"parameters\":[{\"name\":\"fc.weight\",\"kind\":\"parameter\",\"tensor\":" WHOLE
		",\"error\":null},{\"name\":\"fc.mask\",\"kind\":\"buffer\",\"tensor\":null,"
		"\"error\":\"it is not there\"}],\"total\":2}";
	struct tensor_parameters parameters = { .total = -1 };
	struct error error = ERROR_INIT;
	struct buffer out = BUFFER_INIT;
	json_t *json = json_parse(text, strlen(text), &error);
	json_t *back;

	(void)state;
	assert_int_equal(tensor_parameters_from_json(&parameters, json, &error), 0);
	back = tensor_parameters_to_json(&parameters);
	json_append(&out, back);
	assert_string_equal(out.data, text);
	json_decref(back);
	json_decref(json);
	buffer_clear(&out);
	tensor_parameters_clear(&parameters);
}

static int read_answer(struct tensor_answer *answer, const char *text)
{
	struct error error = ERROR_INIT;
	json_t *body = json_parse(text, strlen(text), &error);
	int result;

	assert_non_null(body);
	result = tensor_answer_from_json(answer, body, &error);
	json_decref(body);
	assert_int_equal(error_is_set(&error), result < 0);
	return result;
}

#define VALUE "{\"value\":{\"name\":\"x\",\"value\":\"1\"}"

static void an_answer_is_read_or_refused(void **state)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"value\":null}",
		VALUE ",\"data\":\"?\"}",
		VALUE ",\"tensor\":{}}",
		VALUE ",\"slice\":{}}",
	};
	struct tensor_answer answer;

	(void)state;
	assert_int_equal(
		read_answer(
			&answer, VALUE
			",\"data\":\"AAE=\",\"found\":7,\"frame\":{\"func\":\"f\",\"lineno\":-3}}"),
		0);
	assert_string_equal(answer.value.value, "1");
	assert_false(answer.has_tensor || answer.has_slice);
	assert_int_equal(answer.found, 7);
	assert_int_equal(answer.data.length, 2);
	assert_string_equal(answer.func, "f");
	assert_null(answer.file);
	assert_int_equal(answer.line, 0);
	tensor_answer_clear(&answer);
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		assert_int_equal(read_answer(&answer, texts[i]), -1);
		tensor_answer_clear(&answer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent_arrives),
		cmocka_unit_test(a_mask_is_told),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(one_without_a_shape_has_a_reason),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(slices),
		cmocka_unit_test(slices_that_are_none),
		cmocka_unit_test(parameters),
		cmocka_unit_test(an_answer_is_read_or_refused),
	};

	return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
