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
#include "model/stall.h"
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
	json_object_set_new(process, how, json_integer(strcmp(how, "exit_signal") ? 1 : 15));
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
		     "All 4 ranks wait in all_reduce (train.py:17), no progress seen yet.");
	scene_wait(&scene, 1);
	see_all(&scene, 4, waits);
	scene_judge(&scene);
	assert_int_equal(scene.session.verdict.state, VERDICT_HUNG);
	scene_clear(&scene);
}

static void wait_groups_that_wait_for_each_other_are_hung_at_once(void **state)
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
	const struct seen sleeps = { .stack = LOADS, .syscall = SYS_clock_nanosleep };
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
		     "All 4 ranks are in load_batch (train.py:5) in time.sleep and did not move "
		     "for 12 s; none of them is an outlier.");
	scene_clear(&scene);
}

/* Steps of a millisecond between sleeps of half a second are never seen. */
static void what_wakes_may_get_somewhere(void **state)
{
	struct seen sleeps = { .stack = LOADS, .syscall = SYS_clock_nanosleep };
	struct scene scene;

	(void)state;
	start(&scene);
	for (int i = 0; i < 20; i++) {
		see_all(&scene, 4, sleeps);
		scene_wait(&scene, 1);
		sleeps.switches += 6;
	}
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "All 4 ranks are in load_batch (train.py:5) in time.sleep; too few samples "
		     "to see progress.");
	assert_true(stall_seconds(&scene.session) == 0);
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
	assert_non_null(strstr(scene.session.verdict.sentence, "Rank 1 is stopped"));
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
	scene_expect(
		&scene, VERDICT_CRASHED, "2",
		"All ranks have ended: rank 2 exited with code 1, then ranks 0-1,3 were killed by "
		"SIGTERM. Rank 2 was last seen in train (train.py:17) in all_reduce.");
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
		assert_int_equal(scene_event(&scene, "rankRemoved", process), 0);
	}
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "All ranks have ended: ranks 0-3 ended without a known code.");
	scene_clear(&scene);
}

static void a_rank_stopped_before_it_was_read_is_named(void **state)
{
	const struct seen computes = { .pid = 100, .stack = "f train.py:9", .state = "running" };
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
	assert_non_null(
		strstr(scene.session.verdict.sentence, "1 rank (1) is stopped: two groups"));
	scene_clear(&scene);
}

/* A SIGSTOP while the ranks take steps: what waits for that rank does not move on. */
static void a_rank_that_a_signal_stops_moves_no_more(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 3);
	for (int look = 0; look < 40; look++) {
		for (int rank = 0; rank < 3; rank++) {
			struct seen seen = WAITS(100 + rank, look % 2 ? 17 : 18);

			seen.switches = 40 * (uint64_t)look;
			scene_see(&scene, &seen);
		}
		scene_wait(&scene, 0.25);
	}
	scene_judge(&scene);
	assert_int_equal(scene.session.verdict.state, VERDICT_PROGRESSING);
	for (int look = 0; look < 4; look++) {
		for (int rank = 0; rank < 3; rank++) {
			struct seen seen = WAITS(100 + rank, 17);

			seen.switches = 1600;
			seen.state = rank == 1 ? "stopped" : NULL;
			scene_see(&scene, &seen);
		}
		scene_wait(&scene, 0.25);
	}
	scene_judge(&scene);
	assert_int_not_equal(scene.session.verdict.state, VERDICT_PROGRESSING);
	assert_non_null(strstr(scene.session.verdict.sentence, "Rank 1 is stopped: "));
	scene_clear(&scene);
}

static void nothing_agrees_with_a_lone_stack(void **state)
{
	const struct seen waits = WAITS(100, 17);
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	assert_int_equal(scene_see(&scene, &waits), 0);
	scene_wait(&scene, 5);
	assert_int_equal(scene_see(&scene, &waits), 0);
	scene_judge(&scene);
	assert_null(strstr(scene.session.verdict.sentence, "the stacks agree"));
	assert_non_null(
		strstr(scene.session.verdict.sentence, "no other rank is here to compare it with"));
	scene_clear(&scene);
}

#define COMPUTES                                                                                   \
	{ .pid = 103,                                                                              \
	  .state = "running",                                                                      \
	  .stack = "forward net.py:9 < train train.py:14 < <module> "                              \
		   "train.py:19" }
/* So many times a second the scenes below are looked at. */
#define LOOKS 4

/* What ranks 0 to 2 and rank 3 do at look number i, and how many looks. */
struct course {
	int looks;
	int step;	/* looks of one step */
	int computing;	/* looks of each that rank 3 computes */
	bool has_wakes; /* the waiting ones are seen to be let go */
};

static void see_course(struct scene *scene, const struct course *course, int i)
{
	for (int rank = 0; rank < 4; rank++) {
		struct seen seen = WAITS(100 + rank, 17);
		struct seen computes = COMPUTES;

		if (rank == 3 && i % course->step < course->computing)
			seen = computes;
		if (rank == 3)
			seen.cpu = i * 0.2;
		else if (course->has_wakes)
			seen.switches = 40 * (uint64_t)(i / course->step);
		assert_int_equal(scene_see(scene, &seen), 0);
	}
}

/* How often the job is called hung in any of the looks. */
static int count_hung(const struct course *course)
{
	struct scene scene;
	int count = 0;

	start(&scene);
	for (int i = 0; i < course->looks; i++) {
		see_course(&scene, course, i);
		scene_judge(&scene);
		count += scene.session.verdict.state == VERDICT_HUNG;
		scene_wait(&scene, 1.0 / LOOKS);
	}
	scene_clear(&scene);
	return count;
}

static void steps_longer_than_a_second_are_not_hung(void **state)
{
	const struct course woken = { 10 * LOOKS, 6, 4, true };
	const struct course quiet = { 10 * LOOKS, 6, 4, false };
	const struct course slow = { 60 * LOOKS, 4 * LOOKS, 1, true };

	(void)state;
	assert_int_equal(count_hung(&woken), 0);
	assert_int_equal(count_hung(&quiet), 0);
	/* Before the first change is seen nothing is known of its steps. */
	assert_true(count_hung(&slow) <= 4 * LOOKS);
}

static void a_job_that_stops_moving_becomes_hung(void **state)
{
	const struct course steps = { .step = 6, .computing = 4, .has_wakes = true };
	struct scene scene;

	(void)state;
	start(&scene);
	for (int i = 0; i < 40; i++) {
		see_course(&scene, &steps, i);
		scene_wait(&scene, 1.0 / LOOKS);
	}
	for (int i = 0; i < 30; i++) {
		see_course(&scene, &steps, 37);
		scene_wait(&scene, 1.0 / LOOKS);
	}
	scene_judge(&scene);
	assert_int_equal(scene.session.verdict.state, VERDICT_HUNG);
	scene_clear(&scene);
}

static void peers_of_a_rank_that_computes_are_given_time(void **state)
{
	const struct course computes = { LOOKS + 1, 100, 100, false };

	(void)state;
	assert_int_equal(count_hung(&computes), 0);
}

/* Ranks of a pipeline: the even ones wait here, the odd ones there. */
static void messages_may_be_under_way(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene);
	for (int i = 0; i < 6; i++) {
		for (int rank = 0; rank < 4; rank++) {
			const struct seen waits = {
				.pid = 100 + rank,
				.syscall = SYS_recvfrom,
				.stack = rank % 2 ? "forward pipe.py:9" : "backward pipe.py:11",
			};

			assert_int_equal(scene_see(&scene, &waits), 0);
		}
		scene_judge(&scene);
		assert_int_equal(scene.session.verdict.state,
				 i < 5 ? VERDICT_UNKNOWN : VERDICT_HUNG);
		scene_wait(&scene, 0.2);
	}
	scene_clear(&scene);
}

/* Rank 3 waits for a child that it started, its peers for nobody or for it. */
static void add_child_of_rank_3(struct scene *scene)
{
	json_t *child = scene_process(3, 500, 4);

	json_object_set_new(child, "parent_pid", json_integer(103));
	assert_int_equal(scene_event(scene, "rankAdded", child), 0);
}

static enum verdict_state wait_for_child(bool has_waiting_peers, double share)
{
	struct scene scene;
	enum verdict_state found;

	start(&scene);
	add_child_of_rank_3(&scene);
	for (int i = 0; i < 40; i++) {
		struct seen child = { .pid = 500,
				      .state = share > 0 ? "running" : NULL,
				      .stack = "burn compile.py:4",
				      .cpu = share * i / LOOKS };

		for (int rank = 0; rank < 4; rank++) {
			struct seen seen = WAITS(100 + rank, 17);

			if (rank == 3 || !has_waiting_peers)
				seen.stack = "result lib/concurrent/futures/_base.py:445 < warmup "
					     "compile.py:8";
			assert_int_equal(scene_see(&scene, &seen), 0);
		}
		assert_int_equal(scene_see(&scene, &child), 0);
		scene_judge(&scene);
		scene_wait(&scene, 1.0 / LOOKS);
	}
	found = scene.session.verdict.state;
	scene_clear(&scene);
	return found;
}

static void a_rank_whose_child_works_moves(void **state)
{
	(void)state;
	assert_int_equal(wait_for_child(false, 1), VERDICT_PROGRESSING);
	assert_int_equal(wait_for_child(true, 1), VERDICT_PROGRESSING);
	assert_int_equal(wait_for_child(false, 0), VERDICT_HUNG);
	assert_int_equal(wait_for_child(true, 0), VERDICT_HUNG);
}

/* Its own thread 9 uses so much of a processor. */
static enum verdict_state wait_for_thread(double share)
{
	struct scene scene;
	enum verdict_state found;

	start(&scene);
	for (int i = 0; i < 20; i++) {
		for (int rank = 0; rank < 4; rank++) {
			const struct seen threads[] = {
				{ .pid = 100 + rank,
				  .stack = "join lib/threading.py:1119 < warmup compile.py:8" },
				{ .pid = 100 + rank,
				  .tid = 9,
				  .state = share > 0.5 ? "running" : NULL,
				  .stack = "burn compile.py:4",
				  .cpu = share * i / LOOKS },
			};

			scene_see_threads(&scene, threads, 2);
		}
		scene_judge(&scene);
		scene_wait(&scene, 1.0 / LOOKS);
	}
	found = scene.session.verdict.state;
	scene_clear(&scene);
	return found;
}

static void only_a_thread_that_works_moves_its_rank(void **state)
{
	(void)state;
	assert_int_equal(wait_for_thread(0.9), VERDICT_PROGRESSING);
	assert_int_equal(wait_for_thread(0.01), VERDICT_HUNG);
}

static void what_does_not_move_is_not_said_to(void **state)
{
	struct scene scene;

	(void)state;
	start(&scene);
	for (int i = 0; i < 2; i++) {
		for (int rank = 0; rank < 4; rank++) {
			struct seen waits = WAITS(100 + rank, 17);

			waits.switches = rank == 2 ? 40 * (uint64_t)i : 0;
			assert_int_equal(scene_see(&scene, &waits), 0);
		}
		scene_wait(&scene, 0.2);
	}
	scene_expect(&scene, VERDICT_PROGRESSING, "",
		     "1 of 4 ranks moves; all wait in all_reduce (train.py:17).");
	scene_clear(&scene);
}

static void a_job_that_stands_is_a_finding(void **state)
{
	const struct seen waits = WAITS(100, 17);
	struct scene scene;

	(void)state;
	start(&scene);
	see_all(&scene, 4, waits);
	assert_false(verdict_is_finding(scene_judge(&scene)));
	scene_wait(&scene, 3);
	see_all(&scene, 4, waits);
	assert_true(verdict_is_finding(scene_judge(&scene)));
	scene_clear(&scene);
}

static void tell_of_debugger(struct scene *scene, int rank, int pid)
{
	assert_int_equal(scene_event(scene, "debugger",
				     json_pack("{s:i, s:i, s:s, s:s}", "rank", rank, "pid", pid,
					       "backend", "ptrace", "state", "running")),
			 0);
}

/* Setting a breakpoint interrupts a system call; its thread then waits on. */
static void what_a_debugger_wakes_has_not_moved(void **state)
{
	struct seen waits = WAITS(100, 17);
	struct seen sleeps = { .pid = 103, .stack = LOADS, .syscall = SYS_clock_nanosleep };
	struct scene scene;

	(void)state;
	start(&scene);
	for (int i = 0; i < 60; i++) {
		waits.switches += i == 40 ? 5 : 0;
		for (int rank = 0; rank < 3; rank++) {
			waits.pid = 100 + rank;
			if (i == 40)
				tell_of_debugger(&scene, rank, waits.pid);
			assert_int_equal(scene_see(&scene, &waits), 0);
		}
		assert_int_equal(scene_see(&scene, &sleeps), 0);
		scene_wait(&scene, 0.5);
	}
	assert_int_equal(scene_judge(&scene)->state, VERDICT_HUNG);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_stand_in_one_place_is_not_hung),
		cmocka_unit_test(wait_groups_that_wait_for_each_other_are_hung_at_once),
		cmocka_unit_test(sleep_takes_longer_to_be_odd),
		cmocka_unit_test(what_wakes_may_get_somewhere),
		cmocka_unit_test(what_a_debugger_wakes_has_not_moved),
		cmocka_unit_test(the_age_of_a_stop_begins_with_it),
		cmocka_unit_test(rare_samples_make_a_moment_longer),
		cmocka_unit_test(who_ended_first_is_named),
		cmocka_unit_test(an_unknown_code_is_no_crash),
		cmocka_unit_test(a_rank_stopped_before_it_was_read_is_named),
		cmocka_unit_test(a_rank_that_a_signal_stops_moves_no_more),
		cmocka_unit_test(nothing_agrees_with_a_lone_stack),
		cmocka_unit_test(steps_longer_than_a_second_are_not_hung),
		cmocka_unit_test(a_job_that_stops_moving_becomes_hung),
		cmocka_unit_test(peers_of_a_rank_that_computes_are_given_time),
		cmocka_unit_test(messages_may_be_under_way),
		cmocka_unit_test(what_does_not_move_is_not_said_to),
		cmocka_unit_test(a_job_that_stands_is_a_finding),
		cmocka_unit_test(a_rank_whose_child_works_moves),
		cmocka_unit_test(only_a_thread_that_works_moves_its_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
