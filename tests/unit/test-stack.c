/* stack: interning, sending once, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/stack.h"

static const struct code *add_code(struct stack_table *table, char *func, int line)
{
	struct code code = {
		.func = func,
		.qualname = NULL,
		.file = "/job/train.py",
		.first_lineno = line,
		.type = FRAME_PYTHON,
	};

	return stack_table_code(table, &code);
}

static const struct stack *add_stack(struct stack_table *table, int line)
{
	struct frame frames[] = {
		{ add_code(table, "all_reduce", 10), line },
		{ add_code(table, "main", 1), 3 },
	};

	return stack_table_stack(table, frames, ARRAY_LENGTH(frames), 0);
}

static void equal_is_the_same(void **state)
{
	struct stack_table *table = stack_table_new();
	char name[] = "load_batch";
	const struct code *code = add_code(table, name, 6);
	struct code other = *code;
	const struct stack *stack = add_stack(table, 13);

	(void)state;
	name[0] = 'x';
	assert_string_equal(code->func, "load_batch");
	assert_int_equal(code->id, 1);
	assert_ptr_equal(add_code(table, "load_batch", 6), code);
	assert_ptr_not_equal(add_code(table, "load_batch", 7), code);
	other.qualname = "";
	assert_ptr_not_equal(stack_table_code(table, &other), code);
	other.qualname = NULL;
	other.type = FRAME_NATIVE;
	assert_ptr_not_equal(stack_table_code(table, &other), code);
	assert_ptr_equal(add_stack(table, 13), stack);
	assert_ptr_not_equal(add_stack(table, 14), stack);
	assert_ptr_equal(stack_table_find(table, stack->id), stack);
	assert_null(stack_table_find(table, 99));
	assert_int_equal(stack->frame_count, 2);
	stack_table_free(table);
	stack_table_free(NULL);
}

static void a_stack_may_be_empty(void **state)
{
	struct stack_table *table = stack_table_new();
	const struct stack *stack = stack_table_stack(table, NULL, 0, 0);

	(void)state;
	assert_ptr_equal(stack_table_stack(table, NULL, 0, 0), stack);
	assert_ptr_not_equal(stack_table_stack(table, NULL, 0, 1), stack);
	stack_table_free(table);
}

static void a_deep_stack_keeps_its_inner_frames(void **state)
{
	struct stack_table *table = stack_table_new();
	const struct code *code = add_code(table, "recurse", 1);
	size_t count = STACK_FRAMES_MAXIMUM + 5;
	struct frame *frames = calloc(count, sizeof(*frames));
	const struct stack *stack;

	(void)state;
	for (size_t i = 0; i < count; i++)
		frames[i] = (struct frame){ code, (int)i + 1 };
	stack = stack_table_stack(table, frames, count, 2);
	assert_int_equal(stack->frame_count, STACK_FRAMES_MAXIMUM);
	assert_int_equal(stack->dropped_count, 7);
	assert_int_equal(stack->frames[0].lineno, 1);
	free(frames);
	stack_table_free(table);
}

static void a_stack_travels_once(void **state)
{
	struct stack_table *node = stack_table_new();
	struct stack_table *screen = stack_table_new();
	const struct stack *first = add_stack(node, 13);
	const struct stack *second = add_stack(node, 14);
	struct buffer out = BUFFER_INIT;
	const struct stack *got;
	json_t *json;

	(void)state;
	json = stack_table_send(node, first);
	json_append(&out, json);
	assert_string_equal(out.data, "{\"id\":1,\"codes\":[[1,\"all_reduce\",null,\"/job/"
				      "train.py\",10,0],[2,\"main\",null,\"/job/"
				      "train.py\",1,0]],\"frames\":[[1,13],[2,3]]}");
	assert_null(stack_table_send(node, first));
	assert_int_equal(stack_table_receive(screen, json, NULL), 0);
	/* The same again does no harm. */
	assert_int_equal(stack_table_receive(screen, json, NULL), 0);
	json_decref(json);
	json = stack_table_send(node, second);
	/* Its code objects are known already. */
	assert_int_equal(json_array_size(json_object_get(json, "codes")), 0);
	assert_int_equal(stack_table_receive(screen, json, NULL), 0);
	json_decref(json);
	got = stack_table_find(screen, second->id);
	assert_int_equal(got->frame_count, 2);
	assert_int_equal(got->frames[0].lineno, 14);
	assert_string_equal(got->frames[0].code->func, "all_reduce");
	assert_null(got->frames[0].code->qualname);
	assert_ptr_equal(got->frames[0].code, stack_table_find(screen, 1)->frames[0].code);
	buffer_clear(&out);
	stack_table_free(node);
	stack_table_free(screen);
}

static int receive(struct stack_table *table, const char *text, struct error *error)
{
	json_t *json = json_parse(text, strlen(text), NULL);
	int result = stack_table_receive(table, json, error);

	assert_non_null(json);
	json_decref(json);
	return result;
}

static void two_ids_of_one_stack_lead_to_it(void **state)
{
	struct stack_table *table = stack_table_new();

	(void)state;
	assert_int_equal(
		receive(table,
			"{\"id\":7,\"codes\":[[40,\"f\",null,\"x\",1,0]],\"frames\":[[40,2]]}",
			NULL),
		0);
	assert_int_equal(
		receive(table,
			"{\"id\":9,\"codes\":[[41,\"f\",null,\"x\",1,0]],\"frames\":[[41,2]]}",
			NULL),
		0);
	assert_non_null(stack_table_find(table, 7));
	assert_ptr_equal(stack_table_find(table, 7), stack_table_find(table, 9));
	/* Ids of our own do not meet those received. */
	assert_true(add_stack(table, 1)->id > 7);
	assert_int_equal(stack_table_find(table, 9)->frames[0].lineno, 2);
	stack_table_free(table);
}

static void hostile_stacks_are_refused(void **state)
{
	static const char *const bad[] = {
		"[]",
		"7",
		"{}",
		"{\"id\":1}",
		"{\"id\":0,\"frames\":[]}",
		"{\"id\":-1,\"frames\":[]}",
		"{\"id\":9223372036854775807,\"frames\":[]}",
		"{\"id\":\"1\",\"frames\":[]}",
		"{\"id\":1,\"frames\":[],\"dropped\":-1}",
		"{\"id\":1,\"frames\":[],\"dropped\":4294967296}",
		"{\"id\":1,\"frames\":[[1,1]]}",
		"{\"id\":1,\"frames\":[[1,1]],\"codes\":[[1]]}",
		"{\"id\":1,\"frames\":[7],\"codes\":[]}",
		"{\"id\":1,\"frames\":[],\"codes\":[[1,\"f\",null,\"x\",1,0]]}",
		"{\"id\":1,\"frames\":[[1,1]],\"codes\":[[1,null,null,\"x\",1,0]]}",
		"{\"id\":1,\"frames\":[[1,1]],\"codes\":[[1,\"f\",7,\"x\",1,0]]}",
		"{\"id\":1,\"frames\":[[1,1]],\"codes\":[[1,\"f\",null,\"x\",1,2]]}",
		"{\"id\":1,\"frames\":[[1,1]],\"codes\":[[1,\"f\",null,\"x\",-1,0]]}",
		/* After these, code 60 is f. */
		"{\"id\":1,\"frames\":[[60,-1]],\"codes\":[[60,\"f\",null,\"x\",1,0]]}",
		"{\"id\":1,\"frames\":[[60,1]],\"codes\":[[60,\"g\",null,\"x\",1,0]]}",
	};
	struct stack_table *table = stack_table_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct error error = ERROR_INIT;

		if (receive(table, bad[i], &error) == 0)
			fail_msg("accepted: %s", bad[i]);
		assert_true(error_is_set(&error));
		assert_null(stack_table_find(table, 1));
	}
	assert_int_equal(receive(table, "{\"id\":1,\"frames\":[[60,1]]}", NULL), 0);
	/* An id does not change its meaning. */
	assert_int_equal(receive(table, "{\"id\":1,\"frames\":[[60,2]]}", NULL), -1);
	stack_table_free(table);
}

static void long_names_are_cut(void **state)
{
	struct stack_table *node = stack_table_new();
	struct stack_table *screen = stack_table_new();
	struct buffer name = BUFFER_INIT;
	struct frame frame = { .lineno = -1 };
	json_t *json;

	(void)state;
	/* Each bad byte takes three when it is sent. */
	for (int i = 0; i < 9000; i++)
		buffer_append_char(&name, '\xff');
	frame.code = add_code(node, name.data, -1);
	assert_ptr_equal(add_code(node, name.data, -1), frame.code);
	assert_int_equal(strlen(frame.code->func), 4096);
	json = stack_table_send(node, stack_table_stack(node, &frame, 1, 0));
	assert_int_equal(stack_table_receive(screen, json, NULL), 0);
	assert_int_equal(stack_table_find(screen, 1)->frames[0].lineno, 0);
	json_decref(json);
	buffer_clear(&name);
	stack_table_free(node);
	stack_table_free(screen);
}

static void what_a_table_may_hold(void **state)
{
	struct stack_table *table = stack_table_new();

	(void)state;
	for (int line = 1; line <= 20; line++) {
		assert_false(stack_table_is_full(table, 20));
		add_stack(table, line);
	}
	assert_true(stack_table_is_full(table, 20));
	/* Twenty frames a stack, and what names need. */
	assert_true(stack_table_is_full(table, 2));
	assert_false(stack_table_is_full(table, STACK_TABLE_FULL));
	stack_table_free(table);
}

static void long_names_fill_a_table(void **state)
{
	struct stack_table *table = stack_table_new();
	char name[4000];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int line = 1; line <= 16; line++) {
		assert_false(stack_table_is_full(table, 200));
		add_code(table, name, line);
	}
	add_code(table, name, 17);
	assert_true(stack_table_is_full(table, 200));
	stack_table_free(table);
}

static void a_carried_stack_is_the_one_that_comes_again(void **state)
{
	struct stack_table *node = stack_table_new();
	struct stack_table *old = stack_table_new();
	struct stack_table *screen = stack_table_new();
	const struct stack *carried;
	const struct stack *other;
	json_t *json;

	(void)state;
	add_stack(old, 12);
	carried = stack_table_carry(screen, add_stack(old, 13));
	assert_ptr_equal(carried->frames[0].code,
			 stack_table_carry_code(screen, add_stack(old, 13)->frames[0].code));
	stack_table_free(old);
	assert_string_equal(carried->frames[0].code->func, "all_reduce");
	assert_null(stack_table_find(screen, 1));
	/* The sender gives its first ids to others. */
	other = add_stack(node, 14);
	json = stack_table_send(node, other);
	assert_int_equal(stack_table_receive(screen, json, NULL), 0);
	json_decref(json);
	json = stack_table_send(node, add_stack(node, 13));
	assert_int_equal(stack_table_receive(screen, json, NULL), 0);
	json_decref(json);
	assert_int_equal(stack_table_find(screen, 1)->frames[0].lineno, 14);
	assert_ptr_equal(stack_table_find(screen, 2), carried);
	stack_table_free(node);
	stack_table_free(screen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_is_the_same),
		cmocka_unit_test(a_stack_may_be_empty),
		cmocka_unit_test(a_deep_stack_keeps_its_inner_frames),
		cmocka_unit_test(a_stack_travels_once),
		cmocka_unit_test(two_ids_of_one_stack_lead_to_it),
		cmocka_unit_test(hostile_stacks_are_refused),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(what_a_table_may_hold),
		cmocka_unit_test(long_names_fill_a_table),
		cmocka_unit_test(a_carried_stack_is_the_one_that_comes_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
