/* stall: what counts as movement, and for how long there was none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "model/stall.h"
#include "scene.h"

#define COUNT 4
#define SECONDS 30

/* What a rank shows in a second of the scene, from its second on. */
struct part {
	const char *stack; /* NULL: it waits for its peers */
	const char *other; /* every other second; NULL: the same */
	const char *state; /* NULL: blocked */
	int syscall;
	double share;	   /* of a processor that it uses */
	double burst;	   /* seconds used in each seventh second */
	uint64_t switches; /* a second */
};

static const struct part waits = { .stack = NULL };

static void see(struct scene *scene, int rank, const struct part *part, int i)
{
	struct seen seen = WAITS(100 + rank, 17);

	if (part->stack)
		seen.stack = part->stack;
	if (part->other && i % 2 == 1)
		seen.stack = part->other;
	seen.state = part->state;
	seen.syscall = part->syscall;
	seen.cpu = part->share * i + part->burst * (i / 7);
	seen.switches = part->switches * (uint64_t)i;
	assert_int_equal(scene_see(scene, &seen), 0);
}

/* Half a minute in which rank 3 is odd, and the others do as said. */
static double stand(const struct part *others, const struct part *odd)
{
	struct scene scene;
	double seconds;

	scene_init(&scene);
	scene_start(&scene, COUNT);
	for (int i = 0; i <= SECONDS; i++) {
		for (int rank = 0; rank < COUNT; rank++)
			see(&scene, rank, rank == 3 ? odd : others, i);
		if (i < SECONDS)
			scene_wait(&scene, 1);
		scene_judge(&scene);
	}
	seconds = stall_seconds(&scene.session);
	scene_clear(&scene);
	return seconds;
}

static void a_rank_that_hangs(void **state)
{
	const struct part hangs = { .stack = LOADS, .syscall = SYS_clock_nanosleep };

	(void)state;
	assert_true(stand(&waits, &hangs) >= SECONDS - 0.1);
}

static void all_wait_for_each_other(void **state)
{
	(void)state;
	assert_true(stand(&waits, &waits) >= SECONDS - 0.1);
}

static void peers_of_an_endless_loop(void **state)
{
	const struct part loops = {
		.stack = LOADS,
		.other = "load_batch train.py:6 < train train.py:13 < <module> train.py:19",
		.state = "running",
		.share = 1
	};

	(void)state;
	assert_true(stand(&waits, &loops) >= SECONDS - 0.1);
}

static void peers_of_a_checkpoint(void **state)
{
	const struct part saves = { .stack = "save torch/serialization.py:850 < train train.py:30 "
					     "< <module> train.py:19",
				    .state = "running",
				    .share = 0.5 };
	const struct part slow = {
		.stack = saves.stack,
		.syscall = SYS_write,
		.switches = 50,
	};
	const struct part dead = {
		.stack = saves.stack,
		.syscall = SYS_write,
	};

	(void)state;
	assert_true(stand(&waits, &saves) < 3);
	assert_true(stand(&waits, &slow) < 3);
	assert_true(stand(&waits, &dead) >= SECONDS - 0.1);
}

static void all_compute_at_one_line(void **state)
{
	const struct part computes = {
		.stack = "forward train.py:8 < train train.py:14 < <module> train.py:19",
		.state = "running",
		.share = 0.9
	};

	(void)state;
	assert_true(stand(&computes, &computes) < 3);
}

/* Each sample finds it waiting again, but it has computed in between. */
static void steps_that_are_long(void **state)
{
	const struct part steps = { .stack = NULL, .burst = 0.2 };
	const struct part late = { .stack = LOADS, .state = "running", .share = 1 };

	(void)state;
	assert_true(stand(&steps, &late) < 8);
}

static void a_rank_that_has_ended_well_and_left_the_others(void **state)
{
	struct scene scene;
	json_t *process;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, COUNT);
	for (int i = 0; i <= SECONDS; i++) {
		for (int rank = 0; rank < COUNT - (i > 0); rank++)
			see(&scene, rank, &waits, i);
		if (i == 0) {
			process = scene_process(3, 103, COUNT);
			json_object_set_new(process, "state", json_string("exited"));
			json_object_set_new(process, "exit_code", json_integer(0));
			scene_event(&scene, "rankRemoved", process);
		}
		scene_wait(&scene, 1);
		scene_judge(&scene);
	}
	assert_true(stall_seconds(&scene.session) >= SECONDS - 0.1);
	scene_clear(&scene);
}

static void a_job_that_was_stopped(void **state)
{
	const struct part stopped = { .stack = LOADS, .state = "stopped" };

	(void)state;
	assert_true(stand(&stopped, &stopped) == 0);
}

static void nothing_is_known_yet(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_true(stall_seconds(&scene.session) == 0);
	scene_start(&scene, COUNT);
	scene_wait(&scene, 100);
	scene_judge(&scene);
	assert_true(stall_seconds(&scene.session) == 0);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_that_hangs),
		cmocka_unit_test(all_wait_for_each_other),
		cmocka_unit_test(peers_of_an_endless_loop),
		cmocka_unit_test(peers_of_a_checkpoint),
		cmocka_unit_test(all_compute_at_one_line),
		cmocka_unit_test(steps_that_are_long),
		cmocka_unit_test(a_rank_that_has_ended_well_and_left_the_others),
		cmocka_unit_test(a_job_that_was_stopped),
		cmocka_unit_test(nothing_is_known_yet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
