/* error and log: sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "banned.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

static void a_sentence_is_kept(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	assert_false(error_is_set(&error));
	assert_int_equal(error_set(&error, "rank %d: gone", 3), -1);
	assert_true(error_is_set(&error));
	assert_string_equal(error.message, "rank 3: gone");
	error_prefix(&error, "node %s", "a");
	assert_string_equal(error.message, "node a: rank 3: gone");
	error_set(&error, "again: %s", error.message);
	assert_string_equal(error.message, "again: node a: rank 3: gone");
}

static void an_errno_has_its_words(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	error_set_errno(&error, ENOENT, "cannot open %s", "x");
	assert_string_equal(error.message, "cannot open x: No such file or directory");
}

static void nobody_may_ask(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, "x"), -1);
	assert_int_equal(error_set_errno(NULL, ENOENT, "x"), -1);
	assert_int_equal(error_prefix(NULL, "x"), -1);
	assert_false(error_is_set(NULL));
}

static void a_long_sentence_is_cut_between_characters(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	for (int pad = 507; pad <= 512; pad++) {
		error_set(&error, "%*s%s", pad, "", "\xf0\x9f\x90\x8d\xf0\x9f\x90\x8d");
		assert_true(strlen(error.message) < sizeof(error.message));
		assert_true(text_is_utf8(error.message, strlen(error.message)));
	}
	error_prefix(&error, "%600s", "");
	error_set_errno(&error, ENOENT, "%600s", "");
	assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
}

static void the_log_keeps_the_last_lines(void **state)
{
	(void)state;
	log_set_quiet(1);
	log_set_name("test");
	assert_null(log_line(0));
	log_write(LOG_INFO, "below the level");
	assert_null(log_line(0));
	log_write(LOG_WARNING, "said \"%s\"", "\x1b[2J");
	assert_string_equal(log_line(0), "warning: said \"^[[2J\"");
	for (int i = 0; i < 205; i++)
		log_write(LOG_WARNING, "line %d", i);
	assert_string_equal(log_line(0), "warning: line 5");
	assert_string_equal(log_line(199), "warning: line 204");
	assert_null(log_line(200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sentence_is_kept),
		cmocka_unit_test(an_errno_has_its_words),
		cmocka_unit_test(nobody_may_ask),
		cmocka_unit_test(a_long_sentence_is_cut_between_characters),
		cmocka_unit_test(the_log_keeps_the_last_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
