/* joblist: what is said of jobs, chosen or not. */
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
#include "base/buffer.h"
#include "model/joblist.h"
#include "scene.h"

#define JOBS 3
#define RANKS 4

/* The first has an outlier, of the second rank 3 is missing, all of the third
 * wait. */
static void show_jobs(struct scene *scene)
{
	scene_init(scene);
	for (int i = 0; i < JOBS * RANKS; i++) {
		int job = i / RANKS;
		char name[32];
		json_t *process = scene_process(i % RANKS, 100 + i, RANKS);

		if (job == 1 && i % RANKS == 3) {
			json_decref(process);
			continue;
		}
		snprintf(name, sizeof(name), "127.0.0.1:%d", 29500 + job);
		json_object_set_new(process, "job", json_string(name));
		json_object_set_new(process, "launcher_pid", json_integer(90 + job));
		json_object_set_new(process, "age", json_real(10 + i));
		scene_event(scene, "rankAdded", process);
	}
	scene_discovered(scene);
	for (int time = 0; time < 3; time++) {
		for (int i = 0; i < JOBS * RANKS; i++) {
			struct seen waits = WAITS(100 + i, 17);
			struct seen loads = { .pid = 102, .stack = LOADS };

			scene_see(scene, i == 2 ? &loads : &waits);
		}
		scene_wait(scene, 10);
	}
	scene_judge(scene);
}

/* The same verdict as when it is chosen, to the letter. */
static void a_job_is_judged_as_if_it_were_chosen(void **state)
{
	struct scene scene;
	char *said[JOBS];
	enum verdict_state states[JOBS];

	(void)state;
	show_jobs(&scene);
	assert_int_equal(scene.session.job, -1);
	joblist_judge(&scene.session);
	for (int i = 0; i < JOBS; i++) {
		said[i] = xstrdup(scene.session.jobs[i].finding.sentence);
		states[i] = scene.session.jobs[i].finding.state;
	}
	assert_int_equal(states[1], VERDICT_CRASHED);
	assert_true(scene.session.jobs[0].finding.has_outliers);
	assert_false(scene.session.jobs[2].finding.has_outliers);
	for (int i = 0; i < JOBS; i++) {
		session_choose_job(&scene.session, (size_t)i);
		scene_judge(&scene);
		assert_string_equal(scene.session.verdict.sentence, said[i]);
		assert_int_equal(scene.session.verdict.state, states[i]);
		/* The others, seen from this one. */
		joblist_judge(&scene.session);
		for (int j = 0; j < JOBS; j++)
			assert_string_equal(scene.session.jobs[j].finding.sentence, said[j]);
	}
	for (int i = 0; i < JOBS; i++)
		free(said[i]);
	scene_clear(&scene);
}

static void judging_the_others_changes_nothing(void **state)
{
	struct scene scene;
	size_t others;

	(void)state;
	show_jobs(&scene);
	session_choose_job(&scene.session, 0);
	scene_judge(&scene);
	others = scene.session.other_count;
	joblist_judge(&scene.session);
	assert_int_equal(scene.session.rank_count, RANKS);
	assert_int_equal(scene.session.other_count, others);
	for (size_t i = 0; i < others; i++) {
		assert_int_equal(scene.session.others[i]->class_index, -1);
		assert_false(scene.session.others[i]->is_outlier);
	}
	assert_true(scene.session.ranks[2]->is_outlier);
	assert_int_equal(rankset_count(&scene.session.choice.focus), RANKS);
	scene_clear(&scene);
}

static void a_summary_has_the_ranks_that_live(void **state)
{
	struct scene scene;

	(void)state;
	show_jobs(&scene);
	for (int chosen = -1; chosen < JOBS; chosen++) {
		struct job_summary summary;
		struct buffer text = BUFFER_INIT;

		if (chosen >= 0)
			session_choose_job(&scene.session, (size_t)chosen);
		scene_judge(&scene);
		job_summary_make(&summary, &scene.session, 1);
		rankset_append_counted(&text, &summary.ranks);
		assert_string_equal(text.data, "0-2 (3)");
		assert_int_equal(summary.world_size, RANKS);
		/* Rank 2 was 16 s old when it was told, 20 s before the
		 * last sample. */
		if (!(summary.age > 35.9 && summary.age < 36.1))
			fail_msg("%g s", summary.age);
		buffer_clear(&text);
		job_summary_clear(&summary);
	}
	scene_clear(&scene);
}

/* Its agents are heard by us, too. */
static void stops_of_another_job_are_not_told(void **state)
{
	struct scene scene;

	(void)state;
	show_jobs(&scene);
	session_choose_job(&scene.session, 0);
	for (int pid = 100; pid <= 104; pid += 4) {
		char *text =
			xasprintf("{'pid':%d,'state':'stopped','backend':'http','target':'agent:%d'"
				  ",'stops':1,'tid':%d,'held':1.0,'reason':'step','at':'line'}",
				  pid, pid, pid);

		assert_int_equal(scene_text(&scene, "stopped", text), 0);
		free(text);
	}
	assert_int_equal(scene.session.stops.count, 1);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_judged_as_if_it_were_chosen),
		cmocka_unit_test(judging_the_others_changes_nothing),
		cmocka_unit_test(a_summary_has_the_ranks_that_live),
		cmocka_unit_test(stops_of_another_job_are_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
