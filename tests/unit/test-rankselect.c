/* rankselect: the grammar in which ranks are named, and which ranks it means.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/hostmatch.h"
#include "model/rank-filter.h"
#include "model/rankselect.h"
#include "scene.h"

/* Ranks 0 to 15 on node01 to node04; 3 loads, 15 is gone, the others wait. */
static void show_nodes(struct scene *scene)
{
	scene_init(scene);
	for (int rank = 0; rank < 16; rank++) {
		json_t *process = scene_process(rank, 100 + rank, 16);
		char host[32];

		snprintf(host, sizeof(host), "node%02d.cluster", 1 + rank / 4);
		json_object_set_new(process, "host", json_string(host));
		scene_event(scene, "rankAdded", process);
	}
	scene_discovered(scene);
	for (int rank = 0; rank < 16; rank++) {
		struct seen waits = WAITS(100 + rank, 17);
		struct seen loads = { .pid = 103, .stack = LOADS };

		scene_see(scene, rank == 3 ? &loads : &waits);
	}
	scene_judge(scene);
}

static void assert_meant(const struct session *session, const char *text, const char *folded)
{
	struct rankselect select = RANKSELECT_INIT;
	struct rankset set = RANKSET_INIT;
	struct buffer out = BUFFER_INIT;
	struct error error = ERROR_INIT;

	if (rankselect_parse(&select, text, &error) < 0 ||
	    rankselect_resolve(&select, session, &set, &error) < 0)
		fail_msg("%s: %s", text, error.message);
	rankset_append(&out, &set);
	if (strcmp(out.data, folded) != 0)
		fail_msg("%s means %s, not %s", text, out.data, folded);
	buffer_clear(&out);
	rankset_clear(&set);
	rankselect_clear(&select);
}

static void a_text_means_ranks(void **state)
{
	static const char *const rows[][2] = {
		{ "3", "3" },
		{ "0-7,14", "0-7,14" },
		{ "0-63/8", "0,8" },
		{ "0-1048575", "0-15" },
		{ "!3", "0-2,4-15" },
		{ "!3,!5-6", "0-2,4,7-15" },
		{ "!3,3", "0-15" },
		{ "!!3", "3" },
		{ "0-7,!0-7/2", "1,3,5,7" },
		{ " 0-7 , ! 3 ", "0-2,4-7" },
		{ "0-3,!0-3", "" },
		{ "0-3,!0-3,2", "2" },
		{ "77", "" },
		{ "all", "0-15" },
		{ "!all", "" },
		{ "focus", "1-2" },
		{ "!focus", "0,3-15" },
		{ "outlier", "3" },
		{ "!outlier", "0-2,4-15" },
		{ "majority", "0-2,4-15" },
		{ "majority,!0-7", "8-15" },
		{ "state=waiting&!0-11", "12-15" },
		{ "state=not-found", "" },
		{ "state=not found", "" },
		{ "class=0", "0-2,4-15" },
		{ "class=1", "3" },
		{ "class=\u25cf&0-3", "0-2" },
		{ "class=\u25c6", "3" },
		{ "class=o&0-3", "0-2" },
		{ "class=*", "3" },
		{ "class=a", "" },
		{ "host=node01", "0-3" },
		{ "host=node[01,03-04]", "0-3,8-15" },
		{ "host=node[01,03-04],5", "0-3,5,8-15" },
		{ "host=*2.cluster", "4-7" },
		{ "host=node0?&0-15/4", "0,4,8,12" },
		{ "host=node0[1-2]&!outlier", "0-2,4-7" },
		{ "host=gpu*", "" },
		{ "@evens", "0,2,4" },
		{ "@evens,@evens", "0,2,4" },
		{ "0-4,!@evens", "1,3" },
		{ "0-7&4-9&!5", "4,6-7" },
		{ "0-7,8-9&9,!1&!2", "0,3-7,9" },
	};
	struct rankset evens = RANKSET_INIT;
	struct scene scene;

	(void)state;
	show_nodes(&scene);
	rankset_parse(&evens, "0-4/2", NULL);
	assert_int_equal(rankname_set(&scene.session, "evens", &evens, NULL), 0);
	rankset_clear(&scene.session.choice.focus);
	rankset_add_range(&scene.session.choice.focus, 1, 2);
	scene.session.choice.is_focus_all = false;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		assert_meant(&scene.session, rows[i][0], rows[i][1]);
	rankset_clear(&evens);
	scene_clear(&scene);
}

static void the_wrong_part_is_named_with_its_column(void **state)
{
	static const char *const rows[][2] = {
		{ "", "column 1: expected a set of ranks" },
		{ ",", "column 1: expected a set of ranks" },
		{ "3,", "column 3: expected a set of ranks" },
		{ "!", "column 2: expected a set of ranks" },
		{ "3&", "column 3: expected a set of ranks" },
		{ "0-7,foo", "column 5: 'foo' is not a set of ranks" },
		{ "outliers", "column 1: 'outliers' is not a set of ranks" },
		{ "-1", "column 1: '-1' is not a set of ranks" },
		{ "3-", "column 3: expected a rank number" },
		{ "4,7-3", "column 3: 7-3 is reversed: write 3-7" },
		{ "0-7/", "column 5: expected a rank number" },
		{ "0-7/0", "the step must be at least 1" },
		{ "3/2", "column 2: unexpected '/2'" },
		{ "3 4", "column 3: unexpected '4'" },
		{ "0x3", "column 2: unexpected 'x3'" },
		{ "1048576", "column 1: 1048576 is too large: rank numbers go up to 1048575" },
		{ "0-4294967295", "column 3: 4294967295 is too large" },
		{ "5,18446744073709551616", "column 3: 18446744073709551616" },
		{ "99999999999999999999999999",
		  "column 1: 99999999999999999999\u2026 is too large" },
		{ "0-1048575/2", "column 1: 0-1048575/2 has more than" },
		{ "state=late", "column 7: unknown state 'late'" },
		{ "state=", "column 7: unknown state ''" },
		{ "class=", "column 7: unknown class ''" },
		{ "class=99999999", "column 7: unknown class '99999999'" },
		{ "@", "column 2: '@' is not a set name" },
		{ "@a b", "column 2: '@a b' is not a set name" },
		{ "\u25cf,@\u25cf", "column 1: '\u25cf' is not a set of ranks" },
		{ "3,\u25cf", "column 3: '\u25cf' is not a set of ranks" },
		{ "host=", "column 6: missing host name" },
		{ "3,host=node[01-04", "column 12: missing closing bracket" },
		{ "host=a]", "column 7: missing opening bracket" },
		{ "host=n[4-1]", "column 8: '4-1' is neither a word nor" },
		{ "host=n[1,]", "column 10: '' is neither a word nor" },
		{ "host=n[99999999999]", "column 8: '99999999999' is neither" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct rankselect select = RANKSELECT_INIT;
		struct error error = ERROR_INIT;

		assert_int_equal(rankselect_parse(&select, rows[i][0], &error), -1);
		if (!strstr(error.message, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], error.message);
		assert_int_equal(select.count, 0);
	}
}

static void what_is_not_there_is_said(void **state)
{
	static const char *const rows[][2] = {
		{ "0,@slow", "column 3: unknown set 'slow'" },
		{ "class=2", "column 1: class 2 does not exist: the last class is 1" },
		{ "77", "rank 77 does not exist" },
	};
	struct scene scene;

	(void)state;
	show_nodes(&scene);
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct rankset set = RANKSET_INIT;
		struct error error = ERROR_INIT;

		assert_int_equal(rankselect_find(rows[i][0], &scene.session, &set, &error), -1);
		if (!strstr(error.message, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], error.message);
		rankset_clear(&set);
	}
	scene_clear(&scene);
}

static char *repeat(const char *part, size_t count)
{
	struct buffer text = BUFFER_INIT;

	for (size_t i = 0; i < count; i++)
		buffer_printf(&text, "%s%s", i > 0 ? "," : "", part);
	return buffer_take(&text);
}

/* Ten thousand parts of numbers are one thing; of others a refusal. */
static void long_texts_are_bounded(void **state)
{
	static const struct {
		const char *part;
		size_t count;
		const char *refusal; /* NULL: it is a set */
	} rows[] = {
		{ "7", 10000, NULL },
		{ "!7", 10000, NULL },
		{ "0-65535/2", 8, NULL },
		{ "0-65535/2", 5000, "ranges of ranks" },
		{ "!outlier", 5000, "more than 1024 parts" },
		{ "1,!1", 5000, "more than 1024 parts" },
		{ "7", 40000, "longer than" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct rankselect select = RANKSELECT_INIT;
		struct error error = ERROR_INIT;
		char *text = repeat(rows[i].part, rows[i].count);
		int result = rankselect_parse(&select, text, &error);

		assert_int_equal(result, rows[i].refusal ? -1 : 0);
		if (rows[i].refusal && !strstr(error.message, rows[i].refusal))
			fail_msg("%s: %s", rows[i].part, error.message);
		rankselect_clear(&select);
		free(text);
	}
}

/* Cut anywhere, a text is a set or an error, and leaks nothing. */
static void any_beginning_is_read(void **state)
{
	static const char whole[] =
		"0-7/2,!@a-b&host=n[01-04,x]*,state=not-found,class=\u25c6&!!outlier";

	(void)state;
	for (size_t i = 0; i <= strlen(whole); i++) {
		char *text = strndup(whole, i);
		struct rankselect select = RANKSELECT_INIT;
		struct error error = ERROR_INIT;
		int result = rankselect_parse(&select, text, &error);

		assert_true(result == 0 || error_is_set(&error));
		rankselect_clear(&select);
		free(text);
	}
}

static void machines_fit_patterns(void **state)
{
	static const struct {
		const char *pattern;
		const char *host;
		bool fits;
	} rows[] = {
		{ "gpu01", "gpu01", true },
		{ "gpu01", "gpu011", false },
		{ "gpu01", "gpu01.cluster.local", true },
		{ "gpu01.other", "gpu01.cluster", false },
		{ "*", "anything", true },
		{ "*", "", false },
		{ "g*1", "gpu-a1", true },
		{ "g*1", "gpu-a12", false },
		{ "?pu", "gpu", true },
		{ "node[01-04]", "node01", true },
		{ "node[01-04]", "node1", false },
		{ "node[01-04]", "node001", false },
		{ "node[1-4]", "node01", false },
		{ "node[8-12]", "node10", true },
		{ "node[01-120]", "node120", true },
		{ "node[01-120]", "node121", false },
		{ "node[0-3]", "node0", true },
		{ "r[1-2]n[01-16]", "r2n16", true },
		{ "r[1-2]n[01-16]", "r3n16", false },
		{ "[a,b]-[x,1-3]", "b-2", true },
		{ "[a,b]-[x,1-3]", "b-x", true },
		{ "[a,b]-[x,1-3]", "c-x", false },
		{ "n[1-4]*", "n12", true },
		{ "[1-9][1-9][1-9][1-9]*x", "11111111111111111111", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		if (hostmatch(rows[i].pattern, rows[i].host) != rows[i].fits)
			fail_msg("%s and %s", rows[i].pattern, rows[i].host);
	}
	assert_false(hostmatch("*", NULL));
	assert_false(hostmatch("[", "["));
}

static bool has_come(const struct scene *scene, const char *text)
{
	struct rankselect select = RANKSELECT_INIT;
	bool result;

	assert_int_equal(rankselect_parse(&select, text, NULL), 0);
	result = rankselect_has_come(&select, &scene->session);
	rankselect_clear(&select);
	return result;
}

/* The address says that ranks may be elsewhere: none is missing here. */
static void ranks_that_are_named_have_all_to_come(void **state)
{
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_false(has_come(&scene, "0"));
	assert_false(has_come(&scene, "all"));
	for (int rank = 0; rank < 2; rank++) {
		json_t *process = scene_process(rank, 100 + rank, 2);

		json_object_set_new(process, "job", json_string("gpu01:29500"));
		scene_event(&scene, "rankAdded", process);
		scene_discovered(&scene);
		assert_true(has_come(&scene, "0"));
		assert_true(has_come(&scene, "all"));
		assert_int_equal(has_come(&scene, "0-1"), rank == 1);
		assert_int_equal(has_come(&scene, "1"), rank == 1);
		assert_int_equal(has_come(&scene, "0-7,!1"), true);
		assert_int_equal(has_come(&scene, "0-7"), rank == 1);
	}
	/* There is no such rank, however long it is waited for. */
	assert_false(has_come(&scene, "7"));
	scene_clear(&scene);
}

static void a_name_stands_for_its_ranks(void **state)
{
	struct rankset set = RANKSET_INIT;
	struct error error = ERROR_INIT;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	rankset_add_range(&set, 0, 3);
	assert_int_equal(rankname_set(&scene.session, "a", &set, &error), 0);
	rankset_add(&set, 9);
	assert_int_equal(rankname_set(&scene.session, "a", &set, &error), 0);
	assert_int_equal(scene.session.choice.name_count, 1);
	assert_true(rankset_contains(rankname_find(&scene.session, "a"), 9));
	assert_null(rankname_find(&scene.session, "b"));
	assert_int_equal(rankname_set(&scene.session, "a b", &set, &error), -1);
	assert_int_equal(rankname_set(&scene.session, "", &set, &error), -1);
	for (int i = 0; i < 300; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		rankname_set(&scene.session, name, &set, NULL);
	}
	assert_int_equal(scene.session.choice.name_count, RANKNAMES_MAXIMUM);
	rankset_clear(&set);
	scene_clear(&scene);
}

static void add_ranks(struct scene *scene)
{
	for (int rank = 0; rank < 16; rank++) {
		json_t *process = scene_process(rank, 100 + rank, 16);

		json_object_set_new(process, "host", json_string(rank < 8 ? "a" : "b"));
		scene_event(scene, "rankAdded", process);
	}
	scene_discovered(scene);
	scene_judge(scene);
}

/* Numbers and machines leave ranks out; nobody misses these. */
static void what_is_wanted_narrows_the_job(void **state)
{
	static const char *const rows[][2] = {
		{ "0-3,16", "0-3,16" }, /* 16 is not there, and shown so */
		{ "!3", "0-2,4-15" },
		{ "host=b", "8-15" },
		{ "host=b,0&!8", "0,8-15" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct rankset seen = RANKSET_INIT;
		struct buffer out = BUFFER_INIT;
		struct scene scene;

		scene_init(&scene);
		assert_int_equal(rank_filter_set(&scene.session, rows[i][0], NULL), 0);
		add_ranks(&scene);
		session_add_ranks(&scene.session, &seen);
		rankset_append(&out, &seen);
		assert_string_equal(out.data, rows[i][1]);
		buffer_clear(&out);
		rankset_clear(&seen);
		scene_clear(&scene);
	}
}

/* What ranks do leaves none out: it is where commands act. */
static void what_is_wanted_becomes_the_focus(void **state)
{
	struct scene scene;
	struct error error = ERROR_INIT;

	(void)state;
	scene_init(&scene);
	assert_int_equal(rank_filter_set(&scene.session, "outlier", NULL), 0);
	scene_start(&scene, 4);
	scene_judge(&scene);
	assert_int_equal(rank_filter_focus(&scene.session, &error), 0);
	assert_true(scene.session.choice.is_focus_all);
	for (int rank = 0; rank < 4; rank++) {
		struct seen waits = WAITS(100 + rank, 17);
		struct seen loads = { .pid = 102, .stack = LOADS };

		scene_see(&scene, rank == 2 ? &loads : &waits);
	}
	scene_judge(&scene);
	assert_int_equal(rank_filter_focus(&scene.session, &error), 0);
	assert_int_equal(scene.session.rank_count, 4);
	assert_int_equal(rankset_count(&scene.session.choice.focus), 1);
	assert_true(rankset_contains(&scene.session.choice.focus, 2));
	assert_false(scene.session.choice.is_focus_all);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_means_ranks),
		cmocka_unit_test(the_wrong_part_is_named_with_its_column),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(long_texts_are_bounded),
		cmocka_unit_test(any_beginning_is_read),
		cmocka_unit_test(machines_fit_patterns),
		cmocka_unit_test(ranks_that_are_named_have_all_to_come),
		cmocka_unit_test(a_name_stands_for_its_ranks),
		cmocka_unit_test(what_is_wanted_narrows_the_job),
		cmocka_unit_test(what_is_wanted_becomes_the_focus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
