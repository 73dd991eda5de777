/* stackdiff: two stacks side by side. */
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
#include "model/stacktree.h"

/* text: "f:1 g:2", innermost first; all functions lie in x.py. */
static const struct stack *make(struct stack_table *table, const char *text)
{
	struct frame *frames = xcalloc(strlen(text) + 1, sizeof(*frames));
	char *copy = xstrdup(text);
	char *rest = copy;
	char *word;
	size_t count = 0;
	char file[] = "x.py";
	const struct stack *stack;

	while ((word = strsep(&rest, " "))) {
		char *colon = strchr(word, ':');
		struct code code = { .func = word, .file = file };

		if (!colon)
			continue;
		*colon = '\0';
		frames[count].code = stack_table_code(table, &code);
		frames[count++].lineno = (int)strtol(colon + 1, NULL, 10);
	}
	stack = stack_table_stack(table, frames, count, 0);
	free(frames);
	free(copy);
	return stack;
}

static void expect(const char *a, const char *b, const char *wanted, int fork)
{
	struct stack_table *table = stack_table_new();
	struct buffer seen = BUFFER_INIT;
	struct stackdiff diff;

	stackdiff_make(&diff, make(table, a), make(table, b));
	for (size_t i = 0; i < diff.row_count; i++) {
		const struct stackdiff_row *row = &diff.rows[i];
		const struct frame *frame = row->a ? row->a : row->b;

		buffer_printf(&seen, "%s%c%s", i ? " " : "", row->op, frame->code->func);
	}
	assert_string_equal(seen.data, wanted);
	assert_int_equal(diff.fork, fork);
	stackdiff_clear(&diff);
	buffer_clear(&seen);
	stack_table_free(table);
}

static void the_picture(void **state)
{
	(void)state;
	expect("load_batch:5 train:13 <module>:19",
	       "all_reduce:3252 wrapper:83 train:17 <module>:19",
	       "=<module> ~train -load_batch +wrapper +all_reduce", 1);
}

static void what_is_common_inside_is_found(void **state)
{
	(void)state;
	expect("sleep:1 poll:2 a:3 main:4", "sleep:1 poll:2 b:3 main:4", "=main -a +b =poll =sleep",
	       0);
	expect("x:1 c:1 y:1 main:1", "c:2 z:1 main:1", "=main -y +z ~c -x", 0);
}

static void ends(void **state)
{
	(void)state;
	expect("f:1", "f:1", "=f", 0);
	expect("f:1", "g:1", "-f +g", -1);
	expect("", "g:1", "+g", -1);
	expect("", "", "", -1);
}

static void rows_know_their_depth(void **state)
{
	struct stack_table *table = stack_table_new();
	struct stackdiff diff;

	(void)state;
	stackdiff_make(&diff, make(table, "b:1 main:1"), make(table, "d:1 c:1 main:1"));
	assert_int_equal(diff.row_count, 4);
	assert_int_equal(diff.rows[0].a_depth, 1);
	assert_int_equal(diff.rows[0].b_depth, 2);
	assert_int_equal(diff.rows[1].a_depth, 0);
	assert_null(diff.rows[1].b);
	assert_int_equal(diff.rows[3].b_depth, 0);
	stackdiff_clear(&diff);
	stack_table_free(table);
}

/* 2 x 20,000 frames that never agree: no table of 400 million cells. */
static void deep_stacks_that_differ_cost_little(void **state)
{
	struct stack_table *table = stack_table_new();
	struct frame *a = xcalloc(STACK_FRAMES_MAXIMUM, sizeof(*a));
	struct frame *b = xcalloc(STACK_FRAMES_MAXIMUM, sizeof(*b));
	struct stackdiff diff;
	char file[] = "x.py";
	char one[] = "one";
	char two[] = "two";
	struct code first = { .func = one, .file = file };
	struct code second = { .func = two, .file = file };

	(void)state;
	for (size_t i = 0; i < STACK_FRAMES_MAXIMUM; i++) {
		a[i].code = stack_table_code(table, &first);
		b[i].code = stack_table_code(table, &second);
	}
	stackdiff_make(&diff, stack_table_stack(table, a, STACK_FRAMES_MAXIMUM, 0),
		       stack_table_stack(table, b, STACK_FRAMES_MAXIMUM, 0));
	assert_int_equal(diff.row_count, 2 * STACK_FRAMES_MAXIMUM);
	stackdiff_clear(&diff);
	free(a);
	free(b);
	stack_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_picture),
		cmocka_unit_test(what_is_common_inside_is_found),
		cmocka_unit_test(ends),
		cmocka_unit_test(rows_know_their_depth),
		cmocka_unit_test(deep_stacks_that_differ_cost_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
