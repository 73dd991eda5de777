/* verdict: who is the odd one out, in every case that the rules name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <cmocka.h>

#include "banned.h"
#include "base/buffer.h"
#include "scene.h"

#define TOGETHER_TAIL                                                                              \
	"; the stacks agree, so look below Python: network, or a rank's C++ "                      \
	"or GPU work."

/* Shows the ranks 0 to 7 in all_reduce, except those that others shows. */
static void see_waiting(struct scene *scene, int count, const struct seen *odd)
{
	for (int rank = 0; rank < count; rank++) {
		struct seen waits = WAITS(100 + rank, 17);

		if (odd && odd->pid == waits.pid)
			waits = *odd;
		assert_int_equal(scene_see(scene, &waits), 0);
	}
}

/* Two samples, seconds apart, that show the same. */
static void see_twice(struct scene *scene, int count, const struct seen *odd, double seconds)
{
	see_waiting(scene, count, odd);
	scene_wait(scene, seconds);
	see_waiting(scene, count, odd);
}

static const struct seen sleeps = { .pid = 103, .stack = LOADS, .syscall = SYS_clock_nanosleep };

static void one_late(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, &sleeps, 34);
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 is elsewhere: "
		     "load_batch (train.py:5) in time.sleep, for 34 s.");
	assert_int_equal(scene.session.verdict.class_count, 2);
	assert_int_equal(scene.session.verdict.majority, 0);
	assert_int_equal(scene.session.verdict.classes[0].mark, 0);
	assert_int_equal(scene.session.verdict.classes[1].mark, 1);
	assert_int_equal(scene.session.verdict.world_size, 8);
	assert_int_equal(scene.session.verdict.ranks_found, 8);
	assert_string_equal(scene.session.verdict.job, "127.0.0.1:29500");
	assert_int_equal(session_selected(&scene.session)->process.rank, 3);
	scene_clear(&scene);
}

static void one_sample_tells_no_time_and_no_state(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_waiting(&scene, 8, &sleeps);
	scene_expect(&scene, VERDICT_UNKNOWN, "3",
		     "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 is elsewhere: "
		     "load_batch (train.py:5) in time.sleep.");
	scene_clear(&scene);
}

static void a_short_time_is_not_said(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, &sleeps, 0.2);
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 is elsewhere: "
		     "load_batch (train.py:5) in time.sleep.");
	scene_clear(&scene);
}

static void a_sleeping_loop_that_wakes_does_not_move(void **state)
{
	struct scene scene;
	struct seen odd = sleeps;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	for (int i = 0; i < 10; i++) {
		see_waiting(&scene, 8, &odd);
		scene_wait(&scene, 1);
		odd.switches += 20;
		odd.cpu += 0.001;
	}
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 is elsewhere: "
		     "load_batch (train.py:5) in time.sleep, for 9 s.");
	scene_clear(&scene);
}

static void another_collective(void **state)
{
	struct scene scene;
	struct seen odd = BARRIER(103, 20);

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, &odd, 5);
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 waits in barrier "
		     "(train.py:20), for 5 s.");
	scene_clear(&scene);
}

/* Inside of a known place the line does not matter, outside it does. */
static void two_lines_of_one_collective_are_one_wait_group(void **state)
{
	struct scene scene;
	struct seen odd = {
		.pid = 103,
		.stack = "all_reduce torch/distributed/distributed_c10d.py:3248 < wrapper "
			 "torch/distributed/c10d_logger.py:83 < train train.py:17 < <module> "
			 "train.py:19",
	};

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, &odd, 5);
	scene_expect(&scene, VERDICT_HUNG, "",
		     "All 8 ranks wait in all_reduce (train.py:17) and did not move for 5 "
		     "s" TOGETHER_TAIL);
	assert_int_equal(scene.session.verdict.class_count, 2);
	scene_clear(&scene);
}

static void one_collective_from_two_lines_is_two_wait_groups(void **state)
{
	struct scene scene;
	struct seen odd = WAITS(103, 16);

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, &odd, 5);
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 waits in all_reduce "
		     "(train.py:16), for 5 s.");
	scene_clear(&scene);
}

static void two_wait_groups(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	for (int i = 0; i < 2; i++) {
		for (int rank = 0; rank < 8; rank++) {
			struct seen here = WAITS(100 + rank, 17);
			struct seen there = BARRIER(100 + rank, 20);

			scene_see(&scene, rank < 4 ? &here : &there);
		}
		scene_wait(&scene, 1);
	}
	scene_expect(&scene, VERDICT_HUNG, "",
		     "4 ranks (0-3) wait in all_reduce (train.py:17), 4 ranks (4-7) wait in "
		     "barrier (train.py:20): two groups, no majority, and none of them moves.");
	assert_int_equal(scene.session.verdict.majority, -1);
	scene_clear(&scene);
}

static void two_ranks_in_two_collectives(void **state)
{
	struct scene scene;
	struct seen odd = BARRIER(101, 20);

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	see_twice(&scene, 2, &odd, 1);
	scene_expect(&scene, VERDICT_HUNG, "",
		     "1 rank (0) waits in all_reduce (train.py:17), 1 rank (1) waits in barrier "
		     "(train.py:20): two groups, no majority, and none of them moves.");
	scene_clear(&scene);
}

static void two_ranks_one_late(void **state)
{
	struct scene scene;
	struct seen odd = sleeps;

	(void)state;
	odd.pid = 101;
	scene_init(&scene);
	scene_start(&scene, 2);
	see_twice(&scene, 2, &odd, 1);
	scene_expect(&scene, VERDICT_HUNG, "1",
		     "1 of 2 ranks waits in all_reduce (train.py:17). Rank 1 is elsewhere: "
		     "load_batch (train.py:5) in time.sleep, for 1 s.");
	scene_clear(&scene);
}

static void all_together_and_moving(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	/* Both samples fall into the same all_reduce; many steps lie between.
	 */
	for (uint64_t i = 1; i <= 2; i++) {
		for (int rank = 0; rank < 8; rank++) {
			struct seen seen = WAITS(100 + rank, 17);

			seen.switches = 40 * i;
			seen.cpu = 0.1 * (double)i;
			scene_see(&scene, &seen);
		}
		scene_wait(&scene, 0.2);
	}
	scene_expect(&scene, VERDICT_PROGRESSING, "",
		     "All 8 ranks move: 8 wait in all_reduce (train.py:17).");
	scene_clear(&scene);
}

static void a_moving_job_has_no_outlier(void **state)
{
	struct scene scene;
	struct seen odd = { .pid = 103,
			    .state = "running",
			    .stack =
				    "forward net.py:9 < train train.py:14 < <module> train.py:19" };

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	for (uint64_t i = 1; i <= 2; i++) {
		for (int rank = 0; rank < 8; rank++) {
			struct seen seen = WAITS(100 + rank, 17);

			seen = rank == 3 ? odd : seen;
			seen.switches = 40 * i;
			seen.cpu = 0.1 * (double)i;
			scene_see(&scene, &seen);
		}
		scene_wait(&scene, 0.2);
	}
	scene_expect(&scene, VERDICT_PROGRESSING, "",
		     "All 8 ranks move: 7 wait in all_reduce (train.py:17), 1 computes.");
	scene_clear(&scene);
}

/* Each is somewhere else in torch, below the same line of theirs. */
static void what_has_no_word_is_told_by_its_place(void **state)
{
	static const char *const stacks[] = {
		"get /usr/lib/python3.11/queue.py:9 < train train.py:25",
		"get /usr/lib/python3.11/queue.py:7 < train train.py:25",
		"get /usr/lib/python3.11/queue.py:9 < other train.py:5",
	};
	struct scene scene;

	(void)state;
	for (int last = 1; last <= 2; last++) {
		scene_init(&scene);
		scene_start(&scene, 2);
		for (uint64_t i = 1; i <= 2; i++) {
			for (int rank = 0; rank < 2; rank++) {
				struct seen seen = WAITS(100 + rank, 17);

				seen.stack = stacks[rank == 0 ? 0 : last];
				seen.switches = 40 * i;
				seen.cpu = 0.1 * (double)i;
				scene_see(&scene, &seen);
			}
			scene_wait(&scene, 0.2);
		}
		scene_expect(
			&scene, VERDICT_PROGRESSING, "",
			last == 1 ? "Both ranks move, and are in train (train.py:25) in queue get."
				  : "Both ranks move.");
		scene_clear(&scene);
	}
}

static void one_alone_that_moves(void **state)
{
	struct seen seen = { .pid = 100,
			     .state = "running",
			     .stack = "f net.py:9 < <module> train.py:19" };
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	for (uint64_t i = 1; i <= 2; i++) {
		seen.switches = 40 * i;
		seen.cpu = 0.1 * (double)i;
		if (i == 2)
			seen.stack = "g net.py:3 < <module> train.py:19";
		scene_see(&scene, &seen);
		scene_wait(&scene, 0.2);
	}
	scene_expect(&scene, VERDICT_PROGRESSING, "", "Rank 0 moves: it computes.");
	scene_clear(&scene);
}

static void all_together_and_not_moving(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, NULL, 3);
	scene_expect(&scene, VERDICT_HUNG, "",
		     "All 8 ranks wait in all_reduce (train.py:17) and did not move for 3 "
		     "s" TOGETHER_TAIL);
	assert_int_equal(scene.session.verdict.class_count, 1);
	scene_clear(&scene);
}

static void all_together_in_one_sample(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_waiting(&scene, 8, NULL);
	scene_expect(&scene, VERDICT_UNKNOWN, "", "All 8 ranks wait in all_reduce (train.py:17).");
	scene_clear(&scene);
}

static void the_ranks_of_other_machines_are_not_seen(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	for (int rank = 0; rank < 4; rank++) {
		json_t *process = scene_process(rank, 100 + rank, 16);

		json_object_set_new(process, "job", json_string("gpu01:29500"));
		scene_event(&scene, "rankAdded", process);
	}
	scene_discovered(&scene);
	see_twice(&scene, 4, NULL, 3);
	scene_expect(&scene, VERDICT_HUNG, "",
		     "All 4 ranks here wait in all_reduce (train.py:17) and did not move for 3 s; "
		     "the stacks agree, so look below Python: network, a rank's C++ or GPU work, "
		     "or a peer that is not in this set.");
	scene_clear(&scene);
}

static void one_killed(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, &sleeps, 5);
	scene_text(&scene, "rankRemoved", "{'pid':103,'rank':3,'state':'exited','exit_signal':9}");
	scene_expect(&scene, VERDICT_CRASHED, "3",
		     "Rank 3 is gone: killed by SIGKILL, last seen in load_batch (train.py:5) in "
		     "time.sleep. The 7 others wait in all_reduce (train.py:17).");
	assert_string_equal(session_find_rank(&scene.session, 3)->error, "was killed by SIGKILL");
	assert_int_equal(scene.session.verdict.ranks_found, 7);
	scene_clear(&scene);
}

static void two_died_in_two_ways(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, &sleeps, 5);
	scene_text(&scene, "rankRemoved", "{'pid':105,'rank':5,'state':'exited','exit_signal':9}");
	scene_text(&scene, "rankRemoved", "{'pid':106,'rank':6,'state':'exited','exit_code':1}");
	scene_expect(&scene, VERDICT_CRASHED, "5-6",
		     "Ranks 5 and 6 are gone: rank 5 was killed by SIGKILL, rank 6 exited with "
		     "code 1. The 6 others: 5 wait in all_reduce (train.py:17), rank 3 is in "
		     "load_batch (train.py:5) in time.sleep.");
	scene_clear(&scene);
}

static void one_dead_before_we_came(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	for (int rank = 0; rank < 8; rank++) {
		if (rank != 7)
			scene_event(&scene, "rankAdded", scene_process(rank, 100 + rank, 8));
	}
	scene_discovered(&scene);
	see_twice(&scene, 7, NULL, 5);
	scene_expect(&scene, VERDICT_CRASHED, "7",
		     "Rank 7 was not found. The 7 others wait in all_reduce (train.py:17).");
	scene_clear(&scene);
}

static void all_ended(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	see_waiting(&scene, 2, NULL);
	scene_text(&scene, "rankRemoved", "{'pid':100,'rank':0,'state':'exited','exit_code':0}");
	scene_text(&scene, "rankRemoved", "{'pid':101,'rank':1,'state':'exited','exit_code':1}");
	scene_expect(&scene, VERDICT_CRASHED, "1",
		     "All ranks have ended: rank 0 exited with code 0, rank 1 exited with code 1. "
		     "Rank 1 was last seen in train (train.py:17) in all_reduce.");
	scene_clear(&scene);
}

static void raised_and_in_teardown(void **state)
{
	struct scene scene;
	struct seen odd = {
		.pid = 103, .stack = "join lib/threading.py:1119 < _shutdown lib/threading.py:1570"
	};

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, &odd, 5);
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "Rank 3 is in teardown: threads' shutdown (threading.py:1119), for 5 s. The 7 "
		     "others wait in all_reduce (train.py:17).");
	scene_clear(&scene);
}

static void endless_python_loop(void **state)
{
	struct scene scene;
	struct seen odd = { .pid = 103, .state = "running", .has_gil = true };

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	for (int i = 0; i < 4; i++) {
		odd.stack = i % 2 ? "spin train.py:9 < <module> train.py:19"
				  : "spin train.py:8 < <module> train.py:19";
		odd.cpu = i;
		see_waiting(&scene, 8, &odd);
		scene_wait(&scene, 1);
	}
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 computes: spin "
		     "(train.py:9).");
	assert_true(rank_is_moving(session_find_rank(&scene.session, 3)));
	scene_clear(&scene);
}

static void endless_c_call_with_the_gil(void **state)
{
	struct scene scene;
	struct seen odd = { .pid = 103,
			    .state = "running",
			    .has_gil = true,
			    .stack = "crunch train.py:9 < <module> train.py:19" };

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_waiting(&scene, 8, &odd);
	odd.cpu = 3;
	scene_wait(&scene, 3);
	see_waiting(&scene, 8, &odd);
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 holds the GIL in C "
		     "code called from crunch (train.py:9), or loops on that line, for 3 s.");
	assert_true(rank_main_thread(session_find_rank(&scene.session, 3))->is_busy);
	scene_clear(&scene);
}

#define POLLS                                                                                      \
	"select lib/selectors.py:415 < wait lib/multiprocessing/"                                  \
	"connection.py:930 < _poll lib/multiprocessing/connection.py:424 < "                       \
	"poll lib/multiprocessing/connection.py:257 < get "                                        \
	"lib/multiprocessing/queues.py:113 < "

static void data_loader_worker_stuck(void **state)
{
	struct scene scene;
	struct seen odd = {
		.pid = 103,
		.syscall = SYS_poll,
		.stack = POLLS
		"_try_get_data torch/utils/data/dataloader.py:1131 < _get_data "
		"torch/utils/data/dataloader.py:1295 < __next__ torch/utils/data/dataloader.py:630 "
		"< train train.py:12 < <module> train.py:19"
	};
	struct seen idle = { .pid = 500,
			     .syscall = SYS_poll,
			     .stack = POLLS "_worker_loop torch/utils/data/_utils/worker.py:275 < "
					    "run lib/multiprocessing/process.py:108" };
	struct seen stuck = {
		.pid = 501,
		.syscall = SYS_clock_nanosleep,
		.stack = "__getitem__ data.py:9 < fetch torch/utils/data/_utils/fetch.py:52 < "
			 "_worker_loop torch/utils/data/_utils/worker.py:309"
	};

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	for (int pid = 500; pid < 502; pid++) {
		json_t *child = scene_process(3, pid, 8);

		json_object_set_new(child, "parent_pid", json_integer(103));
		json_object_set_new(child, "role", json_string("dataloader"));
		assert_int_equal(scene_event(&scene, "rankAdded", child), 0);
	}
	for (int i = 0; i < 2; i++) {
		see_waiting(&scene, 8, &odd);
		scene_see(&scene, &idle);
		scene_see(&scene, &stuck);
		scene_wait(&scene, i ? 0 : 4);
	}
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "7 of 8 ranks wait in all_reduce (train.py:17). Rank 3 waits for its "
		     "DataLoader (train.py:12); worker pid 501 is in __getitem__ (data.py:9) in "
		     "time.sleep, for 4 s.");
	scene_clear(&scene);
}

static void several_outliers_share_a_sentence(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	for (int rank = 0; rank < 8; rank++) {
		struct seen seen = WAITS(100 + rank, 17);

		seen.stack = rank == 2 ? "f a.py:5" : seen.stack;
		seen.stack = rank == 5 ? "g b.py:7" : seen.stack;
		seen.state = rank == 2 || rank == 5 ? "running" : NULL;
		scene_see(&scene, &seen);
	}
	scene_expect(&scene, VERDICT_UNKNOWN, "2,5",
		     "6 of 8 ranks wait in all_reduce (train.py:17). Ranks 2 and 5 compute: f "
		     "(a.py:5), g (b.py:7).");
	scene_clear(&scene);
}

/* DDP: no Python frame names the collective that backward waits in. */
static void backward_without_work_of_its_own_waits(void **state)
{
	struct scene scene;
	struct seen odd = sleeps;

	(void)state;
	odd.pid = 101;
	scene_init(&scene);
	scene_start(&scene, 2);
	for (int i = 0; i < 2; i++) {
		struct seen waits = {
			.pid = 100,
			.stack = "_engine_run_backward torch/autograd/graph.py:829 < backward "
				 "torch/autograd/__init__.py:359 < backward torch/_tensor.py:648 < "
				 "train train.py:15 < <module> train.py:19",
		};

		scene_see(&scene, &waits);
		scene_see(&scene, &odd);
		scene_wait(&scene, i ? 0 : 2);
	}
	scene_expect(&scene, VERDICT_HUNG, "1",
		     "1 of 2 ranks waits in backward (train.py:15). Rank 1 is elsewhere: "
		     "load_batch (train.py:5) in time.sleep, for 2 s.");
	scene_clear(&scene);
}

#define BACKWARD(PID)                                                                              \
	{ .pid = (PID),                                                                            \
	  .stack = "_engine_run_backward torch/autograd/graph.py:829 < "                           \
		   "backward torch/autograd/__init__.py:359 < "                                    \
		   "backward torch/_tensor.py:648 < train train.py:15 "                            \
		   "< <module> train.py:19" }

/* One sample does not show whether backward waits: no rank is accused. */
static void one_sample_of_backward_names_no_outlier(void **state)
{
	const struct seen receives = {
		.pid = 103,
		.stack = "recv torch/distributed/distributed_c10d.py:2600 < hook train.py:9 < "
			 "train train.py:15 < <module> train.py:19",
	};
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 4);
	for (int i = 0; i < 2; i++) {
		for (int pid = 100; pid < 103; pid++) {
			struct seen waits = BACKWARD(pid);

			scene_see(&scene, &waits);
		}
		scene_see(&scene, &receives);
		if (i == 0)
			scene_expect(&scene, VERDICT_UNKNOWN, "",
				     "3 ranks (0-2) are in train (train.py:15) in backward, 1 rank "
				     "(3) waits in recv (train.py:9). One sample does not show "
				     "which ranks wait for the others (--for 1).");
		scene_wait(&scene, 2);
	}
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "3 of 4 ranks wait in backward (train.py:15). Rank 3 waits in recv "
		     "(train.py:9), for 2 s.");
	scene_clear(&scene);
}

static void one_rank_only(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	see_twice(&scene, 1, NULL, 4);
	scene_expect(&scene, VERDICT_HUNG, "",
		     "Rank 0 waits in all_reduce (train.py:17) and did not move for 4 s; no other "
		     "rank is here to compare it with.");
	scene_clear(&scene);
}

static void the_majority_computes_elsewhere(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	for (int i = 0; i < 2; i++) {
		for (int rank = 0; rank < 8; rank++) {
			struct seen seen = { .pid = 100 + rank, .stack = "wait train.py:30" };

			scene_see(&scene, rank == 3 ? &sleeps : &seen);
		}
		scene_wait(&scene, i ? 0 : 2);
	}
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "7 of 8 ranks are in wait (train.py:30) in lock. Rank 3 is elsewhere: "
		     "load_batch (train.py:5) in time.sleep, for 2 s.");
	scene_clear(&scene);
}

static void an_unreadable_rank_is_named(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 7, &sleeps, 2);
	scene_text(&scene, "sampled",
		   "{'pid':107,'epoch':1,'time':1,'threads':[],'error':'permission denied'}");
	scene_expect(
		&scene, VERDICT_HUNG, "3",
		"6 of 8 ranks wait in all_reduce (train.py:17). Rank 3 is elsewhere: load_batch "
		"(train.py:5) in time.sleep, for 2 s. Rank 7 cannot be read: permission denied.");
	scene_clear(&scene);
}

#define UNREAD "the system call could not be read: Too many open files"

static void a_rank_that_is_half_read_is_not_blamed(void **state)
{
	const struct seen half = { .pid = 107, .stack = LOADS, .syscall = -1, .missing = UNREAD };
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	see_twice(&scene, 8, &half, 2);
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "7 of 8 ranks wait in all_reduce (train.py:17), no progress seen yet. Rank "
		     "7: " UNREAD ".");
	scene_clear(&scene);
	/* Whoever is known to be elsewhere still is. */
	scene_init(&scene);
	scene_start(&scene, 8);
	see_waiting(&scene, 7, &sleeps);
	scene_see(&scene, &half);
	scene_wait(&scene, 2);
	see_waiting(&scene, 7, &sleeps);
	scene_see(&scene, &half);
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "6 of 8 ranks wait in all_reduce (train.py:17). Rank 3 is elsewhere: "
		     "load_batch (train.py:5) in time.sleep, for 2 s. Rank 7: " UNREAD ".");
	scene_clear(&scene);
}

/* Where the times are missing, so is whether it moves. */
static void half_a_sample_compares_to_none(void **state)
{
	struct seen waits = WAITS(103, 17);
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	waits.missing = "the processor time could not be read: No memory";
	see_waiting(&scene, 8, &waits);
	scene_wait(&scene, 2);
	waits.missing = NULL;
	waits.cpu = 900;
	waits.switches = 100000;
	see_waiting(&scene, 8, &waits);
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "All 8 ranks wait in all_reduce (train.py:17). Rank 3: the processor time "
		     "could not be read: No memory.");
	scene_wait(&scene, 2);
	see_waiting(&scene, 8, &waits);
	scene_expect(&scene, VERDICT_HUNG, "",
		     "All 8 ranks wait in all_reduce (train.py:17) and did not move for 2 "
		     "s" TOGETHER_TAIL);
	scene_clear(&scene);
}

/* Ranks 0 to 2 of 4, and a look that did not see all that there is. */
static void start_unseen(struct scene *scene, const char *fields)
{
	char text[200];

	scene_init(scene);
	for (int rank = 0; rank < 3; rank++)
		scene_event(scene, "rankAdded", scene_process(rank, 100 + rank, 4));
	scene_discovered(scene);
	snprintf(text, sizeof(text), "{%s}", fields);
	assert_int_equal(scene_text(scene, "unread", text), 0);
	see_twice(scene, 3, NULL, 2);
}

static void a_rank_that_may_be_there_is_not_gone(void **state)
{
	struct scene scene;

	(void)state;
	start_unseen(&scene, "'unread':'Too many open files'");
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "3 of 4 ranks wait in all_reduce (train.py:17), no progress seen yet. Rank "
		     "3: not found, but not all processes could be read: Too many open files. Not "
		     "all processes could be read: Too many open files.");
	assert_int_equal(scene_text(&scene, "unread", "{'unread':null}"), 0);
	scene_judge(&scene);
	assert_int_equal(scene.session.verdict.state, VERDICT_CRASHED);
	scene_clear(&scene);
	start_unseen(&scene, "'hidden':1");
	scene_expect(&scene, VERDICT_UNKNOWN, "",
		     "3 of 4 ranks wait in all_reduce (train.py:17), no progress seen yet. Rank "
		     "3: not found, but 1 Python process of this user cannot be read.");
	scene_clear(&scene);
}

static void stopped_ranks(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	for (int rank = 0; rank < 2; rank++) {
		struct seen seen = WAITS(100 + rank, 17);

		seen.state = rank == 0 ? "stopped" : NULL;
		scene_see(&scene, &seen);
	}
	scene_expect(&scene, VERDICT_UNKNOWN, "0",
		     "1 of 2 ranks waits in all_reduce (train.py:17). Rank 0 is stopped: train "
		     "(train.py:17) in all_reduce.");
	for (int rank = 0; rank < 2; rank++) {
		struct seen seen = WAITS(100 + rank, 17);

		seen.state = "stopped";
		scene_see(&scene, &seen);
	}
	scene_expect(&scene, VERDICT_STOPPED, "",
		     "Both ranks are stopped (SIGSTOP, or another debugger).");
	scene_clear(&scene);
}

static void nothing_yet(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_expect(&scene, VERDICT_UNKNOWN, "", "No rank found.");
	scene_start(&scene, 8);
	scene_expect(&scene, VERDICT_UNKNOWN, "", "8 ranks found; none has been read yet.");
	scene_clear(&scene);
}

static void names_from_the_target_are_harmless(void **state)
{
	struct scene scene;
	struct seen odd = { .pid = 101, .state = "running", .stack = "\033[2Jf \033[31mx.py:5" };

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	see_waiting(&scene, 2, &odd);
	scene_expect(&scene, VERDICT_UNKNOWN, "1",
		     "1 of 2 ranks waits in all_reduce (train.py:17). Rank 1 computes: ^[[2Jf "
		     "(^[[31mx.py:5).");
	scene_clear(&scene);
}

static void a_thousand_ranks_are_judged_at_once(void **state)
{
	struct scene scene;
	struct timespec start;
	struct timespec end;
	double seconds;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1024);
	see_twice(&scene, 1024, &sleeps, 540);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	scene_expect(&scene, VERDICT_HUNG, "3",
		     "1,023 of 1,024 ranks wait in all_reduce (train.py:17). Rank 3 is elsewhere: "
		     "load_batch (train.py:5) in time.sleep, for 9 min.");
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	print_message("# 1,024 ranks judged in %.2f ms\n", seconds * 1e3);
	assert_true(seconds < 0.5);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_late),
		cmocka_unit_test(one_sample_tells_no_time_and_no_state),
		cmocka_unit_test(a_short_time_is_not_said),
		cmocka_unit_test(a_sleeping_loop_that_wakes_does_not_move),
		cmocka_unit_test(another_collective),
		cmocka_unit_test(two_lines_of_one_collective_are_one_wait_group),
		cmocka_unit_test(one_collective_from_two_lines_is_two_wait_groups),
		cmocka_unit_test(two_wait_groups),
		cmocka_unit_test(two_ranks_in_two_collectives),
		cmocka_unit_test(two_ranks_one_late),
		cmocka_unit_test(all_together_and_moving),
		cmocka_unit_test(a_moving_job_has_no_outlier),
		cmocka_unit_test(what_has_no_word_is_told_by_its_place),
		cmocka_unit_test(one_alone_that_moves),
		cmocka_unit_test(all_together_and_not_moving),
		cmocka_unit_test(all_together_in_one_sample),
		cmocka_unit_test(the_ranks_of_other_machines_are_not_seen),
		cmocka_unit_test(one_killed),
		cmocka_unit_test(two_died_in_two_ways),
		cmocka_unit_test(one_dead_before_we_came),
		cmocka_unit_test(all_ended),
		cmocka_unit_test(raised_and_in_teardown),
		cmocka_unit_test(endless_python_loop),
		cmocka_unit_test(endless_c_call_with_the_gil),
		cmocka_unit_test(data_loader_worker_stuck),
		cmocka_unit_test(several_outliers_share_a_sentence),
		cmocka_unit_test(backward_without_work_of_its_own_waits),
		cmocka_unit_test(one_sample_of_backward_names_no_outlier),
		cmocka_unit_test(one_rank_only),
		cmocka_unit_test(the_majority_computes_elsewhere),
		cmocka_unit_test(an_unreadable_rank_is_named),
		cmocka_unit_test(a_rank_that_is_half_read_is_not_blamed),
		cmocka_unit_test(half_a_sample_compares_to_none),
		cmocka_unit_test(a_rank_that_may_be_there_is_not_gone),
		cmocka_unit_test(stopped_ranks),
		cmocka_unit_test(nothing_yet),
		cmocka_unit_test(names_from_the_target_are_harmless),
		cmocka_unit_test(a_thousand_ranks_are_judged_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
