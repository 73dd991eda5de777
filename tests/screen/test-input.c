/*
 * What hands do: the mouse by what was drawn, and the line that is typed,
 * on a stage.
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
#include "base/text.h"
#include "stage.h"
#include "ui/commands.h"
#include "ui/input.h"
#include "ui/pane.h"

static int open_named(void **state, const char *name)
{
	struct stage *stage = calloc(1, sizeof(*stage));

	assert_non_null(stage);
	stage_open(stage, name);
	stage_resize(stage, 24, 80);
	*state = stage;
	return 0;
}

static int open_hung8(void **state)
{
	return open_named(state, "hung8.jsonl");
}

static int open_jobs(void **state)
{
	return open_named(state, "jobs.jsonl");
}

static int close_stage(void **state)
{
	stage_close(*state);
	free(*state);
	return 0;
}

static void check_shows(struct stage *stage, const char *text)
{
	struct buffer drawn = BUFFER_INIT;

	stage_draw(stage, &drawn);
	if (strstr(drawn.data, text) == NULL)
		fail_msg("'%s' is not on the screen:\n%s", text, drawn.data);
	buffer_clear(&drawn);
}

/* Where text is on the screen as it is drawn now; fails where it is not. */
static struct input find(struct stage *stage, const char *text)
{
	struct input input = { .kind = INPUT_PRESS };
	struct buffer drawn = BUFFER_INIT;
	char *found;
	char *line;

	stage_draw(stage, &drawn);
	found = strstr(drawn.data, text);
	if (found == NULL)
		fail_msg("'%s' is not on the screen:\n%s", text, drawn.data);
	*found = '\0';
	line = drawn.data;
	for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
		input.row++;
	input.column = text_width(line);
	buffer_clear(&drawn);
	return input;
}

static void click(struct stage *stage, const char *text)
{
	struct input input = find(stage, text);

	/* A press long after the last. */
	stage->app.press.at = 0;
	app_mouse(&stage->app, &input);
}

static void click_twice(struct stage *stage, const char *text)
{
	struct input input = find(stage, text);

	stage->app.press.at = 0;
	app_mouse(&stage->app, &input);
	app_mouse(&stage->app, &input);
}

static void wheel(struct stage *stage, const char *text, bool is_up)
{
	struct input input = find(stage, text);

	input.kind = is_up ? INPUT_WHEEL_UP : INPUT_WHEEL_DOWN;
	app_mouse(&stage->app, &input);
}

static int selected(const struct stage *stage)
{
	return stage->engine.session.selection.rank;
}

static void a_click_chooses_a_rank(void **state)
{
	static const char *const grids[] = { "cards", "table", "cells" };
	static const char *const places[] = { "5 ● wait", "   5    4205 wait", "●●" };
	static const int ranks[] = { 5, 5, 1 };
	struct stage *stage = *state;

	for (size_t i = 0; i < ARRAY_LENGTH(grids); i++) {
		char *line = xasprintf("grid %s", grids[i]);
		struct input input;

		commands_run(&stage->app, line);
		free(line);
		stage_keys(stage, "7 Enter");
		stage->app.view.pane = PANE_LOCALS;
		input = find(stage, places[i]);
		/* Not the border left of it. */
		input.column++;
		app_mouse(&stage->app, &input);
		assert_int_equal(selected(stage), ranks[i]);
		assert_int_equal(stage->app.view.pane, PANE_GRID);
	}
	assert_null(stage->app.view.message);
}

static void a_second_click_opens(void **state)
{
	struct stage *stage = *state;

	click_twice(stage, "5 ● wait");
	assert_int_equal(selected(stage), 5);
	assert_int_equal(stage->app.view.pane, PANE_SOURCE);
	/* At another place it is a first one. */
	click(stage, "6 ● wait");
	stage->app.press.column--;
	click(stage, "6 ● wait");
	assert_int_equal(stage->app.view.pane, PANE_GRID);
}

static void a_click_chooses_in_each_pane(void **state)
{
	struct stage *stage = *state;
	const struct view *view = &stage->app.view;

	click(stage, "  train             train.py:13");
	assert_int_equal(session_selected_depth(&stage->engine.session), 1);
	assert_int_equal(view->pane, PANE_STACK);
	click(stage, "Locals · train");
	assert_int_equal(view->pane, PANE_LOCALS);
	click(stage, "Source · train.py");
	assert_int_equal(view->pane, PANE_SOURCE);
	stage_keys(stage, "d");
	click(stage, "  rank  3");
	assert_int_equal(view->locals_cursor, 1);
	click(stage, "merged");
	check_shows(stage, "┌Merged stacks");
	click(stage, "└ all_reduce");
	check_shows(stage, "├Rank 0 · all_reduce");
	click_twice(stage, "└ load_batch");
	assert_int_equal(view->kind, VIEW_HOME);
	assert_int_equal(selected(stage), 3);
	click(stage, "diff");
	click(stage, "- load_batch");
	assert_int_equal(view->diff_cursor, 2);
	/* Of two keys each is its own. */
	click(stage, "] rank");
	assert_int_equal(selected(stage), 4);
	click(stage, "[ ] rank");
	assert_int_equal(selected(stage), 3);
}

static void the_wheel_moves_what_is_under_it(void **state)
{
	struct stage *stage = *state;
	const struct view *view = &stage->app.view;

	wheel(stage, "load_batch(step, rank)", false);
	check_shows(stage, "├Source · train.py · rank 3");
	check_shows(stage, "│   4             # storage");
	assert_int_equal(view->pane, PANE_GRID);
	wheel(stage, "storage", true);
	check_shows(stage, "│   1 def");
	wheel(stage, "train.py:13", false);
	assert_int_equal(session_selected_depth(&stage->engine.session), 2);
	stage_keys(stage, "?");
	wheel(stage, "Keys", false);
	assert_int_equal(view->text_scroll, 3);
}

static void a_job_is_clicked(void **state)
{
	struct stage *stage = *state;

	click(stage, "finetune.py");
	assert_int_equal(stage->app.view.job_cursor, 1);
	click_twice(stage, "finetune.py");
	assert_int_equal(stage->engine.session.job, 1);
}

static void any_place_may_be_clicked(void **state)
{
	static const char *const kinds[] = { "home", "M", "D", "?", "L" };
	struct stage *stage = *state;
	char line[64];

	for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
		for (int at = 0; at < 25 * 81; at += 7) {
			struct buffer drawn = BUFFER_INIT;

			stage_keys(stage, "Esc Esc");
			stage_keys(stage, i > 0 ? kinds[i] : "Esc");
			stage_draw(stage, &drawn);
			buffer_clear(&drawn);
			snprintf(line, sizeof(line), "click %d %d%s",
				 at / 81 + 1, at % 81 + 1,
				 at % 2 > 0 ? " open" : "");
			commands_run(&stage->app, line);
		}
	commands_run(&stage->app, "click 0 1");
	check_shows(stage, "click takes a row, a column [open].");
	commands_run(&stage->app, "wheel 1 1 left");
	check_shows(stage, "wheel takes a row, a column, up or down.");
}

#define ON_HUNG8(test)                                                         \
	cmocka_unit_test_setup_teardown(test, open_hung8, close_stage)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_HUNG8(a_click_chooses_a_rank),
		ON_HUNG8(a_second_click_opens),
		ON_HUNG8(a_click_chooses_in_each_pane),
		ON_HUNG8(the_wheel_moves_what_is_under_it),
		cmocka_unit_test_setup_teardown(a_job_is_clicked, open_jobs,
						close_stage),
		ON_HUNG8(any_place_may_be_clicked),
	};

	return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
