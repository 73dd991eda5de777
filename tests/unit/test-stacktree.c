/* stacktree: the stacks of all ranks merged, and how the rows are drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "banned.h"
#include "base/buffer.h"
#include "model/place.h"
#include "model/stacktree.h"
#include "scene.h"

static void append_row(struct buffer *out, const struct stacktree_row *row)
{
	const struct stacktree_node *node = row->node;

	buffer_printf(out, "%zu ", node->rank_count);
	rankset_append(out, &node->ranks);
	buffer_printf(out, "%s%s%s", node->is_outlier ? " ! " : " ", row->prefix,
		      node->frame.code->func);
	if (node->frame.lineno > 0) {
		buffer_append_char(out, ' ');
		place_append(out, &node->frame);
	}
	buffer_append_char(out, '\n');
}

static void expect(struct scene *scene, enum stacktree_granularity granularity, const char *wanted)
{
	struct buffer seen = BUFFER_INIT;
	struct stacktree_node *root;
	struct stacktree_row *rows;
	size_t count;

	scene_judge(scene);
	root = stacktree_new(&scene->session, granularity);
	rows = stacktree_rows(root, &count);
	for (size_t i = 0; i < count; i++)
		append_row(&seen, &rows[i]);
	assert_string_equal(seen.data, wanted);
	free(rows);
	stacktree_free(root);
	buffer_clear(&seen);
}

static void show_picture(struct scene *scene)
{
	scene_init(scene);
	scene_start(scene, 8);
	for (int rank = 0; rank < 8; rank++) {
		struct seen waits = WAITS(100 + rank, 17);
		struct seen loads = { .pid = 103, .stack = LOADS };

		scene_see(scene, rank == 3 ? &loads : &waits);
	}
}

static void the_picture(void **state)
{
	struct scene scene;

	(void)state;
	show_picture(&scene);
	expect(&scene, STACKTREE_LINE,
	       "8 0-7 <module> train.py:19\n"
	       "8 0-7 └ train\n"
	       "7 0-2,4-7   ├ train train.py:17\n"
	       "7 0-2,4-7   │ └ all_reduce distributed_c10d.py:3252\n"
	       "1 3 !   └ train train.py:13\n"
	       "1 3 !     └ load_batch train.py:5\n");
	scene_clear(&scene);
}

static void of_some_ranks(void **state)
{
	struct rankset some = RANKSET_INIT;
	struct stacktree_node *root;
	struct scene scene;

	(void)state;
	show_picture(&scene);
	scene_judge(&scene);
	rankset_add_range(&some, 3, 4);
	root = stacktree_new_of(&scene.session, STACKTREE_LINE, &some);
	assert_int_equal(root->rank_count, 2);
	assert_int_equal(root->children[0]->rank_count, 2);
	assert_int_equal(root->children[0]->children[0]->child_count, 2);
	stacktree_free(root);
	rankset_clear(&some);
	rankset_add(&some, 77);
	root = stacktree_new_of(&scene.session, STACKTREE_LINE, &some);
	assert_int_equal(root->child_count, 0);
	stacktree_free(root);
	rankset_clear(&some);
	scene_clear(&scene);
}

#define AGENT "/tmp/probetui-01/probetui/debugging/"

/* Its outermost frame says that a rank stands in it. */
static void our_agent_is_one_frame(void **state)
{
	struct seen held = {
		.pid = 100,
		.stack = "_next " AGENT "stop.py:151 < park " AGENT "engine.py:166 < line " AGENT
			 "tracing.py:88 < train /w/train.py:17",
	};
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	scene_see(&scene, &held);
	expect(&scene, STACKTREE_LINE,
	       "1 0 train train.py:17\n"
	       "1 0 └ line tracing.py:88\n");
	scene_clear(&scene);
}

static void by_function_and_by_file(void **state)
{
	struct scene scene;

	(void)state;
	show_picture(&scene);
	expect(&scene, STACKTREE_FUNCTION,
	       "8 0-7 <module>\n"
	       "8 0-7 └ train\n"
	       "7 0-2,4-7   ├ all_reduce\n"
	       "1 3 !   └ load_batch\n");
	expect(&scene, STACKTREE_FILE,
	       "8 0-7 <module>\n"
	       "7 0-2,4-7 └ all_reduce\n");
	scene_clear(&scene);
}

static void a_chain_stays_at_its_depth(void **state)
{
	struct scene scene;
	struct seen seen = { .pid = 100,
			     .stack = "e a.py:5 < d a.py:4 < c a.py:3 < b a.py:2 < a a.py:1" };

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	scene_see(&scene, &seen);
	expect(&scene, STACKTREE_LINE,
	       "1 0 a a.py:1\n"
	       "1 0 └ b a.py:2\n"
	       "1 0   c a.py:3\n"
	       "1 0   d a.py:4\n"
	       "1 0   e a.py:5\n");
	scene_clear(&scene);
}

static void larger_branches_come_first(void **state)
{
	static const char *const stacks[] = { "x a.py:1", "y a.py:2", "y a.py:2", "z a.py:3" };
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 4);
	for (int rank = 0; rank < 4; rank++) {
		struct seen seen = { .pid = 100 + rank, .stack = stacks[rank] };

		scene_see(&scene, &seen);
	}
	expect(&scene, STACKTREE_LINE,
	       "2 1-2 y a.py:2\n"
	       "1 0 x a.py:1\n"
	       "1 3 z a.py:3\n");
	scene_clear(&scene);
}

/* Recursion at two lines: each level parts by line. */
static void recursion_parts_where_lines_do(void **state)
{
	struct scene scene;
	struct seen first = { .pid = 100, .stack = "f a.py:2 < f a.py:1" };
	struct seen second = { .pid = 101, .stack = "f a.py:3 < f a.py:1" };

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	scene_see(&scene, &first);
	scene_see(&scene, &second);
	expect(&scene, STACKTREE_LINE,
	       "2 0-1 f a.py:1\n"
	       "2 0-1 └ f\n"
	       "1 0   ├ f a.py:2\n"
	       "1 1   └ f a.py:3\n");
	scene_clear(&scene);
}

static void nothing_to_merge(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	expect(&scene, STACKTREE_LINE, "");
	scene_clear(&scene);
}

static void a_thousand_different_stacks(void **state)
{
	struct scene scene;
	struct stacktree_node *root;
	struct stacktree_row *rows;
	struct timespec start;
	struct timespec end;
	size_t count;
	double seconds;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1024);
	for (int rank = 0; rank < 1024; rank++) {
		struct buffer stack = BUFFER_INIT;
		struct seen seen = { .pid = 100 + rank };

		buffer_printf(&stack, "f a.py:%d", rank + 1);
		for (int depth = 0; depth < 20; depth++)
			buffer_printf(&stack, " < g%d b.py:%d", depth, depth);
		seen.stack = stack.data;
		scene_see(&scene, &seen);
		buffer_clear(&stack);
	}
	scene_judge(&scene);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	root = stacktree_new(&scene.session, STACKTREE_LINE);
	rows = stacktree_rows(root, &count);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	print_message("# 1,024 stacks merged in %.2f ms\n", seconds * 1e3);
	assert_int_equal(count, 20 + 1 + 1024);
	assert_true(seconds < 0.5);
	free(rows);
	stacktree_free(root);
	scene_clear(&scene);
}

/* As deep as a stack may be: no recursion, no endless prefix. */
static void the_deepest_stack(void **state)
{
	struct scene scene;
	struct buffer stack = BUFFER_INIT;
	struct seen seen = { .pid = 100 };
	struct stacktree_node *root;
	struct stacktree_row *rows;
	size_t count;

	(void)state;
	for (int depth = 0; depth < STACK_FRAMES_MAXIMUM; depth++)
		buffer_printf(&stack, "%sf a.py:%d", depth ? " < " : "", depth % 2 + 1);
	scene_init(&scene);
	scene_start(&scene, 1);
	seen.stack = stack.data;
	assert_int_equal(scene_see(&scene, &seen), 0);
	scene_judge(&scene);
	root = stacktree_new(&scene.session, STACKTREE_LINE);
	rows = stacktree_rows(root, &count);
	assert_int_equal(count, STACK_FRAMES_MAXIMUM);
	assert_int_equal(rows[count - 1].depth, 1);
	free(rows);
	stacktree_free(root);
	buffer_clear(&stack);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_picture),
		cmocka_unit_test(of_some_ranks),
		cmocka_unit_test(our_agent_is_one_frame),
		cmocka_unit_test(by_function_and_by_file),
		cmocka_unit_test(a_chain_stays_at_its_depth),
		cmocka_unit_test(larger_branches_come_first),
		cmocka_unit_test(recursion_parts_where_lines_do),
		cmocka_unit_test(nothing_to_merge),
		cmocka_unit_test(a_thousand_different_stacks),
		cmocka_unit_test(the_deepest_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
