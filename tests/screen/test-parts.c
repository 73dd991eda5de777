/*
 * The parts of the screen that need no session: canvas, theme, keys, prompt,
 * the colours of source.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/arguments.h"
#include "engine/command.h"
#include "engine/settings.h"
#include "ui/clipboard.h"
#include "ui/commands.h"
#include "ui/highlight.h"
#include "ui/keymap.h"
#include "ui/prompt.h"
#include "ui/theme.h"
#include "ui/window.h"

static void check_canvas(const struct canvas *canvas, const char *wanted)
{
	struct buffer text = BUFFER_INIT;

	canvas_append(&text, canvas);
	assert_string_equal(text.data, wanted);
	buffer_clear(&text);
}

static void borders_join(void **state)
{
	struct canvas canvas;
	struct window window;

	(void)state;
	canvas_init(&canvas, 3, 5);
	window = canvas_window(&canvas);
	window_box(window, STYLE_BORDER);
	window_vertical(window, 0, 2, 3, STYLE_BORDER);
	window_horizontal(window, 1, 0, 5, STYLE_BORDER);
	check_canvas(&canvas, "┌─┬─┐\n├─┼─┤\n└─┴─┘\n");
	canvas_make_ascii(&canvas);
	check_canvas(&canvas, "+-+-+\n|-+-+\n`-+-+\n");
	canvas_clear(&canvas);
}

static void text_is_cut_and_made_safe(void **state)
{
	struct canvas canvas;
	struct window window;

	(void)state;
	canvas_init(&canvas, 5, 10);
	window = canvas_window(&canvas);
	window_put(window, 0, 0, 10, STYLE_TEXT, "a longer text");
	window_put(window, 1, 0, 10, STYLE_TEXT, "a\033[1m\xe2\x80\xae");
	window_put(window, 2, 0, 4, STYLE_TEXT, "訓練中");
	window_put(window, 3, 0, 10, STYLE_TEXT, "e\xcc\x81t\xff");
	window_put_path(window, 4, 10, 10, STYLE_TEXT, "distributed.py:3252");
	check_canvas(&canvas, "a longer …\na^[[1m<20…\n訓…\n"
			      "e\xcc\x81t<ff>\ndis…y:3252\n");
	canvas_clear(&canvas);
}

static void half_a_wide_character_goes(void **state)
{
	struct canvas canvas;
	struct window window;

	(void)state;
	canvas_init(&canvas, 1, 6);
	window = canvas_window(&canvas);
	window_put(window, 0, 0, 6, STYLE_TEXT, "訓練");
	window_put(window, 0, 1, 1, STYLE_TEXT, "x");
	window_put(window, 0, 2, 1, STYLE_TEXT, "y");
	check_canvas(&canvas, " xy\n");
	canvas_clear(&canvas);
}

static void a_window_clips(void **state)
{
	struct canvas canvas;
	struct window part;

	(void)state;
	canvas_init(&canvas, 2, 4);
	part = window_part(canvas_window(&canvas), 1, 2, 9, 9);
	assert_int_equal(part.row_count, 1);
	assert_int_equal(part.column_count, 2);
	window_put(part, 0, 0, 99, STYLE_TEXT, "abc");
	window_put(part, 1, 0, 99, STYLE_TEXT, "no");
	window_put(part, -1, 0, 99, STYLE_TEXT, "no");
	check_canvas(&canvas, "\n  a…\n");
	canvas_clear(&canvas);
}

static void a_theme_is_read(void **state)
{
	struct error error = ERROR_INIT;
	struct theme theme;

	(void)state;
	assert_int_equal(theme_parse(&theme,
				     "# a comment\n\n"
				     "outlier 167/red on 16/black bold\n"
				     "dim\n",
				     "t", &error),
			 0);
	assert_int_equal(theme.looks[STYLE_OUTLIER].foreground.rich, 167);
	assert_int_equal(theme.looks[STYLE_OUTLIER].foreground.plain, 1);
	assert_int_equal(theme.looks[STYLE_OUTLIER].background.rich, 16);
	assert_int_equal(theme.looks[STYLE_OUTLIER].attributes, ATTRIBUTE_BOLD);
	assert_int_equal(theme.looks[STYLE_TEXT].foreground.rich, -1);
}

struct bad_theme {
	const char *text;
	const char *sentence;
};

static void a_bad_theme_is_refused(void **state)
{
	static const struct bad_theme bad[] = {
		{ "text\nnonsense red\n", "t, line 2: unknown style 'nonsense'" },
		{ "text 256\n", "t, line 1: '256': not a colour" },
		{ "text pink\n", "t, line 1: 'pink': not a colour" },
		{ "text 200/100\n", "t, line 1: '200': not a colour" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct error error = ERROR_INIT;
		struct theme theme;

		assert_int_equal(theme_parse(&theme, bad[i].text, "t", &error), -1);
		if (strstr(error.message, bad[i].sentence) == NULL)
			fail_msg("%s", error.message);
	}
}

/* A key without a command, or one that help does not know, is a mistake. */
static void every_key_has_a_command_and_help(void **state)
{
	struct buffer help = BUFFER_INIT;
	struct error error = ERROR_INIT;
	struct keymap keymap;

	(void)state;
	keymap_init(&keymap);
	keymap_add_default(&keymap);
	keymap_describe(&keymap, &help);
	assert_true(keymap.count > 40);
	for (size_t i = 0; i < keymap.count; i++) {
		const char *line = keymap.bindings[i].line;
		struct arguments arguments;

		assert_int_equal(command_parse(&arguments, &screen_commands, line, &error), 0);
		assert_non_null(arguments.command);
		/* What help does not know it shows as a command line. */
		if (strchr(line, ' ') != NULL && strstr(help.data, line) != NULL)
			fail_msg("'%s' has no help", line);
		arguments_clear(&arguments);
	}
	buffer_clear(&help);
	keymap_clear(&keymap);
}

static void a_key_is_bound_anew(void **state)
{
	struct error error = ERROR_INIT;
	struct keymap keymap;

	(void)state;
	keymap_init(&keymap);
	keymap_add_default(&keymap);
	assert_string_equal(keymap_find(&keymap, NULL, "M"), "merged");
	assert_int_equal(keymap_bind(&keymap, "M", "diff 3", &error), 0);
	assert_string_equal(keymap_find(&keymap, NULL, "M"), "diff 3");
	assert_int_equal(keymap_bind(&keymap, "M", "", &error), 0);
	assert_null(keymap_find(&keymap, NULL, "M"));
	assert_int_equal(
		keymap_bind(&keymap, "a-key-with-a-name-that-is-much-too-long", "x", &error), -1);
	keymap_clear(&keymap);
}

static void a_key_has_another_meaning_in_a_view(void **state)
{
	struct keymap keymap;

	(void)state;
	keymap_init(&keymap);
	assert_int_equal(keymap_bind(&keymap, "F5", "refresh", NULL), 0);
	assert_int_equal(keymap_bind(&keymap, "compare:F5", "log", NULL), 0);
	assert_string_equal(keymap_find(&keymap, NULL, "F5"), "refresh");
	assert_string_equal(keymap_find(&keymap, "compare", "F5"), "log");
	assert_string_equal(keymap_find(&keymap, "other", "F5"), "refresh");
	assert_null(keymap_find(&keymap, "compare", "F6"));
	assert_string_equal(keymap_key_of(&keymap, NULL, "refresh"), "F5");
	assert_string_equal(keymap_key_of(&keymap, "compare", "log"), "F5");
	assert_null(keymap_key_of(&keymap, NULL, "log"));
	assert_null(keymap_key_of(&keymap, "compare", "refresh"));
	assert_int_equal(keymap_bind(&keymap, "nowhere:F5", "log", NULL), -1);
	assert_int_equal(keymap_bind(&keymap, "compare:", "log", NULL), -1);
	keymap_clear(&keymap);
}

static int add_config(struct keymap *keymap, const char *text, struct error *error)
{
	struct config_line line = { (char *)text, 7 };
	struct settings settings = {
		.config = (char *)"config",
		.binds = &line,
		.bind_count = 1,
	};

	return keymap_add_config(keymap, &settings, error);
}

struct bad_bind {
	const char *line;
	const char *sentence;
};

static void a_config_binds_keys(void **state)
{
	static const struct bad_bind bad[] = {
		{ "bind M megred",
		  "config: line 7: unknown command 'megred'; did you mean merged?" },
		{ "bind PageUp up", "config: line 7: 'PageUp' is not a key" },
		{ "bind C-1 up", "'C-1' is not a key" },
		{ "bind '' up", "'' is not a key" },
		{ "bind ' ' up", "' ' is not a key" },
		{ "bind M locals", "unknown command 'locals'" },
	};
	struct keymap keymap;

	(void)state;
	keymap_init(&keymap);
	keymap_add_default(&keymap);
	for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
		struct error error = ERROR_INIT;

		assert_int_equal(add_config(&keymap, bad[i].line, &error), -1);
		if (strstr(error.message, bad[i].sentence) == NULL)
			fail_msg("%s", error.message);
	}
	assert_string_equal(keymap_find(&keymap, NULL, "M"), "merged");
	assert_int_equal(add_config(&keymap, "bind M diff majority", NULL), 0);
	assert_int_equal(add_config(&keymap, "bind ä up", NULL), 0);
	assert_int_equal(add_config(&keymap, "bind Space down", NULL), 0);
	assert_string_equal(keymap_find(&keymap, NULL, "M"), "diff majority");
	assert_string_equal(keymap_find(&keymap, NULL, "ä"), "up");
	keymap_clear(&keymap);
}

static void type(struct prompt *prompt, const char *const *keys, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(prompt_key(prompt, keys[i]), PROMPT_EDITED);
}

static void text_is_put_into_a_clipboard(void **state)
{
	char *much = xmalloc(CLIPBOARD_MAXIMUM + 2);
	struct buffer out = BUFFER_INIT;
	struct error error = ERROR_INIT;

	(void)state;
	assert_int_equal(clipboard_append(&out, "a", false, &error), 0);
	assert_string_equal(out.data, "\033]52;c;YQ==\a");
	buffer_reset(&out);
	assert_int_equal(clipboard_append(&out, "\303\244b", false, &error), 0);
	assert_string_equal(out.data, "\033]52;c;w6Ri\a");
	buffer_reset(&out);
	assert_int_equal(clipboard_append(&out, "abcd", true, &error), 0);
	assert_string_equal(out.data,
			    "\033]52;c;YWJjZA==\a\033Ptmux;\033\033]52;c;YWJjZA==\a\033\\");
	memset(much, 'x', CLIPBOARD_MAXIMUM + 1);
	much[CLIPBOARD_MAXIMUM + 1] = '\0';
	buffer_reset(&out);
	assert_int_equal(clipboard_append(&out, much, false, &error), -1);
	assert_string_equal(error.message,
			    "the text is too long for the clipboard: 73 KB (at most 73 KB)");
	assert_int_equal(out.length, 0);
	much[CLIPBOARD_MAXIMUM] = '\0';
	assert_int_equal(clipboard_append(&out, much, false, &error), 0);
	assert_int_equal(out.length, 8 + 99992);
	buffer_clear(&out);
	free(much);
}

static void the_prompt_edits(void **state)
{
	static const char *const keys[] = { "a", "ä",	  "b",	   "Left",   "Left", "Backspace",
					    "x", "Space", "Right", "Delete", "F1" };
	static const char *const again[] = { "Up" };
	struct prompt prompt;
	char *line;

	(void)state;
	prompt_init(&prompt);
	prompt_open(&prompt, PROMPT_COMMAND, "");
	type(&prompt, keys, ARRAY_LENGTH(keys));
	assert_int_equal(prompt_key(&prompt, "Enter"), PROMPT_DONE);
	line = prompt_take(&prompt);
	assert_string_equal(line, "x ä");
	free(line);
	prompt_open(&prompt, PROMPT_COMMAND, "");
	type(&prompt, again, ARRAY_LENGTH(again));
	assert_string_equal(prompt.text.data, "x ä");
	assert_int_equal(prompt_key(&prompt, "Esc"), PROMPT_CANCELLED);
	prompt_open(&prompt, PROMPT_RANK, "12");
	line = prompt_take(&prompt);
	assert_string_equal(line, "rank 12");
	free(line);
	prompt_clear(&prompt);
}

/* One letter a byte: k keyword, s string, n number, # comment, . else. */
static void check_colours(enum highlight_state before, const char *line, const char *wanted,
			  enum highlight_state after)
{
	unsigned char styles[128];
	char drawn[128];
	size_t length = strlen(line);

	assert_int_equal(highlight_line(before, line, length, styles), after);
	for (size_t i = 0; i < length; i++) {
		drawn[i] = '.';
		if (styles[i] == STYLE_SOURCE_KEYWORD)
			drawn[i] = 'k';
		if (styles[i] == STYLE_SOURCE_STRING)
			drawn[i] = 's';
		if (styles[i] == STYLE_SOURCE_NUMBER)
			drawn[i] = 'n';
		if (styles[i] == STYLE_SOURCE_COMMENT)
			drawn[i] = '#';
	}
	drawn[length] = '\0';
	assert_string_equal(drawn, wanted);
}

static void python_has_colours(void **state)
{
	(void)state;
	check_colours(HIGHLIGHT_CODE, "if x1 == 0x1f: # no", "kk.......nnnn..####", HIGHLIGHT_CODE);
	check_colours(HIGHLIGHT_CODE, "f(rb'a\\'b', \"#\")", "..ssssssss..sss.", HIGHLIGHT_CODE);
	check_colours(HIGHLIGHT_CODE, "s = '''a", "....ssss", HIGHLIGHT_TRIPLE_SINGLE);
	check_colours(HIGHLIGHT_TRIPLE_SINGLE, "if \"\"\" # b", "ssssssssss",
		      HIGHLIGHT_TRIPLE_SINGLE);
	check_colours(HIGHLIGHT_TRIPLE_SINGLE, "''' is", "sss.kk", HIGHLIGHT_CODE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(borders_join),
		cmocka_unit_test(text_is_cut_and_made_safe),
		cmocka_unit_test(half_a_wide_character_goes),
		cmocka_unit_test(a_window_clips),
		cmocka_unit_test(a_theme_is_read),
		cmocka_unit_test(a_bad_theme_is_refused),
		cmocka_unit_test(every_key_has_a_command_and_help),
		cmocka_unit_test(a_key_is_bound_anew),
		cmocka_unit_test(a_key_has_another_meaning_in_a_view),
		cmocka_unit_test(a_config_binds_keys),
		cmocka_unit_test(text_is_put_into_a_clipboard),
		cmocka_unit_test(the_prompt_edits),
		cmocka_unit_test(python_has_colours),
	};

	return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
