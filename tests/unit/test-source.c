/* source: a file's lines as they are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "model/source.h"

static void lines_are_split(void **state)
{
	struct source *source = source_new("/a.py", "one\r\n\nthree", true, NULL);

	(void)state;
	assert_int_equal(source->line_count, 3);
	assert_string_equal(source_line(source, 1), "one");
	assert_string_equal(source_line(source, 2), "");
	assert_string_equal(source_line(source, 3), "three");
	assert_null(source_line(source, 0));
	assert_null(source_line(source, 4));
	assert_true(source->is_changed);
	source_free(source);
}

static void a_newline_at_the_end_begins_no_line(void **state)
{
	struct source *source = source_new("/a.py", "one\n", false, NULL);

	(void)state;
	assert_int_equal(source->line_count, 1);
	source_free(source);
	source = source_new("/a.py", "", false, NULL);
	assert_int_equal(source->line_count, 0);
	assert_non_null(source->content);
	source_free(source);
}

static void tabs_and_controls_are_shown(void **state)
{
	struct source *source =
		source_new("/a.py", "\tx\ty\n\xe4\xbd\xa0\tz\n\033[2J", false, NULL);

	(void)state;
	assert_string_equal(source_line(source, 1), "        x       y");
	assert_string_equal(source_line(source, 2), "\xe4\xbd\xa0      z");
	assert_string_equal(source_line(source, 3), "^[[2J");
	source_free(source);
}

static void no_source_has_a_reason(void **state)
{
	struct source *source = source_new("/a.py", NULL, false, "the file is gone");

	(void)state;
	assert_null(source->content);
	assert_null(source_line(source, 1));
	assert_string_equal(source->error, "the file is gone");
	source_free(source);
	source_free(NULL);
}

static const char functions[] = "import a\n"	    /* 1 */
				"@decorated\n"	    /* 2 */
				"def one(x,\n"	    /* 3 */
				"        y=[\n"	    /* 4 */
				"]):\n"		    /* 5 */
				"    for i in x:\n" /* 6 */
				"        use(\n"    /* 7 */
				")\n"		    /* 8 */
				"# not its end\n"   /* 9 */
				"\n"		    /* 10 */
				"        use(i)\n"  /* 11 */
				"\n"		    /* 12 */
				"def two(): pass\n" /* 13 */
				"one([2])\n";	    /* 14 */

static void a_function_ends_where_less_is_indented(void **state)
{
	struct source *source = source_new("/a.py", functions, false, NULL);

	(void)state;
	assert_int_equal(source_function_end(source, 2, 6), 12);
	assert_int_equal(source_function_end(source, 2, 11), 12);
	assert_int_equal(source_function_end(source, 13, 13), 13);
	assert_int_equal(source_function_end(source, 0, 1), 14);
	assert_int_equal(source_function_end(source, 99, 1), 14);
	source_free(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_split),
		cmocka_unit_test(a_newline_at_the_end_begins_no_line),
		cmocka_unit_test(tabs_and_controls_are_shown),
		cmocka_unit_test(no_source_has_a_reason),
		cmocka_unit_test(a_function_ends_where_less_is_indented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
