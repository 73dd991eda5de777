/* verdict: what time tells: how long ranks stand, and who ended first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "banned.h"
#include "scene.h"

/* All of count ranks show the same but for their pids. */
static void see_all(struct scene *scene, int count, struct seen seen)
{
	for (int rank = 0; rank < count; rank++) {
		seen.pid = 100 + rank;
		assert_int_equal(scene_see(scene, &seen), 0);
	}
}

static void end_rank(struct scene *scene, int rank, const char *how)
{
	json_t *process = scene_process(rank, 100 + rank, 4);

	json_object_set_new(process, "state", json_string("exited"));
	json_object_set_new(process, how,
			    json_integer(strcmp(how, "exit_signal") ? 1 : 15));
	assert_int_equal(scene_event(scene, "rankRemoved", process), 0);
}

static void start(struct scene *scene)
{
	scene_init(scene);
	scene_start(scene, 4);
}

static void a_short_stand_in_one_place_is_not_hung(void **state)
{
	const struct seen waits = WAITS(100, 17);
	struct scene scene;

	(void)state;
	start(&scene);
	see_all(&scene, 4, waits);
	scene_wait(&scene, 0.2);
	see_all(&scene, 4, waits);
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "All 4 ranks wait in all_reduce (train.py:17), so far "
		     "without moving.");
	scene_wait(&scene, 1);
	see_all(&scene, 4, waits);
	scene_judge(&scene);
	assert_int_equal(scene.session.verdict.state, VERDICT_HUNG);
	scene_clear(&scene);
}

static void camps_that_wait_for_each_other_are_hung_at_once(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene);
	for (int i = 0; i < 2; i++) {
		for (int rank = 0; rank < 4; rank++) {
			const struct seen reduces = WAITS(100 + rank, 17);
			const struct seen meets = BARRIER(100 + rank, 20);

			scene_see(&scene, rank < 2 ? &reduces : &meets);
		}
		scene_wait(&scene, 0.2);
	}
	scene_judge(&scene);
	assert_int_equal(scene.session.verdict.state, VERDICT_HUNG);
	scene_clear(&scene);
}

static void sleep_takes_longer_to_be_odd(void **state)
{
	const struct seen sleeps = { .stack = LOADS,
				     .syscall = SYS_clock_nanosleep };
	struct scene scene;

	(void)state;
	start(&scene);
	see_all(&scene, 4, sleeps);
	scene_wait(&scene, 2);
	see_all(&scene, 4, sleeps);
	scene_judge(&scene);
	assert_int_equal(scene.session.verdict.state, VERDICT_UNKNOWN);
	scene_wait(&scene, 10);
	see_all(&scene, 4, sleeps);
	scene_expect(&scene, VERDICT_HUNG, "",
		     "All 4 ranks are in load_batch (train.py:5) in "
		     "time.sleep and did not move for 12 s; none of them is "
		     "the odd one.");
	scene_clear(&scene);
}

static void the_age_of_a_stop_begins_with_it(void **state)
{
	struct seen waits = WAITS(100, 17);
	struct scene scene;

	(void)state;
	start(&scene);
	see_all(&scene, 4, waits);
	scene_wait(&scene, 10);
	see_all(&scene, 4, waits);
	waits.state = "stopped";
	waits.pid = 101;
	scene_wait(&scene, 1);
	assert_int_equal(scene_see(&scene, &waits), 0);
	scene_wait(&scene, 2);
	assert_int_equal(scene_see(&scene, &waits), 0);
	scene_judge(&scene);
	assert_non_null(
		strstr(scene.session.verdict.sentence, "Rank 1 is stopped"));
	assert_non_null(strstr(scene.session.verdict.sentence, "for 2 s"));
	scene_clear(&scene);
}

static void rare_samples_make_a_moment_longer(void **state)
{
	struct seen waits = WAITS(100, 17);
	struct seen later = WAITS(100, 18);
	struct scene scene;

	(void)state;
	start(&scene);
	see_all(&scene, 4, waits);
	scene_wait(&scene, 4);
	see_all(&scene, 4, later);
	scene_wait(&scene, 4);
	see_all(&scene, 4, later);
	scene_judge(&scene);
	assert_int_equal(scene.session.verdict.state, VERDICT_PROGRESSING);
	scene_clear(&scene);
}

static void who_ended_first_is_named(void **state)
{
	const struct seen waits = WAITS(100, 17);
	struct scene scene;

	(void)state;
	start(&scene);
	see_all(&scene, 4, waits);
	end_rank(&scene, 2, "exit_code");
	scene_wait(&scene, 0.1);
	for (int rank = 0; rank < 4; rank++)
		if (rank != 2)
			end_rank(&scene, rank, "exit_signal");
	scene_expect(&scene, VERDICT_CRASHED, "2",
		     "All ranks have ended: rank 2 exited with code 1, then "
		     "ranks 0-1,3 were killed by SIGTERM. Rank 2 was last seen in train "
		     "(train.py:17) in all_reduce.");
	scene_clear(&scene);
}

static void an_unknown_code_is_no_crash(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene);
	for (int rank = 0; rank < 4; rank++) {
		json_t *process = scene_process(rank, 100 + rank, 4);

		json_object_set_new(process, "state", json_string("exited"));
		assert_int_equal(scene_event(&scene, "rankRemoved", process),
				 0);
	}
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "All ranks have ended: ranks 0-3 ended without a known code.");
	scene_clear(&scene);
}

static void a_rank_stopped_before_it_was_read_is_named(void **state)
{
	const struct seen computes = { .pid = 100,
				       .stack = "f train.py:9",
				       .state = "running" };
	struct scene scene;
	json_t *process;

	(void)state;
	scene_init(&scene);
	scene_event(&scene, "rankAdded", scene_process(0, 100, 2));
	process = scene_process(1, 101, 2);
	json_object_set_new(process, "state", json_string("stopped"));
	scene_event(&scene, "rankAdded", process);
	scene_discovered(&scene);
	assert_int_equal(scene_see(&scene, &computes), 0);
	scene_judge(&scene);
	assert_non_null(strstr(scene.session.verdict.sentence,
			       "1 rank (1) is stopped: two camps"));
	scene_clear(&scene);
}

static void nothing_agrees_with_a_lone_stack(void **state)
{
	const struct seen waits = WAITS(100, 17);
	struct scene scene;
	json_t *process;

	(void)state;
	scene_init(&scene);
	scene_event(&scene, "rankAdded", scene_process(0, 100, 2));
	process = scene_process(1, 101, 2);
	json_object_set_new(process, "state", json_string("unreadable"));
	scene_event(&scene, "rankAdded", process);
	scene_discovered(&scene);
	assert_int_equal(scene_see(&scene, &waits), 0);
	scene_wait(&scene, 5);
	assert_int_equal(scene_see(&scene, &waits), 0);
	scene_judge(&scene);
	assert_null(strstr(scene.session.verdict.sentence, "the stacks agree"));
	assert_non_null(strstr(scene.session.verdict.sentence,
			       "no other rank is here to compare it with"));
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_stand_in_one_place_is_not_hung),
		cmocka_unit_test(
			camps_that_wait_for_each_other_are_hung_at_once),
		cmocka_unit_test(sleep_takes_longer_to_be_odd),
		cmocka_unit_test(the_age_of_a_stop_begins_with_it),
		cmocka_unit_test(rare_samples_make_a_moment_longer),
		cmocka_unit_test(who_ended_first_is_named),
		cmocka_unit_test(an_unknown_code_is_no_crash),
		cmocka_unit_test(a_rank_stopped_before_it_was_read_is_named),
		cmocka_unit_test(nothing_agrees_with_a_lone_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
