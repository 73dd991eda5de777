/*
 * How each theme looks on terminals of 256, 16, 8 and no colours: the look of
 * each cell of home, not its character; that what is written can be read; and
 * where theme files are found.
 *
 * A picture has a letter a cell, and below what each letter stands for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "stage.h"

static const char *const themes[] = { "default", "light", "mono", "high-contrast" };

struct terminal_kind {
	const char *name;
	int colour_count;
};

static const struct terminal_kind kinds[] = {
	{ "256", 256 },
	{ "16", 16 },
	{ "mono", 0 },
};

struct picture {
	char name[64];
	const char *theme;
	int colour_count;
};

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

struct legend {
	struct shown_look looks[sizeof(letters)];
	size_t count;
};

static bool is_plain(const struct shown_look *look)
{
	return look->foreground < 0 && look->background < 0 && look->attributes == 0;
}

static char letter_of(struct legend *legend, const struct shown_look *look)
{
	size_t i = 0;

	if (is_plain(look))
		return '.';
	while (i < legend->count && memcmp(&legend->looks[i], look, sizeof(*look)) != 0)
		i++;
	assert_true(i < sizeof(letters) - 1);
	if (i == legend->count)
		legend->looks[legend->count++] = *look;
	return letters[i];
}

static void append_colour(struct buffer *out, int colour)
{
	if (colour < 0)
		buffer_append_string(out, "default");
	else
		buffer_printf(out, "%d", colour);
}

static void append_legend(struct buffer *out, const struct legend *legend)
{
	static const char *const names[] = { " bold", " dim", " italic", " underline", " reverse" };

	buffer_append_string(out, "\n. default on default\n");
	for (size_t i = 0; i < legend->count; i++) {
		const struct shown_look *look = &legend->looks[i];

		buffer_printf(out, "%c ", letters[i]);
		append_colour(out, look->foreground);
		buffer_append_string(out, " on ");
		append_colour(out, look->background);
		for (size_t j = 0; j < ARRAY_LENGTH(names); j++)
			if (look->attributes & (1 << j))
				buffer_append_string(out, names[j]);
		buffer_append_char(out, '\n');
	}
}

static void home_looks_so(void **state)
{
	const struct picture *picture = *state;
	struct legend legend = { .count = 0 };
	struct error error = ERROR_INIT;
	struct buffer drawn = BUFFER_INIT;
	struct stage stage;

	stage_open(&stage, "hung8.jsonl");
	stage_resize(&stage, 24, 80);
	if (app_set_theme(&stage.app, picture->theme, &error) < 0)
		fail_msg("%s", error.message);
	app_draw(&stage.app);
	for (int row = 0; row < 24; row++) {
		for (int column = 0; column < 80; column++) {
			const struct cell *cell = canvas_cell(&stage.app.canvas, row, column);
			struct shown_look look =
				theme_show_cell(&stage.app.theme, cell, picture->colour_count);

			buffer_append_char(&drawn, letter_of(&legend, &look));
		}
		buffer_append_char(&drawn, '\n');
	}
	append_legend(&drawn, &legend);
	stage_check_golden(picture->name, &drawn);
	stage_close(&stage);
	buffer_clear(&drawn);
}

/* xterm's colours; 16 and on by formula (its file 256colres.pl). */
static const unsigned char sixteen[16][3] = {
	{ 0, 0, 0 },	   { 205, 0, 0 },   { 0, 205, 0 },   { 205, 205, 0 },
	{ 0, 0, 238 },	   { 205, 0, 205 }, { 0, 205, 205 }, { 229, 229, 229 },
	{ 127, 127, 127 }, { 255, 0, 0 },   { 0, 255, 0 },   { 255, 255, 0 },
	{ 92, 92, 255 },   { 255, 0, 255 }, { 0, 255, 255 }, { 255, 255, 255 },
};

static int part_of(int colour, int part)
{
	static const int divisors[] = { 36, 6, 1 };
	int step;

	if (colour < 16)
		return sixteen[colour][part];
	if (colour >= 232)
		return 8 + 10 * (colour - 232);
	step = (colour - 16) / divisors[part] % 6;
	return step == 0 ? 0 : 55 + 40 * step;
}

/* sRGB's curve as WCAG 2 has it, near enough without a power: (x/255)^2.2. */
static double linear(int value)
{
	double x = value / 255.0;
	double square = x * x;
	double root = x;

	/* x^0.2 by Newton. */
	if (x <= 0)
		return 0;
	for (int i = 0; i < 60; i++)
		root -= (root * root * root * root * root - x) / (5 * root * root * root * root);
	return square * root;
}

static double luminance(int colour)
{
	return 0.2126 * linear(part_of(colour, 0)) + 0.7152 * linear(part_of(colour, 1)) +
	       0.0722 * linear(part_of(colour, 2));
}

/* WCAG 2, 1.4.3: 1 is none, 21 is black on white. */
static double contrast(int a, int b)
{
	double one = luminance(a) + 0.05;
	double other = luminance(b) + 0.05;

	return one > other ? one / other : other / one;
}

struct demand {
	const char *theme;
	int colour_count;
	double least;
	/* What default colours are; -1: none may be. */
	int foreground;
	int background;
};

static void what_is_written_can_be_read(void **state)
{
	static const struct demand demands[] = {
		{ "light", 256, 4.5, 16, 231 },	       { "light", 16, 3.9, 0, 15 },
		{ "high-contrast", 256, 7.0, -1, -1 }, { "high-contrast", 16, 7.0, -1, -1 },
		{ "high-contrast", 8, 7.0, -1, -1 },   { "default", 256, 2.6, 16, 231 },
		{ "default", 256, 4.5, 231, 16 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(demands); i++) {
		const struct demand *demand = &demands[i];
		struct error error = ERROR_INIT;
		struct theme theme;

		assert_int_equal(theme_load(&theme, demand->theme, &error), 0);
		for (int style = 0; style < STYLE_COUNT; style++) {
			struct shown_look look =
				theme_show(&theme, (enum style)style, 0, demand->colour_count);
			double got;

			/* Nothing is written in these. */
			if (style >= STYLE_HEAT_1 && style <= STYLE_HEAT_12)
				continue;
			if (look.foreground < 0)
				look.foreground = demand->foreground;
			if (look.background < 0)
				look.background = demand->background;
			assert_true(look.foreground >= 0);
			assert_true(look.background >= 0);
			got = contrast(look.foreground, look.background);
			if (got < demand->least)
				fail_msg(
					"%s, %d colours: style %d, %d on %d has a contrast of %.1f",
					demand->theme, demand->colour_count, style, look.foreground,
					look.background, got);
		}
	}
}

/* What a theme that is all of colours would leave unsaid where there is none:
 * the glyphs say it, and the outlier and the verdict stand out as well. */
static void nothing_is_said_by_colour_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(themes); i++) {
		struct error error = ERROR_INIT;
		struct theme theme;

		assert_int_equal(theme_load(&theme, themes[i], &error), 0);
		for (size_t j = 0; j < 2; j++) {
			static const enum style odd[] = { STYLE_OUTLIER, STYLE_VERDICT_BAD };

			assert_int_not_equal(theme_show(&theme, odd[j], 0, 0).attributes,
					     theme_show(&theme, STYLE_TEXT, 0, 0).attributes);
		}
		assert_true(theme_show(&theme, STYLE_TEXT, EMPHASIS_SELECTED, 0).attributes &
			    ATTRIBUTE_REVERSE);
	}
}

/* So low and high are told apart without telling hues apart. */
static void a_heat_map_grows_lighter(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(themes); i++) {
		struct error error = ERROR_INIT;
		struct theme theme;

		assert_int_equal(theme_load(&theme, themes[i], &error), 0);
		assert_int_equal(theme_has_heat(&theme, 256), strcmp(themes[i], "mono") != 0);
		assert_false(theme_has_heat(&theme, 16));
		assert_false(theme_has_heat(&theme, 0));
		for (int j = 1; j < STYLE_HEAT_COUNT && theme_has_heat(&theme, 256); j++) {
			enum style style = (enum style)(STYLE_HEAT_1 + j);
			int darker = theme_show(&theme, style - 1, 0, 256).foreground;
			int lighter = theme_show(&theme, style, 0, 256).foreground;

			assert_true(luminance(darker) < luminance(lighter));
		}
	}
}

static void halves_have_two_colours(void **state)
{
	struct cell cell = { .style = STYLE_HEAT_1, .lower = STYLE_HEAT_12 };
	struct error error = ERROR_INIT;
	struct shown_look look;
	struct theme theme;

	(void)state;
	assert_int_equal(theme_load(&theme, "default", &error), 0);
	look = theme_show_cell(&theme, &cell, 256);
	assert_int_equal(look.foreground, 53);
	assert_int_equal(look.background, 227);
	cell.lower = 0;
	assert_int_equal(theme_show_cell(&theme, &cell, 256).background, -1);
}

static void eight_colours_have_no_bright_ones(void **state)
{
	struct error error = ERROR_INIT;
	struct shown_look look;
	struct theme theme;

	(void)state;
	assert_int_equal(theme_parse(&theme,
				     "dim bright-black\n"
				     "title bright-blue on bright-red\n",
				     "t", &error),
			 0);
	look = theme_show(&theme, STYLE_DIM, 0, 8);
	assert_int_equal(look.foreground, -1);
	assert_int_equal(look.attributes, ATTRIBUTE_DIM);
	look = theme_show(&theme, STYLE_TITLE, 0, 8);
	assert_int_equal(look.foreground, 4);
	assert_int_equal(look.background, 1);
	assert_int_equal(look.attributes, ATTRIBUTE_BOLD);
}

static void write_theme(const char *folder, const char *name, const char *text)
{
	char *path = xasprintf("%s/probetui/themes/%s", folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	free(path);
}

static void remove_theme(const char *folder, const char *name)
{
	char *path = xasprintf("%s/probetui/themes/%s", folder, name);

	assert_int_equal(unlink(path), 0);
	free(path);
}

/* A folder of configuration with a themes folder in it. */
static void make_home(char *folder)
{
	char *path;

	assert_non_null(mkdtemp(folder));
	path = xasprintf("%s/probetui", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	free(path);
	path = xasprintf("%s/probetui/themes", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	free(path);
	setenv("XDG_CONFIG_HOME", folder, 1);
}

static void remove_home(const char *folder)
{
	char *path = xasprintf("%s/probetui/themes", folder);

	unsetenv("XDG_CONFIG_HOME");
	assert_int_equal(rmdir(path), 0);
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	free(path);
	assert_int_equal(rmdir(folder), 0);
}

static void check_problem(struct app *app, const char *name, const char *part)
{
	struct error error = ERROR_INIT;

	assert_int_equal(app_set_theme(app, name, &error), -1);
	if (strstr(error.message, part) == NULL)
		fail_msg("%s", error.message);
}

static void the_users_own_theme_comes_first(void **state)
{
	char folder[] = "/tmp/probetui-themes-XXXXXX";
	struct error error = ERROR_INIT;
	char *path = NULL;
	struct stage stage;

	(void)state;
	make_home(folder);
	write_theme(folder, "mono", "dim reverse\n");
	write_theme(folder, "broken", "dim\n\ndim reverse\n");
	write_theme(folder, "open", "dim\n");
	stage_open(&stage, "hung8.jsonl");
	assert_int_equal(app_set_theme(&stage.app, "mono", &error), 0);
	assert_int_equal(stage.app.theme.looks[STYLE_DIM].attributes, ATTRIBUTE_REVERSE);
	check_problem(&stage.app, "broken", "broken, line 3: style 'dim' is already set in line 1");
	check_problem(&stage.app, "nosuch",
		      "unknown theme 'nosuch' (themes: broken, default, high-contrast, light, "
		      "mono, open)");
	check_problem(&stage.app, "../mono", "is not a theme name");
	path = xasprintf("%s/probetui/themes/open", folder);
	assert_int_equal(chmod(path, 0666), 0);
	check_problem(&stage.app, "open", "as other users can write to the file");
	free(path);
	/* What was chosen stays. */
	assert_string_equal(stage.engine.settings.theme, "mono");
	stage_close(&stage);
	remove_theme(folder, "mono");
	remove_theme(folder, "broken");
	remove_theme(folder, "open");
	remove_home(folder);
}

static void themes_are_listed(void **state)
{
	struct buffer drawn = BUFFER_INIT;
	struct stage stage;

	(void)state;
	stage_open(&stage, "hung8.jsonl");
	stage_keys(&stage, ": t h e m e Space l i g h t Enter");
	assert_null(stage.app.view.message.text);
	assert_string_equal(stage.engine.settings.theme, "light");
	stage_keys(&stage, ": t h e m e Enter");
	stage_draw(&stage, &drawn);
	assert_non_null(strstr(drawn.data, "  default"));
	assert_non_null(strstr(drawn.data, "* light"));
	stage_close(&stage);
	buffer_clear(&drawn);
}

int main(void)
{
	static struct picture pictures[ARRAY_LENGTH(themes) * ARRAY_LENGTH(kinds)];
	struct CMUnitTest tests[ARRAY_LENGTH(pictures) + 7] = {
		cmocka_unit_test(what_is_written_can_be_read),
		cmocka_unit_test(nothing_is_said_by_colour_alone),
		cmocka_unit_test(eight_colours_have_no_bright_ones),
		cmocka_unit_test(a_heat_map_grows_lighter),
		cmocka_unit_test(halves_have_two_colours),
		cmocka_unit_test(the_users_own_theme_comes_first),
		cmocka_unit_test(themes_are_listed),
	};

	char *folder = xasprintf("%s/themes", stage_folder());

	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
	setenv("PROBETUI_THEMES", folder, 1);
	free(folder);
	for (size_t i = 0; i < ARRAY_LENGTH(pictures); i++) {
		struct picture *picture = &pictures[i];

		picture->theme = themes[i / ARRAY_LENGTH(kinds)];
		picture->colour_count = kinds[i % ARRAY_LENGTH(kinds)].colour_count;
		snprintf(picture->name, sizeof(picture->name), "theme-%s-%s", picture->theme,
			 kinds[i % ARRAY_LENGTH(kinds)].name);
		tests[7 + i] = (struct CMUnitTest){
			.name = picture->name,
			.test_func = home_looks_so,
			.initial_state = picture,
		};
	}
	return cmocka_run_group_tests_name("themes", tests, NULL, NULL);
}
