/* odd: children and threads that do not do what their like do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "banned.h"
#include "scene.h"

#define RANKS 4
#define IDLE "get lib/queue.py:10 < loop lib/worker.py:20"
#define STUCK "load data.py:5 < loop lib/worker.py:30"

/* Each rank has one child, its pid 100 more than the rank's. */
static void start(struct scene *scene)
{
	scene_init(scene);
	scene_start(scene, RANKS);
	for (int rank = 0; rank < RANKS; rank++) {
		json_t *child = scene_process(rank, 200 + rank, RANKS);

		json_object_set_new(child, "parent_pid", json_integer(100 + rank));
		json_object_set_new(child, "role", json_string("dataloader"));
		assert_int_equal(scene_event(scene, "rankAdded", child), 0);
	}
}

static void see_children(struct scene *scene, const char *const *stacks)
{
	for (int rank = 0; rank < RANKS; rank++) {
		struct seen seen = { .pid = 200 + rank, .stack = stacks[rank] };

		assert_int_equal(scene_see(scene, &seen), 0);
	}
	scene_judge(scene);
}

static bool is_odd(const struct scene *scene, int rank)
{
	return session_find_rank(&scene->session, rank)->children[0]->is_outlier;
}

static void one_of_many_is_odd_after_a_second(void **state)
{
	static const char *const stacks[RANKS] = { IDLE, IDLE, STUCK, IDLE };
	struct scene scene;

	(void)state;
	start(&scene);
	see_children(&scene, stacks);
	assert_false(is_odd(&scene, 2));
	scene_wait(&scene, 1);
	see_children(&scene, stacks);
	for (int rank = 0; rank < RANKS; rank++)
		assert_int_equal(is_odd(&scene, rank), rank == 2);
	scene_clear(&scene);
}

static void none_is_odd_without_a_majority(void **state)
{
	static const char *const stacks[RANKS] = { IDLE, IDLE, STUCK, STUCK };
	struct scene scene;

	(void)state;
	start(&scene);
	see_children(&scene, stacks);
	scene_wait(&scene, 1);
	see_children(&scene, stacks);
	for (int rank = 0; rank < RANKS; rank++)
		assert_false(is_odd(&scene, rank));
	scene_clear(&scene);
}

static void what_is_like_the_others_again_is_not_odd(void **state)
{
	static const char *const stacks[RANKS] = { STUCK, IDLE, IDLE, IDLE };
	static const char *const later[RANKS] = { IDLE, IDLE, IDLE, IDLE };
	struct scene scene;

	(void)state;
	start(&scene);
	see_children(&scene, stacks);
	scene_wait(&scene, 2);
	see_children(&scene, stacks);
	assert_true(is_odd(&scene, 0));
	see_children(&scene, later);
	assert_false(is_odd(&scene, 0));
	scene_clear(&scene);
}

/* The child of a rank can be looked at instead of the rank. */
static void a_child_is_looked_at(void **state)
{
	static const char *const stacks[RANKS] = { IDLE, STUCK, IDLE, IDLE };
	struct scene scene;
	struct session *session = &scene.session;

	(void)state;
	start(&scene);
	see_children(&scene, stacks);
	session->choice.selection = (struct selection){ .rank = 1, .depth = -1, .pid = 201 };
	assert_int_equal(session_selected(session)->process.pid, 101);
	assert_int_equal(session_looked_at(session)->process.pid, 201);
	assert_int_equal(session_selected_thread(session)->sample.tid, 201);
	/* Of another rank: that one is not looked at. */
	session->choice.selection.pid = 202;
	assert_int_equal(session_looked_at(session)->process.pid, 101);
	scene_clear(&scene);
}

/* Two samples say how much of a processor a rank used. */
static void processor_time_takes_two_samples(void **state)
{
	struct scene scene;
	struct seen seen = { .pid = 100, .stack = LOADS, .cpu = 1 };
	const struct rank *rank;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	assert_int_equal(scene_see(&scene, &seen), 0);
	rank = session_find_rank(&scene.session, 0);
	assert_true(rank->cpu_share < 0);
	scene_wait(&scene, 2);
	seen.cpu = 2.5;
	assert_int_equal(scene_see(&scene, &seen), 0);
	assert_true(rank->cpu_share > 0.74 && rank->cpu_share < 0.76);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_many_is_odd_after_a_second),
		cmocka_unit_test(none_is_odd_without_a_majority),
		cmocka_unit_test(what_is_like_the_others_again_is_not_odd),
		cmocka_unit_test(a_child_is_looked_at),
		cmocka_unit_test(processor_time_takes_two_samples),
	};

	return cmocka_run_group_tests_name("odd", tests, NULL, NULL);
}
