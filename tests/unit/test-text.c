/* text: widths, cutting and escaping. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"

static void widths_are_columns(void **state)
{
	(void)state;
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("train.py"), 8);
	assert_int_equal(text_width("\xe6\xbc\xa2\xe5\xad\x97"), 4);
	assert_int_equal(text_width("e\xcc\x81"), 1);
	assert_int_equal(text_width("\xf0\x9f\x90\x8d"), 2);
	assert_int_equal(text_width("\xff"), 1);
	assert_int_equal(text_codepoint_width(0x202e), 1);
	assert_int_equal(text_codepoint_width('\n'), 1);
}

static void only_utf8_is_utf8(void **state)
{
	static const char *const bad[] = {
		"\x80",
		"\xc0\xaf",
		"\xe0\x80\xaf",
		"\xed\xa0\x80",
		"\xf5\x80\x80\x80",
		"\xf4\x90\x80\x80",
		"\xe2\x80",
		"a\xff",
		"12345678\xc3",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
		assert_false(text_is_utf8(bad[i], strlen(bad[i])));
	assert_true(text_is_utf8("", 0));
	assert_true(text_is_utf8("gr\xc3\xbc\xc3\x9f", 7));
	assert_true(text_is_utf8("\xf4\x8f\xbf\xbf", 4));
	assert_true(text_is_utf8("12345678901234567\xe2\x80\xa6 tail", 25));
}

static void next_steps_over_bad_bytes(void **state)
{
	const char *at = "a\xffz";

	(void)state;
	assert_int_equal(text_next(&at), 'a');
	assert_int_equal(text_next(&at), 0xfffd);
	assert_int_equal(text_next(&at), 'z');
	assert_int_equal(text_next(&at), 0);
	assert_int_equal(text_next(&at), 0);
}

static void next_never_reads_behind_the_end(void **state)
{
	/* On the heap, so that the sanitizer sees a read too far. */
	char *torn = malloc(2);
	const char *at = torn;

	(void)state;
	memcpy(torn, "\xf0", 2);
	assert_int_equal(text_next(&at), 0xfffd);
	assert_int_equal(text_next(&at), 0);
	free(torn);
}

static void fit_keeps_marks_with_their_base(void **state)
{
	(void)state;
	assert_int_equal(text_fit("abc", 2), 2);
	assert_int_equal(text_fit("abc", 9), 3);
	assert_int_equal(text_fit("abc", 0), 0);
	assert_int_equal(text_fit("abc", -1), 0);
	assert_int_equal(text_fit("e\xcc\x81x", 1), 3);
	assert_int_equal(text_fit("\xe6\xbc\xa2x", 1), 0);
}

struct example {
	const char *from;
	int width;
	const char *to;
};

static void check_examples(const struct example *examples, size_t count,
			   void (*make)(struct buffer *, const char *, int))
{
	struct buffer out = BUFFER_INIT;

	for (size_t i = 0; i < count; i++) {
		buffer_reset(&out);
		make(&out, examples[i].from, examples[i].width);
		assert_string_equal(out.data, examples[i].to);
	}
	buffer_clear(&out);
}

static void escape(struct buffer *out, const char *from, int unused)
{
	(void)unused;
	text_escape(out, from, strlen(from));
	assert_int_equal(text_is_plain(from, strlen(from)), strcmp(from, out->data) == 0);
}

static void escape_shows_what_acts(void **state)
{
	static const struct example examples[] = {
		{ "plain", 0, "plain" },
		{ "", 0, "" },
		{ "gr\xc3\xbcn \xe6\xbc\xa2 e\xcc\x81", 0, "gr\xc3\xbcn \xe6\xbc\xa2 e\xcc\x81" },
		{ "a\nb\tc", 0, "a^Jb^Ic" },
		{ "\x1b[2J", 0, "^[[2J" },
		{ "\x7f", 0, "^?" },
		{ "\xc2\x9b", 0, "<009b>" },
		{ "\x9b", 0, "<9b>" },
		{ "\xe2\x80\xae", 0, "<202e>" },
		{ "\xe2\x81\xa6", 0, "<2066>" },
		{ "\xe2\x80\x8b", 0, "<200b>" },
		{ "\xef\xbb\xbf", 0, "<feff>" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", 0, "<2028><2029>" },
		{ "\xf3\xa0\x81\x81", 0, "<e0041>" },
		{ "\xed\xa0\x80", 0, "<ed><a0><80>" },
		{ "end\xe2\x80", 0, "end<e2><80>" },
	};
	struct buffer out = BUFFER_INIT;

	(void)state;
	check_examples(examples, ARRAY_LENGTH(examples), escape);
	text_escape(&out, "a\0b", 3);
	assert_string_equal(out.data, "a^@b");
	buffer_clear(&out);
}

static void cut_ends_in_an_ellipsis(void **state)
{
	static const struct example examples[] = {
		{ "all_reduce", 10, "all_reduce" },
		{ "all_reduce", 9, "all_redu\xe2\x80\xa6" },
		{ "all_reduce", 1, "\xe2\x80\xa6" },
		{ "all_reduce", 0, "" },
		{ "all_reduce", -4, "" },
		{ "\xe6\xbc\xa2\xe5\xad\x97", 4, "\xe6\xbc\xa2\xe5\xad\x97" },
		{ "\xe6\xbc\xa2\xe5\xad\x97", 3, "\xe6\xbc\xa2\xe2\x80\xa6" },
		{ "\xe6\xbc\xa2\xe5\xad\x97", 2, "\xe2\x80\xa6" },
	};

	(void)state;
	check_examples(examples, ARRAY_LENGTH(examples), text_cut);
}

static void path_keeps_its_file_name(void **state)
{
	static const struct example examples[] = {
		{ "/a/train.py", 20, "/a/train.py" },
		{ "/home/user/project/src/train.py", 20, "/home\xe2\x80\xa6t/src/train.py" },
		{ "/home/user/project/src/train.py", 10, "\xe2\x80\xa6/train.py" },
		{ "/home/user/project/src/train.py", 9, "train.py" },
		{ "/home/user/project/src/train.py", 8, "train.py" },
		{ "/home/user/project/src/train.py", 5, "trai\xe2\x80\xa6" },
		{ "train.py", 5, "trai\xe2\x80\xa6" },
		{ "/a/train.py", 0, "" },
	};

	(void)state;
	check_examples(examples, ARRAY_LENGTH(examples), text_cut_path);
	for (int width = 1; width < 40; width++) {
		struct buffer out = BUFFER_INIT;

		text_cut_path(
			&out,
			"/\xe6\xbc\xa2\xe5\xad\x97/e\xcc\x81/\xe6\xbc\xa2/lib/python3/train.py",
			width);
		assert_true(text_width(out.data) <= width);
		assert_true(text_is_utf8(out.data, out.length));
		buffer_clear(&out);
	}
}

static void counts_have_commas(void **state)
{
	struct buffer out = BUFFER_INIT;

	(void)state;
	text_count(&out, 0);
	buffer_append_char(&out, ' ');
	text_count(&out, 999);
	buffer_append_char(&out, ' ');
	text_count(&out, 1024);
	buffer_append_char(&out, ' ');
	text_count(&out, UINT64_MAX);
	assert_string_equal(out.data, "0 999 1,024 18,446,744,073,709,551,615");
	buffer_clear(&out);
}

static void sizes_have_a_unit(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} examples[] = {
		{ 0, "0 B" },
		{ 264, "264 B" },
		{ 1000, "1.0 KB" },
		{ 1024, "1.0 KB" },
		{ 10240, "10 KB" },
		{ UINT64_C(412) << 20, "412 MB" },
		{ UINT64_C(1000) << 20, "1.0 GB" },
		{ UINT64_MAX, "16 EB" },
	};
	struct buffer out = BUFFER_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(examples); i++) {
		buffer_reset(&out);
		text_size(&out, examples[i].bytes);
		assert_string_equal(out.data, examples[i].text);
	}
	buffer_clear(&out);
}

static void lower_is_without_case(void **state)
{
	struct buffer out = BUFFER_INIT;

	(void)state;
	text_lower(&out, "NODE \u00c4\u03a9 x\xff");
	assert_string_equal(out.data, "node \u00e4\u03c9 x\ufffd");
	buffer_clear(&out);
}

static void ages_have_four_columns(void **state)
{
	static const struct {
		double seconds;
		const char *age;
		const char *duration;
	} examples[] = {
		{ -1, "0s", "0 s" },
		{ 0, "0s", "0 s" },
		{ 0.2, "0s", "0.2 s" },
		{ 0.96, "0s", "1 s" },
		{ 34.9, "34s", "34 s" },
		{ 60, "1m", "1 min" },
		{ 9 * 60 + 59, "9m", "9 min" },
		{ 4 * 3600, "4h", "4 h" },
		{ 3 * 86400, "3d", "3 d" },
		{ 364 * 86400.0, "364d", "364 d" },
		{ 730 * 86400.0, "2y", "2 y" },
		{ 1e300, "999y", "999 y" },
		{ 0.0 / 0.0, "0s", "0 s" },
	};
	struct buffer out = BUFFER_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(examples); i++) {
		buffer_reset(&out);
		text_age(&out, examples[i].seconds);
		assert_string_equal(out.data, examples[i].age);
		assert_true(out.length <= 4);
		buffer_reset(&out);
		text_duration(&out, examples[i].seconds);
		assert_string_equal(out.data, examples[i].duration);
	}
	buffer_clear(&out);
}

static void codepoints_become_utf8(void **state)
{
	struct buffer out = BUFFER_INIT;

	(void)state;
	text_put_codepoint(&out, 'a');
	text_put_codepoint(&out, 0xfc);
	text_put_codepoint(&out, 0x2026);
	text_put_codepoint(&out, 0x1f40d);
	text_put_codepoint(&out, 0xd800);
	text_put_codepoint(&out, -1);
	assert_string_equal(out.data, "a\xc3\xbc\xe2\x80\xa6\xf0\x9f\x90\x8d"
				      "\xef\xbf\xbd\xef\xbf\xbd");
	buffer_clear(&out);
}

static void printable_is_as_in_python(void **state)
{
	static const int32_t hidden[] = { -1,	0,	0x1f,	0x7f,	0x85,	0xa0,
					  0xad, 0x2028, 0x202e, 0xd800, 0xe000, 0x110000 };
	static const int32_t shown[] = { ' ', '~', 0xe9, 0x301, 0x6f22 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(hidden); i++)
		assert_false(text_is_printable(hidden[i]));
	for (size_t i = 0; i < ARRAY_LENGTH(shown); i++)
		assert_true(text_is_printable(shown[i]));
}

static void a_line_full_of_tabs_is_long(void **state)
{
	const size_t count = 20000;
	struct buffer tabs = BUFFER_INIT;
	struct buffer out = BUFFER_INIT;
	clock_t start = clock();

	(void)state;
	text_append_line(&out, "ab\tc\001\td", 7);
	assert_string_equal(out.data, "ab      c^A     d");
	for (size_t i = 0; i < count; i++)
		buffer_append_char(&tabs, '\t');
	buffer_reset(&out);
	text_append_line(&out, tabs.data, tabs.length);
	assert_int_equal(out.length, 8 * count);
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2);
	buffer_clear(&tabs);
	buffer_clear(&out);
}

static void a_time_has_a_unit_or_none(void **state)
{
	static const char *const none[] = { "", "s", "soon", "1 s", "1ss", "1d", "m5" };

	(void)state;
	assert_true(text_seconds("2") == 2);
	assert_true(text_seconds("0.5s") == 0.5);
	assert_true(text_seconds("5m") == 300);
	assert_true(text_seconds("2h") == 7200);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_true(isnan(text_seconds(none[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths_are_columns),
		cmocka_unit_test(only_utf8_is_utf8),
		cmocka_unit_test(next_steps_over_bad_bytes),
		cmocka_unit_test(next_never_reads_behind_the_end),
		cmocka_unit_test(fit_keeps_marks_with_their_base),
		cmocka_unit_test(escape_shows_what_acts),
		cmocka_unit_test(cut_ends_in_an_ellipsis),
		cmocka_unit_test(path_keeps_its_file_name),
		cmocka_unit_test(counts_have_commas),
		cmocka_unit_test(sizes_have_a_unit),
		cmocka_unit_test(lower_is_without_case),
		cmocka_unit_test(ages_have_four_columns),
		cmocka_unit_test(codepoints_become_utf8),
		cmocka_unit_test(printable_is_as_in_python),
		cmocka_unit_test(a_line_full_of_tabs_is_long),
		cmocka_unit_test(a_time_has_a_unit_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
