/*
 * Python that is typed line by line: when it is whole.
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
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "model/codeblock.h"

/* Each line is begun with "." while it is not whole, with "!" when it is. */
static const char *const typed[] = {
	"!x = 1",
	"!",
	"!f(1)  # :",
	"!print(':')",
	"!x = {'a': 1}",
	"!'it\\'s'",
	"!'not closed",
	"!)",
	"!if x: print(1)",
	".for i in range(3):|.  print(i)|!",
	".def f():|.  '''|.|. text'''|!",
	".f(1,|!2)",
	".f(1,|. [2,|.|.  3]|!)",
	".x = '''|. a|!'''",
	".x = \"\"\" it's|! '\"\"\"",
	".1 + \\|!2",
	".@decorated|.def f(): pass|!",
	".if x:|.  y|.else:|.  z|!  ",
	".x = [  # (|!1]",
};

static void a_block_is_whole_when_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(typed); i++) {
		struct codeblock block;
		const char *at = typed[i];

		codeblock_init(&block);
		while (*at != '\0') {
			size_t length = strcspn(at, "|");
			char *line = xstrndup(at + 1, length - 1);
			bool is_whole = codeblock_add(&block, line);

			if (is_whole != (*at == '!'))
				fail_msg("%s: at %s", typed[i], line);
			free(line);
			at += length + (at[length] == '|');
		}
		codeblock_clear(&block);
	}
}

static void its_lines_are_kept(void **state)
{
	struct codeblock block;

	(void)state;
	codeblock_init(&block);
	codeblock_add(&block, "if x:");
	codeblock_add(&block, "  y");
	assert_true(codeblock_add(&block, ""));
	assert_string_equal(block.text.data, "if x:\n  y\n");
	codeblock_clear(&block);
	assert_false(block.is_begun);
	assert_string_equal(block.text.data, "");
}

static void of_a_file_the_next_line_ends_it(void **state)
{
	struct codeblock block;

	(void)state;
	codeblock_init(&block);
	assert_false(codeblock_ends_before(&block, "x"));
	codeblock_add(&block, "if x:");
	codeblock_add(&block, "  y");
	assert_true(codeblock_ends_before(&block, "z = 1"));
	assert_true(codeblock_ends_before(&block, "elsewhere = 1"));
	assert_false(codeblock_ends_before(&block, "else:"));
	assert_false(codeblock_ends_before(&block, "# a word"));
	assert_false(codeblock_ends_before(&block, "  z"));
	assert_false(codeblock_ends_before(&block, ""));
	codeblock_add(&block, "  f(");
	assert_false(codeblock_ends_before(&block, "z"));
	codeblock_clear(&block);
	codeblock_add(&block, "@decorated");
	assert_false(codeblock_ends_before(&block, "def f():"));
	codeblock_clear(&block);
}

/* Half a function would be one that does something else. */
static void what_is_too_long_is_refused(void **state)
{
	struct error error = ERROR_INIT;
	struct codeblock block;
	char *line = xcalloc(1, CODEBLOCK_MAXIMUM + 2);

	(void)state;
	memset(line, '(', CODEBLOCK_MAXIMUM + 1);
	codeblock_init(&block);
	assert_false(codeblock_add(&block, "def f():"));
	assert_int_equal(codeblock_check(&block, &error), 0);
	assert_true(codeblock_add(&block, line));
	assert_int_equal(codeblock_check(&block, &error), -1);
	assert_non_null(strstr(error.message, "longer than 256 KiB"));
	assert_false(codeblock_is_blank(&block));
	codeblock_clear(&block);
	assert_true(codeblock_add(&block, line));
	assert_false(codeblock_is_blank(&block));
	codeblock_clear(&block);
	assert_true(codeblock_is_blank(&block));
	assert_int_equal(codeblock_check(&block, &error), 0);
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_whole_when_it_is),
		cmocka_unit_test(its_lines_are_kept),
		cmocka_unit_test(of_a_file_the_next_line_ends_it),
		cmocka_unit_test(what_is_too_long_is_refused),
	};

	return cmocka_run_group_tests_name("codeblock", tests, NULL, NULL);
}
