/* place: the frame of a stop, as it is put into a stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "backends/cpython/bytecode.h"
#include "backends/ptrace/breakpoint-table.h"
#include "backends/ptrace/stepper.h"
#include "backends/ptrace/stop-report.h"
#include "banned.h"
#include "protocol/stack.h"

static char file[] = "/job/train.py";
static char name[] = "step";

static struct stop_place *make_place(void)
{
	struct bytecode code = { .file = file, .name = name };
	struct stepper_stop stop = { .frame = 8, .code = &code, .line = 7 };
	struct break_hit none = { .count = 0 };

	return stop_place_new(&stop, &none, NULL, 8);
}

static void check(const struct stack *stack, size_t count, int line)
{
	assert_non_null(stack);
	assert_int_equal(stack->frame_count, count);
	assert_string_equal(stack->frames[0].code->func, name);
	assert_int_equal(stack->frames[0].lineno, line);
}

static void it_comes_first_or_is_the_newest(void **state)
{
	struct stack_table *stacks = stack_table_new();
	struct stop_place *place = make_place();
	const struct code code = { .func = name, .file = file };
	const struct frame old = { stack_table_code(stacks, &code), 5 };
	const struct stack *stack = stack_table_stack(stacks, &old, 1, 0);

	(void)state;
	check(stop_place_amend(place, true, stack, stacks), 1, 7);
	check(stop_place_amend(place, false, stack, stacks), 2, 7);
	stop_place_free(place);
	stack_table_free(stacks);
}

static void it_is_all_there_is_of_a_stack_that_was_not_read(void **state)
{
	struct stack_table *stacks = stack_table_new();
	struct stop_place *place = make_place();

	(void)state;
	check(stop_place_amend(place, false, NULL, stacks), 1, 7);
	stop_place_free(place);
	stack_table_free(stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_comes_first_or_is_the_newest),
		cmocka_unit_test(it_is_all_there_is_of_a_stack_that_was_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
