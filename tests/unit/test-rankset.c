/* rankset: folding, set operations, the grammar. */
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
#include "protocol/rankset.h"

static void assert_set(const struct rankset *set, const char *folded)
{
	struct buffer out = BUFFER_INIT;

	rankset_append(&out, set);
	assert_string_equal(out.data, folded);
	buffer_clear(&out);
}

static void neighbours_fold(void **state)
{
	static const int ranks[] = { 5, 1, 0, 7, 2, 6, 4, 9, 5 };
	struct rankset set = RANKSET_INIT;

	(void)state;
	assert_set(&set, "");
	for (size_t i = 0; i < ARRAY_LENGTH(ranks); i++)
		rankset_add(&set, ranks[i]);
	assert_set(&set, "0-2,4-7,9");
	assert_int_equal(rankset_count(&set), 8);
	rankset_add(&set, 3);
	assert_set(&set, "0-7,9");
	rankset_add_range(&set, 8, 20);
	assert_set(&set, "0-20");
	rankset_clear(&set);
	assert_set(&set, "");
}

static void a_range_swallows_ranges(void **state)
{
	struct rankset set = RANKSET_INIT;

	(void)state;
	for (int rank = 0; rank < 100; rank += 10)
		rankset_add(&set, rank);
	rankset_add_range(&set, 15, 64);
	assert_set(&set, "0,10,15-64,70,80,90");
	rankset_add_range(&set, 11, 14);
	assert_set(&set, "0,10-64,70,80,90");
	rankset_add_range(&set, 2, 1);
	rankset_add_range(&set, -5, -1);
	assert_set(&set, "0,10-64,70,80,90");
	rankset_add_range(&set, -5, RANKSET_MAXIMUM + 5);
	assert_set(&set, "0-1048575");
	rankset_clear(&set);
}

static void removal_splits(void **state)
{
	struct rankset set = RANKSET_INIT;

	(void)state;
	rankset_add_range(&set, 0, 7);
	rankset_remove(&set, 3);
	assert_set(&set, "0-2,4-7");
	rankset_remove(&set, 3);
	rankset_remove(&set, 99);
	rankset_remove(&set, 0);
	rankset_remove(&set, 7);
	rankset_remove(&set, 5);
	assert_set(&set, "1-2,4,6");
	rankset_remove(&set, 4);
	assert_set(&set, "1-2,6");
	rankset_clear(&set);
}

static void members_are_walked(void **state)
{
	struct rankset set = RANKSET_INIT;
	int seen[8];
	size_t count = 0;

	(void)state;
	assert_int_equal(rankset_first(&set), -1);
	assert_int_equal(rankset_next(&set, -1), -1);
	rankset_add_range(&set, 0, 1);
	rankset_add(&set, 4);
	rankset_add(&set, RANKSET_MAXIMUM);
	for (int rank = rankset_next(&set, -1); rank >= 0; rank = rankset_next(&set, rank))
		seen[count++] = rank;
	assert_int_equal(count, 4);
	assert_int_equal(seen[0], 0);
	assert_int_equal(seen[1], 1);
	assert_int_equal(seen[2], 4);
	assert_int_equal(seen[3], RANKSET_MAXIMUM);
	assert_int_equal(rankset_first(&set), 0);
	assert_true(rankset_contains(&set, 4));
	assert_false(rankset_contains(&set, 3));
	assert_false(rankset_contains(&set, -1));
	rankset_clear(&set);
}

static void a_copy_is_equal_and_apart(void **state)
{
	struct rankset a = RANKSET_INIT;
	struct rankset b = RANKSET_INIT;

	(void)state;
	assert_true(rankset_is_equal(&a, &b));
	rankset_add_range(&a, 3, 5);
	rankset_add(&b, 77);
	assert_false(rankset_is_equal(&a, &b));
	rankset_copy(&b, &a);
	rankset_copy(&b, &b);
	assert_true(rankset_is_equal(&a, &b));
	rankset_add(&b, 9);
	assert_false(rankset_is_equal(&a, &b));
	assert_set(&a, "3-5");
	rankset_clear(&a);
	rankset_copy(&b, &a);
	assert_set(&b, "");
	rankset_clear(&b);
}

static void numbers_are_read(void **state)
{
	static const char *const rows[][2] = {
		{ "3", "3" },
		{ "0-7,16", "0-7,16" },
		{ "0-63/8", "0,8,16,24,32,40,48,56" },
		{ "0-7/1", "0-7" },
		{ "7,0-3,2", "0-3,7" },
		{ "5-5/3", "5" },
		{ "0-1048575", "0-1048575" },
		{ "0-3/1048575", "0" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct rankset set = RANKSET_INIT;
		struct error error = ERROR_INIT;

		if (rankset_parse(&set, rows[i][0], &error) < 0)
			fail_msg("%s", error.message);
		assert_set(&set, rows[i][1]);
		rankset_clear(&set);
	}
}

static void what_is_wrong_changes_nothing(void **state)
{
	static const char *const bad[] = {
		"",
		",",
		"3,",
		"a",
		"3-",
		"7-3",
		"-1",
		"0-7/",
		"0-7/0",
		"3/2",
		"3 4",
		"!3",
		"1048576",
		"0x3",
		"0-4294967295",
		"99999999999999999999",
		"0-1048575/2",
	};
	struct rankset set = RANKSET_INIT;

	(void)state;
	rankset_add(&set, 2);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct error error = ERROR_INIT;

		assert_int_equal(rankset_parse(&set, bad[i], &error), -1);
		assert_true(error_is_set(&error));
		assert_set(&set, "2");
	}
	assert_int_equal(rankset_parse(&set, "4", NULL), 0);
	assert_set(&set, "2,4");
	rankset_clear(&set);
}

static void a_count_follows(void **state)
{
	struct rankset set = RANKSET_INIT;
	struct buffer out = BUFFER_INIT;

	(void)state;
	rankset_parse(&set, "0-1023,2000", NULL);
	rankset_append_counted(&out, &set);
	assert_string_equal(out.data, "0-1023,2000 (1,025)");
	buffer_clear(&out);
	rankset_clear(&set);
}

static void what_two_sets_share(void **state)
{
	static const char *const rows[][3] = {
		{ "0-7", "2-3", "2-3" }, { "0-3,6", "3-6", "3,6" }, { "1", "2", "" },
		{ "", "0-9", "" },	 { "0-9", "0-9", "0-9" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rankset set = RANKSET_INIT;
		struct rankset other = RANKSET_INIT;
		struct buffer text = BUFFER_INIT;

		if (rows[i][0][0])
			rankset_parse(&set, rows[i][0], NULL);
		rankset_parse(&other, rows[i][1], NULL);
		rankset_intersect(&set, &other);
		rankset_append(&text, &set);
		assert_string_equal(text.data, rows[i][2]);
		buffer_clear(&text);
		rankset_clear(&other);
		rankset_clear(&set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_two_sets_share),
		cmocka_unit_test(neighbours_fold),
		cmocka_unit_test(a_range_swallows_ranges),
		cmocka_unit_test(removal_splits),
		cmocka_unit_test(members_are_walked),
		cmocka_unit_test(a_copy_is_equal_and_apart),
		cmocka_unit_test(numbers_are_read),
		cmocka_unit_test(what_is_wrong_changes_nothing),
		cmocka_unit_test(a_count_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
