/* last-line: the last line that a process has printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "backends/last-line.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

#define BARS "\r 10%|#         | 1/10\r 50%|#####     | 5/10"

static const struct row {
	const char *text;
	const char *line;
	const char *progress;
} rows[] = {
	{ "", "", "" },
	{ "\n \n\t\n", "", "" },
	{ "step 1\nstep 2\n", "step 2", "" },
	{ "step 1\nstep 2", "step 2", "" },
	{ "step 1\n\n  \n", "step 1", "" },
	{ "step 1\r\nstep 2\r\n", "step 2", "" },
	{ BARS, "50%|#####     | 5/10", "50%|#####     | 5/10" },
	{ "epoch 1\n" BARS "\r", "50%|#####     | 5/10", "50%|#####     | 5/10" },
	{ BARS "\nValueError: bad\n", "ValueError: bad", "50%|#####     | 5/10" },
	{ "\r\r\r", "", "" },
	{ BARS "[rank1]: Traceback (most recent call last):\n[rank1]: ValueError: bad\n",
	  "[rank1]: ValueError: bad", "50%|#####     | 5/10" },
	/* nested bars move the cursor up behind each line */
	{ BARS "\x1b[A\r\x1b[A", "50%|#####     | 5/10", "50%|#####     | 5/10" },
	{ "\x1b[32mstep 3\x1b[0m  \n\x1b[0m\n", "step 3", "" },
};

static void check(void (*append)(struct buffer *out, const char *text), const char *text,
		  const char *wanted)
{
	struct buffer out = BUFFER_INIT;

	append(&out, text);
	assert_string_equal(out.data ? out.data : "", wanted);
	buffer_clear(&out);
}

static void the_last_line_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		check(last_line_append, rows[i].text, rows[i].line);
		check(last_line_append_progress, rows[i].text, rows[i].progress);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_line_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
