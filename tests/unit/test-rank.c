/* rank: what comparing samples shows, and what is remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "banned.h"
#include "protocol/stack.h"
#include "scene.h"

/* Two samples of one rank; lends its main thread. */
static const struct thread *compare(struct scene *scene, const struct seen *first,
				    const struct seen *second, double seconds)
{
	scene_init(scene);
	scene_start(scene, 1);
	assert_int_equal(scene_see(scene, first), 0);
	scene_wait(scene, seconds);
	assert_int_equal(scene_see(scene, second), 0);
	return rank_main_thread(session_find_rank(&scene->session, 0));
}

static void a_waiting_thread_moves_when_it_is_woken(void **state)
{
	static const struct {
		uint64_t switches;
		double seconds;
		bool has_moved;
	} rows[] = {
		{ 0, 0.2, false },
		{ 2, 0.2, false },
		{ 3, 0.2, true },
		/* a DataLoader's time-outs: a few in 5 s */
		{ 6, 5, false },
		{ 100, 5, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scene scene;
		struct seen first = WAITS(100, 17);
		struct seen second = WAITS(100, 17);
		const struct thread *thread;

		second.switches = rows[i].switches;
		/* it may spin: processor time is no progress of a wait */
		second.cpu = rows[i].seconds;
		thread = compare(&scene, &first, &second, rows[i].seconds);
		assert_int_equal(thread->has_moved, rows[i].has_moved);
		assert_int_equal(thread->has_changed, rows[i].has_moved);
		assert_true(thread->since == (rows[i].has_moved ? rows[i].seconds : 0));
		scene_clear(&scene);
	}
}

/* It was stopped in between, and has waited all the time. */
static void a_wait_goes_on_over_a_stop(void **state)
{
	struct scene scene;
	struct seen waits = WAITS(100, 17);
	struct seen stops = WAITS(100, 17);
	const struct thread *thread;

	(void)state;
	stops.state = "stopped";
	thread = compare(&scene, &waits, &stops, 5);
	assert_true(thread->since == 5);
	scene_wait(&scene, 5);
	assert_int_equal(scene_see(&scene, &stops), 0);
	scene_wait(&scene, 5);
	assert_int_equal(scene_see(&scene, &waits), 0);
	thread = rank_main_thread(session_find_rank(&scene.session, 0));
	assert_true(thread->since == 0);
	scene_clear(&scene);
}

static void a_computing_thread_moves_by_processor_time(void **state)
{
	struct scene scene;
	struct seen first = { .pid = 100, .state = "running", .stack = "f train.py:1" };
	struct seen second = first;
	const struct thread *thread;

	(void)state;
	second.cpu = 0.1;
	thread = compare(&scene, &first, &second, 1);
	assert_true(thread->has_moved);
	assert_false(thread->has_changed);
	assert_false(thread->is_busy);
	assert_true(thread->since == 0);
	scene_clear(&scene);
	second.cpu = 0.9;
	thread = compare(&scene, &first, &second, 1);
	assert_true(thread->is_busy);
	scene_clear(&scene);
	second.cpu = 0.001;
	thread = compare(&scene, &first, &second, 1);
	assert_false(thread->has_moved);
	scene_clear(&scene);
}

static void another_line_is_a_move(void **state)
{
	struct scene scene;
	struct seen first = { .pid = 100, .syscall = SYS_clock_nanosleep, .stack = "f train.py:1" };
	struct seen second = first;
	const struct thread *thread;

	(void)state;
	second.stack = "f train.py:2";
	thread = compare(&scene, &first, &second, 1);
	assert_true(thread->has_moved);
	assert_true(thread->has_changed);
	assert_true(thread->since == 1);
	scene_clear(&scene);
}

static void a_stack_unread_once_is_no_move(void **state)
{
	struct scene scene;
	struct seen first = WAITS(100, 17);
	struct seen nothing = { .pid = 100 };
	const struct thread *thread = compare(&scene, &first, &nothing, 1);

	(void)state;
	assert_false(thread->has_changed);
	assert_int_equal(session_find_rank(&scene.session, 0)->state, RANK_UNREADABLE);
	scene_clear(&scene);
}

static void the_past_is_kept(void **state)
{
	struct scene scene;
	const struct rank *rank;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	for (int second = 0; second < 300; second++) {
		char stack[32];
		struct seen seen = { .pid = 100, .stack = stack };

		snprintf(stack, sizeof(stack), "f train.py:%d", 1 + second / 2);
		scene_see(&scene, &seen);
		scene_wait(&scene, 1);
	}
	rank = session_find_rank(&scene.session, 0);
	assert_int_equal(rank->history_count, 150);
	assert_null(rank_stack_at(rank, -1));
	assert_int_equal(rank_stack_at(rank, 0)->frames[0].lineno, 1);
	assert_int_equal(rank_stack_at(rank, 3.5)->frames[0].lineno, 2);
	assert_int_equal(rank_stack_at(rank, 1e9)->frames[0].lineno, 150);
	scene_clear(&scene);
}

static void the_oldest_past_is_forgotten(void **state)
{
	struct scene scene;
	const struct rank *rank;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	for (int second = 0; second < RANK_HISTORY + 10; second++) {
		char stack[32];
		struct seen seen = { .pid = 100, .stack = stack };

		snprintf(stack, sizeof(stack), "f train.py:%d", 1 + second);
		scene_see(&scene, &seen);
		scene_wait(&scene, 1);
	}
	rank = session_find_rank(&scene.session, 0);
	assert_null(rank_stack_at(rank, 9));
	assert_int_equal(rank_stack_at(rank, 10)->frames[0].lineno, 11);
	scene_clear(&scene);
}

static void states_have_the_words_of_the_contract(void **state)
{
	(void)state;
	assert_string_equal(rank_state_name(RANK_NOT_FOUND), "not found");
	assert_string_equal(rank_state_name(RANK_UNREADABLE), "unreadable");
	assert_string_equal(rank_state_name(RANK_EXITED), "exited");
}

static void an_end_has_a_reason(void **state)
{
	static const struct {
		int code;
		int signal;
		const char *error;
	} rows[] = {
		{ 1, 0, "exited with code 1" },
		{ -1, 9, "was killed by SIGKILL" },
		{ -1, 40, "was killed by signal 40" },
		{ -1, 0, "has exited" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct scene scene;
		json_t *process = scene_process(0, 100, 1);

		scene_init(&scene);
		scene_start(&scene, 1);
		json_object_set_new(process, "state", json_string("exited"));
		if (rows[i].code >= 0)
			json_object_set_new(process, "exit_code", json_integer(rows[i].code));
		if (rows[i].signal > 0)
			json_object_set_new(process, "exit_signal", json_integer(rows[i].signal));
		scene_event(&scene, "rankRemoved", process);
		assert_string_equal(session_find_rank(&scene.session, 0)->error, rows[i].error);
		scene_clear(&scene);
	}
}

static void what_has_ended_keeps_what_was_last_seen(void **state)
{
	const struct seen works = { .pid = 100, .stack = "f train.py:5" };
	const struct seen leaves = { .pid = 100, .stack = "_shutdown lib/threading.py:1" };
	const struct seen nothing = { .pid = 100 };
	const struct rank *rank;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	scene_see(&scene, &works);
	scene_see(&scene, &leaves);
	scene_see(&scene, &nothing);
	rank = session_find_rank(&scene.session, 0);
	assert_null(rank_main_thread(rank)->sample.stack);
	scene_text(&scene, "stacksDropped", "{}");
	scene_text(&scene, "rankRemoved", "{'pid':100,'rank':0,'state':'exited','exit_code':1}");
	assert_string_equal(rank_last_stack(rank)->frames[0].code->func, "f");
	assert_ptr_equal(rank_main_thread(rank)->sample.stack, rank_last_stack(rank));
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_waiting_thread_moves_when_it_is_woken),
		cmocka_unit_test(a_wait_goes_on_over_a_stop),
		cmocka_unit_test(a_computing_thread_moves_by_processor_time),
		cmocka_unit_test(another_line_is_a_move),
		cmocka_unit_test(a_stack_unread_once_is_no_move),
		cmocka_unit_test(the_past_is_kept),
		cmocka_unit_test(the_oldest_past_is_forgotten),
		cmocka_unit_test(states_have_the_words_of_the_contract),
		cmocka_unit_test(an_end_has_a_reason),
		cmocka_unit_test(what_has_ended_keeps_what_was_last_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
