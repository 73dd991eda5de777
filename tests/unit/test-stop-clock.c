/* stop_clock: stopped ranks are resumed while what waits for them has a fifth of
 * its time left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "banned.h"

#include "backends/collective-deadline.h"

static void see(struct stop_clock *clock, pid_t pid, pid_t tid, double deadline, double now)
{
	stop_clock_begin(clock);
	stop_clock_see(clock, pid, tid, deadline, now);
	stop_clock_end(clock);
}

static void expect(const struct stop_clock *clock, pid_t pid, double due)
{
	const struct stop_clock_wait *first = stop_clock_first(clock);

	assert_non_null(first);
	assert_int_equal(first->pid, pid);
	assert_float_equal(hold_wait_due(first), due, 0.001);
}

static void nothing_waits(void **state)
{
	struct stop_clock clock = { .waits = NULL };

	(void)state;
	assert_null(stop_clock_first(&clock));
	stop_clock_clear(&clock);
}

/* Looking again brings it no nearer, nor further away. */
static void four_fifths_of_what_was_left(void **state)
{
	struct stop_clock clock = { .waits = NULL };

	(void)state;
	see(&clock, 7, 8, 110, 100);
	expect(&clock, 7, 108);
	see(&clock, 7, 8, 110.001, 105);
	expect(&clock, 7, 108);
	/* Another operation of the same thread. */
	see(&clock, 7, 8, 130, 120);
	expect(&clock, 7, 128);
	stop_clock_begin(&clock);
	stop_clock_end(&clock);
	assert_null(stop_clock_first(&clock));
	stop_clock_clear(&clock);
}

static void the_rest_of_a_short_time(void **state)
{
	struct stop_clock clock = { .waits = NULL };

	(void)state;
	see(&clock, 7, 8, 105, 100);
	expect(&clock, 7, 103);
	see(&clock, 7, 8, 203, 200);
	expect(&clock, 7, 201.5);
	stop_clock_clear(&clock);
}

static void the_first_of_several(void **state)
{
	struct stop_clock clock = { .waits = NULL };

	(void)state;
	stop_clock_begin(&clock);
	stop_clock_see(&clock, 1, 11, 86500, 100);
	stop_clock_see(&clock, 2, 12, 160, 100);
	stop_clock_see(&clock, 2, 13, 110, 100);
	stop_clock_end(&clock);
	expect(&clock, 2, 108);
	stop_clock_clear(&clock);
}

/* Who was resumed for it is not stopped again while it waits. */
static void what_is_spent(void **state)
{
	struct stop_clock clock = { .waits = NULL };

	(void)state;
	see(&clock, 7, 8, 110, 100);
	stop_clock_spend(&clock, 107);
	expect(&clock, 7, 108);
	stop_clock_spend(&clock, 108);
	see(&clock, 7, 8, 110, 108.5);
	expect(&clock, 7, 100);
	see(&clock, 7, 8, 129, 109);
	expect(&clock, 7, 125);
	stop_clock_clear(&clock);
}

static void an_assumption(void **state)
{
	struct stop_clock clock = { .waits = NULL };

	(void)state;
	stop_clock_assume(&clock, 7, 600, 100);
	stop_clock_assume(&clock, 7, 600, 200);
	stop_clock_begin(&clock);
	stop_clock_end(&clock);
	expect(&clock, 7, 580);
	see(&clock, 8, 9, 400, 300);
	expect(&clock, 8, 380);
	stop_clock_drop_assumed(&clock);
	stop_clock_begin(&clock);
	stop_clock_end(&clock);
	assert_null(stop_clock_first(&clock));
	stop_clock_clear(&clock);
}

/* Its deadline may be over when it is first seen. */
static void what_is_over(void **state)
{
	struct stop_clock clock = { .waits = NULL };

	(void)state;
	see(&clock, 7, 8, 99.5, 100);
	expect(&clock, 7, 100);
	stop_clock_clear(&clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_waits),
		cmocka_unit_test(four_fifths_of_what_was_left),
		cmocka_unit_test(the_rest_of_a_short_time),
		cmocka_unit_test(the_first_of_several),
		cmocka_unit_test(what_is_spent),
		cmocka_unit_test(an_assumption),
		cmocka_unit_test(what_is_over),
	};

	return cmocka_run_group_tests_name("stop_clock", tests, NULL, NULL);
}
