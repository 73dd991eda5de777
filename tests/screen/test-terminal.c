/*
 * The terminal of the console: bytes in, cells out; what is hostile does
 * nothing.
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
#include "ui/sequence.h"
#include "ui/terminal.h"

#define ROWS 5
#define COLUMNS 20

struct bench {
	struct terminal *terminal;
	struct canvas canvas;
	struct buffer drawn;
	struct buffer answers;
};

static int set_up(void **state)
{
	static struct bench bench;

	bench = (struct bench){ .drawn = BUFFER_INIT, .answers = BUFFER_INIT };
	bench.terminal = terminal_new(ROWS, COLUMNS);
	canvas_init(&bench.canvas, ROWS, COLUMNS);
	*state = &bench;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	terminal_free(bench->terminal);
	canvas_clear(&bench->canvas);
	buffer_clear(&bench->drawn);
	buffer_clear(&bench->answers);
	return 0;
}

static void say(struct bench *bench, const char *bytes)
{
	terminal_write(bench->terminal, bytes, strlen(bytes));
}

static const char *draw_back(struct bench *bench, int back)
{
	canvas_reset(&bench->canvas, ROWS, COLUMNS);
	terminal_draw(canvas_window(&bench->canvas), bench->terminal, back);
	buffer_reset(&bench->drawn);
	canvas_append(&bench->drawn, &bench->canvas);
	return bench->drawn.data;
}

static void check(struct bench *bench, const char *wanted)
{
	assert_string_equal(draw_back(bench, 0), wanted);
}

static void a_line_feed_begins_a_line(void **state)
{
	struct bench *bench = *state;

	say(bench, "> t.py(3)f()\n-> x = 1\r\n(Pdb) ");
	check(bench, "> t.py(3)f()\n-> x = 1\n(Pdb)\n\n\n");
}

static void the_cursor_is_told(void **state)
{
	struct bench *bench = *state;
	int row;
	int column;

	say(bench, "one\nipdb> ");
	terminal_cursor(bench->terminal, &row, &column);
	assert_int_equal(row, 1);
	assert_int_equal(column, 6);
	say(bench, "\033[?25l");
	terminal_cursor(bench->terminal, &row, &column);
	assert_int_equal(row, -1);
}

static void colours_are_styles(void **state)
{
	struct bench *bench = *state;
	static const struct {
		enum style style;
		int emphasis;
	} wanted[] = {
		{ STYLE_TERMINAL_RED, 0 },
		{ STYLE_TERMINAL_GREEN, EMPHASIS_BOLD },
		{ STYLE_TERMINAL_BLUE, EMPHASIS_REVERSE },
		{ STYLE_TERMINAL_CYAN, EMPHASIS_UNDERLINE | EMPHASIS_BOLD },
		{ STYLE_TERMINAL_GREEN, 0 },
		{ STYLE_TERMINAL_YELLOW, 0 },
		{ STYLE_TEXT, EMPHASIS_REVERSE | EMPHASIS_ITALIC },
		{ STYLE_DIM, 0 },
		{ STYLE_TEXT, 0 },
	};

	say(bench, "\033[31ma\033[0;1;32mb\033[0;44mc\033[0;4;96md\033[0;38;5;28me\033[38;2;200;"
		   "180;0mf\033[0;3;7mg\033[0;90mh\033[0;30mi");
	draw_back(bench, 0);
	for (size_t i = 0; i < ARRAY_LENGTH(wanted); i++) {
		const struct cell *cell = canvas_cell(&bench->canvas, 0, (int)i);

		assert_int_equal(cell->style, wanted[i].style);
		assert_int_equal(cell->emphasis, wanted[i].emphasis);
	}
}

static void wide_and_combined_characters_have_their_cells(void **state)
{
	struct bench *bench = *state;

	say(bench, "a\xe5\x88\x97"
		   "b e\xcc\x81.");
	check(bench, "a\xe5\x88\x97"
		     "b e\xcc\x81.\n\n\n\n\n");
	assert_int_equal(canvas_cell(&bench->canvas, 0, 1)->width, 2);
	assert_int_equal(canvas_cell(&bench->canvas, 0, 5)->combining, 0x301);
}

static void lines_above_can_be_scrolled_to(void **state)
{
	struct bench *bench = *state;

	for (int i = 0; i < 10; i++) {
		char line[32];

		snprintf(line, sizeof(line), "\033[32mline %d\033[0m\n", i);
		say(bench, line);
	}
	assert_int_equal(terminal_history(bench->terminal), 6);
	check(bench, "line 6\nline 7\nline 8\nline 9\n\n");
	assert_string_equal(draw_back(bench, 3), "line 3\nline 4\nline 5\nline 6\nline 7\n");
	assert_int_equal(canvas_cell(&bench->canvas, 0, 0)->style, STYLE_TERMINAL_GREEN);
	assert_string_equal(draw_back(bench, 99), "line 0\nline 1\nline 2\nline 3\nline 4\n");
}

static void its_past_is_bounded(void **state)
{
	struct bench *bench = *state;

	for (int i = 0; i < TERMINAL_HISTORY + 50; i++)
		say(bench, i % 2 ? "a wide line \xe5\x88\x97\n" : "\n");
	assert_int_equal(terminal_history(bench->terminal), TERMINAL_HISTORY);
	draw_back(bench, TERMINAL_HISTORY);
}

static void take_answer(const char *bytes, size_t length, void *data)
{
	struct bench *bench = data;

	buffer_append(&bench->answers, bytes, length);
}

static void answers_go_to_who_wants_them(void **state)
{
	struct bench *bench = *state;

	say(bench, "\033[6n\033[c");
	assert_int_equal(bench->answers.length, 0);
	terminal_set_answer(bench->terminal, take_answer, bench);
	say(bench, "ab\033[6n");
	assert_string_equal(bench->answers.data, "\033[1;3R");
}

static void check_passes(const char *bytes, const char *wanted)
{
	struct sequence sequence = { .state = SEQUENCE_TEXT };
	struct buffer out = BUFFER_INIT;

	sequence_pass(&sequence, &out, bytes, strlen(bytes));
	assert_string_equal(out.data, wanted);
	/* The same in pieces of one byte. */
	sequence = (struct sequence){ .state = SEQUENCE_TEXT };
	buffer_reset(&out);
	for (size_t i = 0; bytes[i] != '\0'; i++)
		sequence_pass(&sequence, &out, bytes + i, 1);
	assert_string_equal(out.data, wanted);
	buffer_clear(&out);
}

static void only_what_is_harmless_passes(void **state)
{
	(void)state;
	check_passes("a\tb\bc\n", "a\tb\bc\r\n");
	check_passes("\033[1;31mred\033[0m", "\033[1;31mred\033[0m");
	check_passes("\033[99999999999999999999L", "\033[9999L");
	check_passes("\033[1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1mx", "x");
	check_passes("\033[-5Ax\033[ 5Ax", "xx");
	check_passes("\033[8;1;1tx\033[2 qx\033[5bx", "xxx");
	check_passes("\033[?1049h\033[?25l\033[>c\033[?1;2r", "\033[?1049h\033[?25l\033[>c");
	check_passes("\033]0;title\007a\033]52;c;eA==\033\\b\033P$qm\033\\c", "abc");
	check_passes("\033]0;no end\033[31mred", "\033[31mred");
	check_passes("\033(0lqk\033#8\033Nx", "lqkx");
	check_passes("\001\016\005\177", "^A^N^E^?");
	check_passes("\xc2\x9b"
		     "31m\xe2\x80\xae",
		     "<009b>31m<202e>");
	check_passes("\xff\xc3(\xe5\x88", "<ff><c3>(");
	check_passes("e\xcc\x81\xcc\x81\xcc\x81\xcc\x81.", "e\xcc\x81\xcc\x81.");
	check_passes("\033\033[3\0331m", "m");
}

static void a_string_without_end_has_one(void **state)
{
	struct bench *bench = *state;

	say(bench, "\033P");
	for (int i = 0; i < 70000; i++)
		say(bench, "x");
	say(bench, "\033[2J\033[Hhere again");
	check(bench, "here again\n\n\n\n\n");
}

/* Bytes as a broken or hostile program may send them; a fixed row of them. */
static void garbage_breaks_nothing(void **state)
{
	struct bench *bench = *state;
	uint32_t number = 12345;
	static char bytes[1 << 20];

	for (size_t i = 0; i < sizeof(bytes); i++) {
		number = number * 1664525 + 1013904223;
		bytes[i] = (char)(number >> 24);
		/* Many that control. */
		if ((number >> 16 & 15) == 0)
			bytes[i] = "\033[]P;?\n\r"[number >> 8 & 7];
	}
	terminal_write(bench->terminal, bytes, sizeof(bytes));
	draw_back(bench, 0);
	draw_back(bench, 1000);
	say(bench, "\033c\033[Hfine");
	check(bench, "fine\n\n\n\n\n");
}

static void scroll_regions_stay_inside(void **state)
{
	struct bench *bench = *state;

	say(bench, "\033[2;4r\033[?69h\033[3;9s\033[9999S\033[9999T\033[9999L\033[9999M\033["
		   "9999P\033[9999@\033[9999X\033[9999;9999H\033[9999Z\033[9999I\033[0;0r\033[5;"
		   "2r\033[4;4r\033D\033M");
	draw_back(bench, 0);
	say(bench, "\033[r\033[?69l\033[2J\033[Hok");
	check(bench, "ok\n\n\n\n\n");
}

static void a_line_of_a_megabyte_is_wrapped(void **state)
{
	struct bench *bench = *state;
	static char bytes[1 << 20];

	memset(bytes, 'x', sizeof(bytes));
	terminal_write(bench->terminal, bytes, sizeof(bytes));
	assert_int_equal(terminal_history(bench->terminal), TERMINAL_HISTORY);
}

#define ON_BENCH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_BENCH(a_line_feed_begins_a_line),
		ON_BENCH(the_cursor_is_told),
		ON_BENCH(colours_are_styles),
		ON_BENCH(wide_and_combined_characters_have_their_cells),
		ON_BENCH(lines_above_can_be_scrolled_to),
		ON_BENCH(its_past_is_bounded),
		ON_BENCH(answers_go_to_who_wants_them),
		cmocka_unit_test(only_what_is_harmless_passes),
		ON_BENCH(a_string_without_end_has_one),
		ON_BENCH(garbage_breaks_nothing),
		ON_BENCH(scroll_regions_stay_inside),
		ON_BENCH(a_line_of_a_megabyte_is_wrapped),
	};

	return cmocka_run_group_tests_name("terminal", tests, NULL, NULL);
}
