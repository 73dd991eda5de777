/* session: messages in, jobs and ranks out; bad messages change nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/job.h"
#include "model/source.h"
#include "protocol/stack.h"
#include "scene.h"

static void set_job(json_t *process, const char *job, int launcher)
{
	json_object_set_new(process, "job", json_string(job));
	json_object_set_new(process, "launcher_pid", json_integer(launcher));
}

/* Two jobs of two ranks each: at port 29500 pids 100…, at 29501 pids 200… */
static void start_two_jobs(struct scene *scene)
{
	for (int rank = 0; rank < 2; rank++) {
		json_t *other = scene_process(rank, 200 + rank, 2);

		set_job(other, "127.0.0.1:29501", 91);
		scene_event(scene, "rankAdded", scene_process(rank, 100 + rank, 2));
		scene_event(scene, "rankAdded", other);
	}
	scene_discovered(scene);
	session_judge(&scene->session);
}

static int first_pid(const struct scene *scene)
{
	return scene->session.rank_count > 0 ? (int)scene->session.ranks[0]->process.pid : 0;
}

static void one_job_is_chosen(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 8);
	session_judge(&scene.session);
	assert_int_equal(scene.session.job, 0);
	assert_int_equal(scene.session.rank_count, 8);
	assert_int_equal(scene.session.jobs[0].rank_count, 8);
	assert_int_equal(scene.session.looked_at, 41);
	assert_int_equal(rankset_count(&scene.session.choice.focus), 8);
	assert_non_null(session_find_pid(&scene.session, 0, 107));
	assert_null(session_find_rank(&scene.session, 8));
	scene_clear(&scene);
}

static void of_two_jobs_none_is_chosen(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	start_two_jobs(&scene);
	assert_int_equal(scene.session.job, -1);
	assert_int_equal(scene.session.rank_count, 0);
	assert_int_equal(scene.session.job_count, 2);
	assert_string_equal(scene.session.verdict.sentence,
			    "2 jobs run here: train.py (2 ranks, 127.0.0.1:29500), train.py (2 "
			    "ranks, 127.0.0.1:29501); select one with --job 29500.");
	session_choose_job(&scene.session, 1);
	assert_int_equal(first_pid(&scene), 200);
	session_choose_job(&scene.session, 0);
	assert_int_equal(first_pid(&scene), 100);
	assert_int_equal(scene.session.other_count, 2);
	scene_clear(&scene);
}

static void a_wanted_job_is_chosen(void **state)
{
	static const struct {
		const char *job;
		int pid;
	} rows[] = { { "29501", 200 }, { "91", 200 }, { "127.0.0.1:29500", 100 }, { "2950", 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct scene scene;

		scene_init(&scene);
		scene.session.choice.wanted_job = xstrdup(rows[i].job);
		start_two_jobs(&scene);
		assert_int_equal(first_pid(&scene), rows[i].pid);
		scene_clear(&scene);
	}
}

static void wanted_ranks_make_it_clear(void **state)
{
	struct scene scene;
	json_t *third = scene_process(2, 102, 3);

	(void)state;
	scene_init(&scene);
	rankset_add(&scene.session.choice.wanted, 2);
	scene_event(&scene, "rankAdded", third);
	start_two_jobs(&scene);
	assert_int_equal(scene.session.rank_count, 1);
	assert_int_equal(first_pid(&scene), 102);
	scene_clear(&scene);
}

static void processes_named_by_pid_are_one_job(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.session.choice.has_wanted_pids = true;
	for (int rank = 0; rank < 2; rank++) {
		json_t *process = scene_process(rank, 100 + rank, -1);

		set_job(process, "", 300 + rank);
		scene_event(&scene, "rankAdded", process);
	}
	scene_discovered(&scene);
	assert_int_equal(scene.session.rank_count, 2);
	scene_clear(&scene);
}

/* Adds ranks with local rank = rank - base, and says which are missing. */
static void expect_missing(const char *job, int world_size, int base, const int *ranks,
			   size_t count, const char *wanted)
{
	struct scene scene;
	struct buffer missing = BUFFER_INIT;

	scene_init(&scene);
	for (size_t i = 0; i < count; i++) {
		json_t *process = scene_process(ranks[i], 100 + ranks[i], world_size);

		set_job(process, job, 90);
		json_object_set_new(process, "local_rank",
				    base < 0 ? json_null() : json_integer(ranks[i] - base));
		scene_event(&scene, "rankAdded", process);
	}
	scene_discovered(&scene);
	session_judge(&scene.session);
	for (size_t i = 0; i < scene.session.rank_count; i++) {
		const struct rank *rank = scene.session.ranks[i];

		if (rank->state != RANK_NOT_FOUND)
			continue;
		assert_int_equal(rank->process.pid, 0);
		assert_string_equal(rank->error, "was not found");
		buffer_printf(&missing, "%d ", rank->process.rank);
	}
	assert_string_equal(missing.data, wanted);
	buffer_clear(&missing);
	scene_clear(&scene);
}

static void missing_ranks_are_those_that_must_be_here(void **state)
{
	static const int hole[] = { 0, 1, 3 };
	static const int second_machine[] = { 8, 9, 11 };
	static const int cyclic[] = { 0, 2, 6 };

	(void)state;
	/* all meet at a loopback address: the whole world is here */
	expect_missing("127.0.0.1:29500", 5, 0, hole, 3, "2 4 ");
	expect_missing("localhost:29500", 5, -1, hole, 3, "2 4 ");
	/* else only holes in the block of this machine */
	expect_missing("gpu01:29500", 16, 0, hole, 3, "2 ");
	expect_missing("gpu01:29500", 16, 8, second_machine, 3, "10 ");
	/* and none where ranks are not numbered in blocks */
	expect_missing("gpu01:29500", 16, -1, cyclic, 3, "");
}

static void a_huge_world_makes_few_entries(void **state)
{
	static const int one[] = { 0 };
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_event(&scene, "rankAdded", scene_process(one[0], 100, RANKSET_MAXIMUM));
	scene_discovered(&scene);
	session_judge(&scene.session);
	assert_true(scene.session.rank_count >= 2 && scene.session.rank_count <= 5000);
	scene_clear(&scene);
}

static void wanted_ranks_that_are_not_there(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	rankset_add_range(&scene.session.choice.wanted, 0, 7);
	for (int rank = 0; rank < 6; rank++) {
		json_t *process = scene_process(rank, 100 + rank, 16);

		set_job(process, "gpu01:29500", 90);
		scene_event(&scene, "rankAdded", process);
	}
	scene_discovered(&scene);
	session_judge(&scene.session);
	assert_int_equal(scene.session.rank_count, 8);
	assert_int_equal(session_find_rank(&scene.session, 6)->state, RANK_NOT_FOUND);
	/* They may run on another machine: nothing has crashed. */
	assert_int_equal(scene.session.verdict.state, VERDICT_UNKNOWN);
	scene_clear(&scene);
}

static json_t *exited(int rank, int pid, int world_size)
{
	json_t *process = scene_process(rank, pid, world_size);

	json_object_set_new(process, "state", json_string("exited"));
	return process;
}

static void a_restart_replaces_the_rank(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	scene_event(&scene, "rankRemoved", exited(1, 101, 2));
	assert_int_equal(session_find_rank(&scene.session, 1)->state, RANK_EXITED);
	assert_null(session_find_pid(&scene.session, 0, 101));
	scene_event(&scene, "rankAdded", scene_process(1, 301, 2));
	assert_int_equal(scene.session.rank_count, 2);
	assert_int_equal(session_find_rank(&scene.session, 1)->process.pid, 301);
	assert_int_equal(rankset_count(&scene.session.choice.focus), 2);
	scene_clear(&scene);
}

static void what_is_told_again_keeps_the_rank(void **state)
{
	struct scene scene;
	struct seen seen = WAITS(100, 17);
	json_t *process = scene_process(0, 100, 2);

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	scene_see(&scene, &seen);
	/* its launcher has ended, another process is its parent now */
	json_object_set_new(process, "launcher_pid", json_integer(1));
	json_object_set_new(process, "script", json_string("other.py"));
	scene_event(&scene, "rankChanged", process);
	session_judge(&scene.session);
	assert_int_equal(scene.session.rank_count, 2);
	assert_int_equal(scene.session.ranks[0]->thread_count, 1);
	assert_string_equal(scene.session.ranks[0]->process.script, "other.py");
	scene_clear(&scene);
}

/* Others whose launchers ended make jobs of their own while they are counted.
 */
static void orphans_become_jobs(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	start_two_jobs(&scene);
	for (int rank = 0; rank < 2; rank++) {
		json_t *process = scene_process(rank, 200 + rank, 2);

		set_job(process, "127.0.0.1:29501", rank + 1);
		scene_event(&scene, "rankChanged", process);
	}
	session_judge(&scene.session);
	assert_int_equal(scene.session.job_count, 3);
	assert_int_equal(scene.session.jobs[0].rank_count, 2);
	assert_int_equal(scene.session.jobs[2].rank_count, 1);
	scene_clear(&scene);
}

static void a_restart_with_a_new_port_is_the_same_job(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	for (int rank = 0; rank < 2; rank++)
		scene_event(&scene, "rankRemoved", exited(rank, 100 + rank, 2));
	for (int rank = 0; rank < 2; rank++) {
		json_t *process = scene_process(rank, 300 + rank, 2);

		set_job(process, "127.0.0.1:41234", 90);
		scene_event(&scene, "rankAdded", process);
	}
	session_judge(&scene.session);
	assert_int_equal(scene.session.job_count, 1);
	assert_int_equal(scene.session.rank_count, 2);
	assert_int_equal(first_pid(&scene), 300);
	assert_string_equal(scene.session.verdict.job, "127.0.0.1:41234");
	scene_clear(&scene);
}

static void a_new_run_of_the_same_script_is_followed(void **state)
{
	struct scene scene;
	json_t *process = scene_process(0, 300, 1);

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	breakpoints_add(&scene.session.choice.breakpoints, NULL);
	scene_event(&scene, "rankRemoved", exited(0, 100, 1));
	set_job(process, "127.0.0.1:29500", 95);
	scene_event(&scene, "rankAdded", process);
	session_judge(&scene.session);
	assert_int_equal(first_pid(&scene), 300);
	assert_int_equal(scene.session.job_count, 1);
	/* Nobody has asked to stop this run. */
	assert_true(scene.session.choice.breakpoints.items[0].breakpoint.is_disabled);
	scene_clear(&scene);
}

static void another_run_is_not_the_job_that_was_named(void **state)
{
	struct scene scene;
	json_t *process = scene_process(0, 300, 1);

	(void)state;
	scene_init(&scene);
	scene.session.choice.wanted_job = xstrdup("29500");
	scene_start(&scene, 1);
	scene_event(&scene, "rankRemoved", exited(0, 100, 1));
	set_job(process, "127.0.0.1:29501", 95);
	scene_event(&scene, "rankAdded", process);
	session_judge(&scene.session);
	assert_int_equal(first_pid(&scene), 100);
	scene_clear(&scene);
}

static void a_rank_that_comes_later_fills_its_place(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_event(&scene, "rankAdded", scene_process(0, 100, 2));
	scene_discovered(&scene);
	session_judge(&scene.session);
	assert_int_equal(session_find_rank(&scene.session, 1)->state, RANK_NOT_FOUND);
	scene_event(&scene, "rankAdded", scene_process(1, 101, 2));
	session_judge(&scene.session);
	assert_int_equal(scene.session.rank_count, 2);
	assert_int_equal(session_find_rank(&scene.session, 1)->state, RANK_UNKNOWN);
	scene_clear(&scene);
}

static json_t *make_child(int pid, int parent)
{
	json_t *child = scene_process(1, pid, 2);

	json_object_set_new(child, "parent_pid", json_integer(parent));
	json_object_set_new(child, "role", json_string("dataloader"));
	return child;
}

static void children_stand_under_their_rank(void **state)
{
	struct scene scene;
	struct seen seen = { .pid = 500, .stack = "f a.py:1" };
	const struct rank *rank;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	scene_event(&scene, "rankAdded", make_child(501, 101));
	scene_event(&scene, "rankAdded", make_child(500, 101));
	scene_see(&scene, &seen);
	rank = session_find_rank(&scene.session, 1);
	assert_int_equal(rank->child_count, 2);
	assert_int_equal(rank->children[0]->process.pid, 500);
	assert_int_equal(rank->children[0]->thread_count, 1);
	scene_event(&scene, "rankRemoved", make_child(500, 101));
	assert_int_equal(rank->child_count, 1);
	assert_null(session_find_pid(&scene.session, 0, 500));
	scene_event(&scene, "rankChanged", scene_process(0, 101, 2));
	assert_null(session_find_pid(&scene.session, 0, 501));
	scene_clear(&scene);
}

static void a_lost_node_makes_ranks_unreadable(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	session_lose_node(&scene.session, 0, "the node ended");
	session_judge(&scene.session);
	assert_int_equal(session_find_rank(&scene.session, 1)->state, RANK_UNREADABLE);
	assert_string_equal(scene.session.verdict.sentence,
			    "None of the 2 ranks can be read: the node ended.");
	scene_clear(&scene);
}

static void the_selection_is_looked_up_anew(void **state)
{
	struct scene scene;
	struct seen seen = WAITS(100, 17);

	(void)state;
	scene_init(&scene);
	assert_null(session_selected(&scene.session));
	assert_null(session_selected_thread(&scene.session));
	assert_int_equal(session_selected_depth(&scene.session), -1);
	scene_start(&scene, 2);
	scene_see(&scene, &seen);
	assert_int_equal(session_selected(&scene.session)->process.rank, 0);
	assert_int_equal(session_selected_depth(&scene.session), 2);
	scene.session.choice.selection.depth = 99;
	assert_int_equal(session_selected_depth(&scene.session), 3);
	scene.session.choice.selection.rank = 1;
	assert_int_equal(session_selected(&scene.session)->process.rank, 1);
	assert_null(session_selected_thread(&scene.session));
	scene_clear(&scene);
}

/* What was chosen stays, though its ranks go and come. */
static void a_chosen_focus_is_kept(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	rankset_add(&scene.session.choice.focus, 1);
	scene.session.choice.is_focus_all = false;
	scene_start(&scene, 4);
	assert_int_equal(rankset_count(&scene.session.choice.focus), 1);
	scene_event(&scene, "rankRemoved", exited(1, 101, 4));
	scene_event(&scene, "rankAdded", scene_process(1, 301, 4));
	assert_true(rankset_contains(&scene.session.choice.focus, 1));
	assert_int_equal(rankset_count(&scene.session.choice.focus), 1);
	scene_clear(&scene);
}

static void the_last_job_that_remains_is_chosen(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	start_two_jobs(&scene);
	for (int rank = 0; rank < 2; rank++)
		scene_text(&scene, "rankRemoved",
			   rank == 0 ? "{'pid':100,'rank':0,'state':'exited'}"
				     : "{'pid':101,'rank':1,'state':'exited'}");
	session_judge(&scene.session);
	assert_int_equal(scene.session.job_count, 1);
	assert_int_equal(scene.session.job, 0);
	assert_int_equal(first_pid(&scene), 200);
	scene_clear(&scene);
}

static void a_named_job_is_chosen_without_the_wanted_rank(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene.session.choice.wanted_job = xstrdup("29501");
	rankset_add(&scene.session.choice.wanted, 77);
	start_two_jobs(&scene);
	assert_int_equal(scene.session.job, 1);
	assert_int_equal(scene.session.rank_count, 1);
	assert_int_equal(scene.session.ranks[0]->state, RANK_NOT_FOUND);
	scene_clear(&scene);
}

static void jobs_are_found_by_what_a_person_says(void **state)
{
	static const struct {
		const char *text;
		int index;
	} rows[] = {
		{ "29500", 0 }, { "91", 1 }, { "127.0.0.1:29501", 1 },
		{ "2950", -1 }, { "", -1 },  { "0", -1 },
	};
	struct scene scene;

	(void)state;
	scene_init(&scene);
	start_two_jobs(&scene);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		assert_int_equal(job_find(&scene.session, rows[i].text), rows[i].index);
	scene_clear(&scene);
}

static void ranks_and_jobs_are_bounded(void **state)
{
	struct scene scene;
	size_t taken = 0;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	for (int i = 1; i <= RANKS_MAXIMUM; i++) {
		json_t *process = scene_process(i, 100 + i, -1);

		set_job(process, "a:1", 1000 + i);
		taken += scene_event(&scene, "rankAdded", process) == 0;
	}
	assert_int_equal(taken, RANKS_MAXIMUM - 1);
	assert_non_null(strstr(scene.error.message, "more than"));
	assert_true(scene.session.job_count <= JOBS_MAXIMUM);
	session_judge(&scene.session);
	assert_true(scene.session.job_count <= JOBS_MAXIMUM);
	scene_clear(&scene);
}

static json_t *make_variables(int pid, int depth, const char *value)
{
	return json_pack("{s:i,s:i,s:i,s:i,s:i,s:s,s:[{s:s,s:s,s:s,s:s}],s:i}", "pid", pid, "tid",
			 pid, "depth", depth, "epoch", 4, "start", 0, "exactness", "exact",
			 "variables", "name", "step", "kind", "local", "type", "int", "value",
			 value, "total", 1);
}

static void the_newest_variables_are_found(void **state)
{
	struct scene scene;
	const struct variables *found;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	scene_response(&scene, "variables", make_variables(100, 0, "3"));
	scene_response(&scene, "variables", make_variables(100, 1, "5"));
	scene_response(&scene, "variables", make_variables(100, 0, "4"));
	assert_int_equal(scene.session.variables_count, 2);
	found = session_find_variables(&scene.session, 0, 100, 100, 0, 0, 0);
	assert_non_null(found);
	assert_string_equal(found->list.items[0].value, "4");
	assert_string_equal(found->exactness, "exact");
	assert_int_equal(found->epoch, 4);
	assert_null(session_find_variables(&scene.session, 0, 100, 100, 2, 0, 0));
	for (int depth = 0; depth < 1000; depth++)
		scene_response(&scene, "variables", make_variables(100, depth, "6"));
	assert_true(scene.session.variables_count >= 1 &&
		    scene.session.variables_count <= 256 + scene.session.rank_count);
	scene_clear(&scene);
}

/* The thread went on: what was asked of f is nothing of g. */
static void variables_are_those_of_their_function(void **state)
{
	struct scene scene;
	struct seen f = { .pid = 100, .stack = "f a.py:3 < main a.py:9" };
	struct seen later = { .pid = 100, .stack = "f a.py:4 < main a.py:9" };
	struct seen g = { .pid = 100, .stack = "g a.py:6 < main a.py:9" };
	struct session *session = &scene.session;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	scene_see(&scene, &f);
	scene_response(&scene, "variables", make_variables(100, 0, "3"));
	scene_see(&scene, &later);
	assert_non_null(session_find_variables(session, 0, 100, 100, 0, 0, 0));
	scene_see(&scene, &g);
	assert_null(session_find_variables(session, 0, 100, 100, 0, 0, 0));
	scene_see(&scene, &f);
	assert_non_null(session_find_variables(session, 0, 100, 100, 0, 0, 0));
	scene_see(&scene, &g);
	scene_text(&scene, "rankRemoved", "{'pid':100,'rank':0,'state':'exited'}");
	assert_null(session_find_variables(session, 0, 100, 100, 0, 0, 0));
	scene_clear(&scene);
}

static void a_recorded_source_serves_its_machine(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	scene_response(
		&scene, "source",
		json_pack("{s:i,s:s,s:s}", "pid", 100, "path", "/job/train.py", "content", "a"));
	assert_null(session_find_source(&scene.session, 0, 101, "/job/train.py"));
	scene.session.is_replay = true;
	assert_non_null(session_find_source(&scene.session, 0, 101, "/job/train.py"));
	scene_clear(&scene);
}

static void a_dead_rank_has_the_source_of_another(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	scene_response(
		&scene, "source",
		json_pack("{s:i,s:s,s:s}", "pid", 100, "path", "/job/train.py", "content", "a"));
	assert_null(session_find_source(&scene.session, 0, 101, "/job/train.py"));
	scene_text(&scene, "rankRemoved", "{'pid':101,'rank':1,'state':'exited','exit_signal':9}");
	assert_int_equal(session_source_pid(&scene.session, 0, 101), 100);
	assert_int_equal(session_source_pid(&scene.session, 0, 100), 100);
	assert_non_null(session_find_source(&scene.session, 0, 101, "/job/train.py"));
	scene_clear(&scene);
}

static void sources_are_kept(void **state)
{
	struct scene scene;
	const struct source *source;

	(void)state;
	scene_init(&scene);
	scene_response(&scene, "source",
		       json_pack("{s:i,s:s,s:s,s:b}", "pid", 100, "path", "/job/train.py",
				 "content", "a\nb\n", "changed", 1));
	source = session_find_source(&scene.session, 0, 100, "/job/train.py");
	assert_non_null(source);
	assert_string_equal(source_line(source, 2), "b");
	assert_true(source->is_changed);
	assert_null(session_find_source(&scene.session, 0, 101, "/job/train.py"));
	scene_response(&scene, "source",
		       json_pack("{s:i,s:s,s:n,s:s}", "pid", 100, "path", "/x.py", "content",
				 "error", "it is gone"));
	source = session_find_source(&scene.session, 0, 100, "/x.py");
	assert_string_equal(source->error, "it is gone");
	scene_clear(&scene);
}

static void the_stacks_of_a_stranger_are_kept(void **state)
{
	struct scene scene;
	struct seen stranger = WAITS(999, 17);
	struct seen seen = WAITS(100, 17);

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	assert_int_equal(scene_see(&scene, &stranger), 0);
	/* The stack does not travel again. */
	assert_int_equal(scene_see(&scene, &seen), 0);
	assert_non_null(rank_main_thread(scene.session.ranks[0])->sample.stack);
	scene_clear(&scene);
}

/* Ids mean something else from then on, and nothing that is shown changes. */
static void dropped_stacks_change_nothing(void **state)
{
	struct scene scene;
	struct seen before = { .pid = 100, .stack = LOADS };
	struct seen other = WAITS(101, 17);
	struct seen again = WAITS(100, 17);
	const struct session *session = &scene.session;
	const struct thread *thread;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	scene_see(&scene, &before);
	scene_see(&scene, &other);
	scene_wait(&scene, 1);
	scene_see(&scene, &again);
	scene_response(&scene, "variables", make_variables(100, 0, "3"));
	for (int i = 0; i < 3; i++) {
		scene_drop_stacks(&scene);
		assert_int_equal(session->verdict.classes[0].stack->frames[0].lineno, 3252);
		scene_wait(&scene, 1);
		scene_see(&scene, &again);
		scene_see(&scene, &other);
		thread = rank_main_thread(session->ranks[0]);
		assert_false(thread->has_changed);
		assert_true(thread->since == 1);
		assert_int_equal(session->ranks[0]->history_count, 2);
		assert_string_equal(rank_stack_at(session->ranks[0], 0)->frames[0].code->func,
				    "load_batch");
		assert_non_null(session_find_variables(session, 0, 100, 100, 0, 0, 0));
	}
	scene_wait(&scene, 1);
	scene_see(&scene, &before);
	assert_true(rank_main_thread(session->ranks[0])->has_changed);
	assert_null(session_find_variables(session, 0, 100, 100, 0, 0, 0));
	scene_clear(&scene);
}

static void dropped_ids_are_unknown(void **state)
{
	struct scene scene;
	struct seen seen = WAITS(100, 17);

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	scene_see(&scene, &seen);
	assert_int_equal(scene_event(&scene, "stacksDropped", NULL), 0);
	assert_int_equal(scene_see(&scene, &seen), -1);
	assert_non_null(rank_main_thread(scene.session.ranks[0])->sample.stack);
	scene_clear(&scene);
}

/* What starts the ranks had a number itself, until they were there. */
static void what_turned_out_to_be_no_rank_is_gone(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 1);
	scene_event(&scene, "rankRemoved", scene_process(0, 100, 1));
	assert_null(session_find_pid(&scene.session, 0, 100));
	scene_event(&scene, "rankAdded", scene_process(0, 200, 1));
	session_judge(&scene.session);
	assert_int_equal(scene.session.rank_count, 1);
	assert_int_equal(first_pid(&scene), 200);
	scene_clear(&scene);
}

static void hostile_messages_change_nothing(void **state)
{
	static const struct {
		const char *event;
		const char *body;
	} rows[] = {
		{ "rankAdded", "{}" },
		{ "rankAdded", "{'pid':-5,'rank':0}" },
		{ "rankAdded", "{'pid':5}" },
		{ "rankAdded", "{'pid':5,'rank':-1}" },
		{ "rankAdded", "{'pid':5,'rank':99999999999}" },
		{ "rankAdded", "{'pid':'5','rank':0}" },
		{ "rankAdded", "{'pid':5,'rank':0,'job':[]}" },
		{ "rankAdded", "{'pid':5,'rank':0,'parent_pid':4}" },
		{ "rankAdded", "{'pid':5,'rank':0,'parent_pid':5}" },
		{ "rankAdded", "{'pid':100,'rank':0,'parent_pid':100}" },
		{ "rankChanged", "{'pid':100,'rank':-1,'state':'dead'}" },
		{ "rankRemoved", "{'pid':100,'exit_code':'x'}" },
		{ "sampled", "{}" },
		{ "sampled", "{'pid':100,'threads':7}" },
		{ "sampled", "{'pid':100,'threads':[7]}" },
		{ "sampled", "{'pid':100,'threads':[{'tid':100,'stack':77}]}" },
		{ "sampled",
		  "{'pid':100,'stacks':[{'id':1,'codes':[],'frames':[[1,1]]}],'threads':[]}" },
		{ "sampled", "{'pid':100,'epoch':-1,'threads':[]}" },
		{ "nonsense", "{}" },
		{ "discover", "{}" },
	};
	struct scene scene;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, 2);
	session_judge(&scene.session);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		uint64_t revision = scene.session.revision;

		if (scene_text(&scene, rows[i].event, rows[i].body) == 0)
			fail_msg("taken: %s %s", rows[i].event, rows[i].body);
		assert_int_equal(scene.session.revision, revision);
		assert_int_equal(scene.session.rank_count, 2);
		assert_int_equal(scene.session.other_count, 0);
		assert_int_equal(scene.session.ranks[0]->state, RANK_UNKNOWN);
	}
	session_judge(&scene.session);
	assert_string_equal(scene.session.verdict.sentence, "2 ranks found, none yet read.");
	scene_clear(&scene);
}

static void hostile_answers_change_nothing(void **state)
{
	static const char *const names[] = { "initialize", "discover", "variables", "source",
					     "strange" };
	struct scene scene;

	(void)state;
	scene_init(&scene);
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		assert_int_equal(scene_response(&scene, names[i], NULL), -1);
	assert_int_equal(
		scene_response(&scene, "source",
			       json_pack("{s:I,s:s}", "pid", (json_int_t)1 << 40, "path", "/x")),
		-1);
	assert_int_equal(scene_response(&scene, "variables",
					json_pack("{s:i,s:i}", "pid", 5, "variables", 6)),
			 -1);
	assert_int_equal(scene.session.revision, 0);
	assert_int_equal(scene.session.variables_count, 0);
	assert_false(scene.session.is_discovered);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_job_is_chosen),
		cmocka_unit_test(of_two_jobs_none_is_chosen),
		cmocka_unit_test(a_wanted_job_is_chosen),
		cmocka_unit_test(wanted_ranks_make_it_clear),
		cmocka_unit_test(processes_named_by_pid_are_one_job),
		cmocka_unit_test(missing_ranks_are_those_that_must_be_here),
		cmocka_unit_test(a_huge_world_makes_few_entries),
		cmocka_unit_test(wanted_ranks_that_are_not_there),
		cmocka_unit_test(a_restart_replaces_the_rank),
		cmocka_unit_test(what_is_told_again_keeps_the_rank),
		cmocka_unit_test(orphans_become_jobs),
		cmocka_unit_test(a_restart_with_a_new_port_is_the_same_job),
		cmocka_unit_test(a_new_run_of_the_same_script_is_followed),
		cmocka_unit_test(another_run_is_not_the_job_that_was_named),
		cmocka_unit_test(a_rank_that_comes_later_fills_its_place),
		cmocka_unit_test(children_stand_under_their_rank),
		cmocka_unit_test(a_lost_node_makes_ranks_unreadable),
		cmocka_unit_test(the_selection_is_looked_up_anew),
		cmocka_unit_test(the_newest_variables_are_found),
		cmocka_unit_test(a_chosen_focus_is_kept),
		cmocka_unit_test(the_last_job_that_remains_is_chosen),
		cmocka_unit_test(a_named_job_is_chosen_without_the_wanted_rank),
		cmocka_unit_test(jobs_are_found_by_what_a_person_says),
		cmocka_unit_test(ranks_and_jobs_are_bounded),
		cmocka_unit_test(variables_are_those_of_their_function),
		cmocka_unit_test(a_recorded_source_serves_its_machine),
		cmocka_unit_test(sources_are_kept),
		cmocka_unit_test(a_dead_rank_has_the_source_of_another),
		cmocka_unit_test(the_stacks_of_a_stranger_are_kept),
		cmocka_unit_test(dropped_stacks_change_nothing),
		cmocka_unit_test(dropped_ids_are_unknown),
		cmocka_unit_test(what_turned_out_to_be_no_rank_is_gone),
		cmocka_unit_test(hostile_messages_change_nothing),
		cmocka_unit_test(hostile_answers_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
