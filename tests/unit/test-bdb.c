/* bdb: where the standard library's debugger would stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "banned.h"
#include "backends/ptrace/bdb.h"

#define OLD 0x030d05f0	/* 3.13.5, without cmdframe */
#define ONCE 0x030d06f0 /* 3.13.6, with it */

#define CALLER 0x1000
#define HERE 0x2000
#define CALLEE 0x3000

static struct bdb_event at(uint64_t frame, int line)
{
	return (struct bdb_event){ .frame = frame, .line = line };
}

static struct bdb_event in_generator(uint64_t frame, int line, bool is_last)
{
	return (struct bdb_event){
		.frame = frame,
		.line = line,
		.is_generator = true,
		.is_last = is_last,
	};
}

static struct bdb_event last(uint64_t frame, int line)
{
	return (struct bdb_event){
		.frame = frame,
		.line = line,
		.is_last = true,
	};
}

static bool stops_at_line(const struct bdb *bdb, uint64_t frame, int line)
{
	struct bdb_event event = at(frame, line);

	return bdb_line(bdb, &event, false);
}

static bool breaks_at_line(const struct bdb *bdb, uint64_t frame, int line)
{
	struct bdb_event event = at(frame, line);

	return bdb_line(bdb, &event, true);
}

static bool stops_at_call(const struct bdb *bdb, uint64_t frame)
{
	struct bdb_event event = at(frame, 1);

	return bdb_call(bdb, &event);
}

static bool stops_at_return(const struct bdb *bdb, uint64_t frame)
{
	struct bdb_event event = last(frame, 5);

	return bdb_return(bdb, &event);
}

static bool stops_at_exception(const struct bdb *bdb, uint64_t frame)
{
	struct bdb_event event = at(frame, 5);

	return bdb_exception(bdb, &event);
}

static void continue_stops_at_breakpoints_only(void **state)
{
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	assert_false(stops_at_line(&bdb, HERE, 5));
	assert_false(stops_at_call(&bdb, HERE));
	assert_false(stops_at_return(&bdb, HERE));
	assert_false(stops_at_exception(&bdb, HERE));
	assert_true(breaks_at_line(&bdb, HERE, 5));
}

static void continue_takes_a_command_back(void **state)
{
	struct bdb_event event = at(HERE, 5);
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, ONCE);
	bdb_step(&bdb, &event);
	bdb_continue(&bdb);
	assert_false(stops_at_line(&bdb, HERE, 6));
	assert_true(breaks_at_line(&bdb, HERE, 5));
}

static void step_stops_at_everything(void **state)
{
	struct bdb_event event = at(HERE, 5);
	struct bdb_event value = in_generator(CALLEE, 1, false);
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	bdb_step(&bdb, &event);
	assert_true(stops_at_line(&bdb, HERE, 5));
	assert_true(stops_at_line(&bdb, CALLER, 1));
	assert_true(stops_at_call(&bdb, CALLEE));
	assert_true(stops_at_return(&bdb, HERE));
	assert_true(stops_at_exception(&bdb, CALLEE));
	assert_true(bdb_call(&bdb, &value));
	assert_true(bdb_return(&bdb, &value));
}

static void next_stays_in_its_frame(void **state)
{
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	bdb_next(&bdb, HERE, 5);
	assert_true(stops_at_line(&bdb, HERE, 6));
	assert_true(stops_at_line(&bdb, HERE, 2));
	assert_true(stops_at_exception(&bdb, HERE));
	assert_true(stops_at_return(&bdb, HERE));
	assert_false(stops_at_line(&bdb, CALLEE, 6));
	assert_false(stops_at_call(&bdb, CALLEE));
	assert_false(stops_at_return(&bdb, CALLEE));
	assert_false(stops_at_exception(&bdb, CALLEE));
	assert_false(stops_at_line(&bdb, CALLER, 6));
	assert_true(breaks_at_line(&bdb, CALLEE, 6));
}

static void next_at_the_return_goes_on_in_the_caller(void **state)
{
	struct bdb_event event = last(HERE, 7);
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	bdb_next(&bdb, HERE, 7);
	bdb_returned(&bdb, &event);
	assert_true(stops_at_line(&bdb, CALLER, 3));
	/* Another frame's return changes nothing. */
	bdb_next(&bdb, CALLER, 3);
	bdb_returned(&bdb, &event);
	assert_false(stops_at_line(&bdb, HERE, 6));
}

static void until_stops_at_greater_lines_and_at_the_return(void **state)
{
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, ONCE);
	bdb_until(&bdb, HERE, 8);
	assert_false(stops_at_line(&bdb, HERE, 7));
	assert_true(stops_at_line(&bdb, HERE, 8));
	assert_true(stops_at_line(&bdb, HERE, 20));
	assert_false(stops_at_exception(&bdb, HERE));
	assert_true(stops_at_return(&bdb, HERE));
	assert_false(stops_at_return(&bdb, CALLEE));
	assert_false(stops_at_line(&bdb, CALLER, 20));
}

static void until_ends_with_its_frame(void **state)
{
	struct bdb_event event = last(HERE, 7);
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	bdb_until(&bdb, HERE, 8);
	bdb_returned(&bdb, &event);
	assert_true(stops_at_line(&bdb, CALLER, 3));
}

static void return_stops_at_its_return_then_in_the_caller(void **state)
{
	struct bdb_event event = last(HERE, 7);
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	bdb_finish(&bdb, HERE, CALLER, false);
	assert_false(stops_at_line(&bdb, HERE, 6));
	assert_false(stops_at_exception(&bdb, HERE));
	assert_false(stops_at_return(&bdb, CALLEE));
	assert_true(stops_at_return(&bdb, HERE));
	bdb_returned(&bdb, &event);
	assert_true(stops_at_line(&bdb, CALLER, 3));
	assert_false(stops_at_line(&bdb, CALLEE, 3));
}

static void return_of_the_outermost_frame_stops_once(void **state)
{
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	bdb_finish(&bdb, HERE, 0, false);
	assert_true(stops_at_return(&bdb, HERE));
	assert_false(stops_at_line(&bdb, HERE, 6));
	assert_false(stops_at_line(&bdb, CALLEE, 6));
}

static void next_passes_by_the_values_of_a_generator(void **state)
{
	struct bdb_event value = in_generator(HERE, 5, false);
	struct bdb_event end = in_generator(HERE, 6, true);
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	bdb_next(&bdb, HERE, 5);
	assert_false(bdb_call(&bdb, &value));
	assert_false(bdb_return(&bdb, &value));
	assert_true(stops_at_line(&bdb, HERE, 6));
	assert_true(bdb_return(&bdb, &end));
}

static void return_runs_a_generator_to_its_end(void **state)
{
	struct bdb_event value = in_generator(HERE, 5, false);
	struct bdb_event end = in_generator(HERE, 6, true);
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	bdb_finish(&bdb, HERE, CALLER, true);
	assert_false(stops_at_line(&bdb, HERE, 6));
	assert_false(stops_at_line(&bdb, CALLER, 3));
	assert_false(bdb_return(&bdb, &value));
	assert_true(bdb_return(&bdb, &end));
}

static void a_command_does_not_stop_on_its_own_line(void **state)
{
	struct bdb_event event = at(HERE, 5);
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, ONCE);
	bdb_step(&bdb, &event);
	assert_false(stops_at_line(&bdb, HERE, 5));
	assert_false(breaks_at_line(&bdb, HERE, 5));
	assert_true(stops_at_line(&bdb, HERE, 6));
	assert_true(stops_at_line(&bdb, CALLEE, 5));
	assert_true(stops_at_return(&bdb, HERE));
	bdb_next(&bdb, HERE, 5);
	assert_false(stops_at_line(&bdb, HERE, 5));
	assert_true(stops_at_line(&bdb, HERE, 6));
}

static void an_older_version_stops_on_the_same_line(void **state)
{
	struct bdb bdb;

	(void)state;
	bdb_init(&bdb, OLD);
	bdb_next(&bdb, HERE, 5);
	assert_true(stops_at_line(&bdb, HERE, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(continue_stops_at_breakpoints_only),
		cmocka_unit_test(continue_takes_a_command_back),
		cmocka_unit_test(step_stops_at_everything),
		cmocka_unit_test(next_stays_in_its_frame),
		cmocka_unit_test(next_at_the_return_goes_on_in_the_caller),
		cmocka_unit_test(until_stops_at_greater_lines_and_at_the_return),
		cmocka_unit_test(until_ends_with_its_frame),
		cmocka_unit_test(return_stops_at_its_return_then_in_the_caller),
		cmocka_unit_test(return_of_the_outermost_frame_stops_once),
		cmocka_unit_test(next_passes_by_the_values_of_a_generator),
		cmocka_unit_test(return_runs_a_generator_to_its_end),
		cmocka_unit_test(a_command_does_not_stop_on_its_own_line),
		cmocka_unit_test(an_older_version_stops_on_the_same_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
