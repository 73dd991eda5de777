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

static int open_jobs(void **state)
{
	return stage_begin(state, "jobs.jsonl");
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
	return stage->engine.session.choice.selection.rank;
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
	assert_null(stage->app.view.message.text);
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
	stage_check_shows(stage, "┌Merged stacks");
	click(stage, "└ all_reduce");
	stage_check_shows(stage, "├Rank 0 · all_reduce");
	click_twice(stage, "└ load_batch");
	assert_int_equal(view->kind, VIEW_HOME);
	assert_int_equal(selected(stage), 3);
	click(stage, "diff");
	click(stage, "- load_batch");
	assert_int_equal(view->cursors[VIEW_DIFF], 2);
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
	stage_check_shows(stage, "├Source · train.py · rank 3");
	stage_check_shows(stage, "│   4             # storage");
	assert_int_equal(view->pane, PANE_GRID);
	wheel(stage, "storage", true);
	stage_check_shows(stage, "│   1 def");
	wheel(stage, "train.py:13", false);
	assert_int_equal(session_selected_depth(&stage->engine.session), 2);
	stage_keys(stage, "?");
	wheel(stage, "Keys", false);
	assert_int_equal(view->cursors[view->kind], 3);
}

static void a_job_is_clicked(void **state)
{
	struct stage *stage = *state;

	click(stage, "finetune.py");
	assert_int_equal(stage->app.view.cursors[VIEW_JOBS], 1);
	click_twice(stage, "finetune.py");
	assert_int_equal(stage->engine.session.job, 1);
}

/* Types keys one by one; "~" is a Tab, "^" a Shift-Tab. */
static void type(struct stage *stage, const char *text)
{
	static const char marks[] = "~^ ";
	static const char *const names[] = { "Tab", "S-Tab", "Space" };

	for (; *text != '\0'; text++) {
		const char *mark = strchr(marks, *text);
		char key[2] = { *text, '\0' };

		app_key(&stage->app, mark != NULL ? names[mark - marks] : key);
	}
}

/* All that a person did is as it was, at another time of the recording. */
static void seeking_keeps_what_was_done(void **state)
{
	struct stage *stage = *state;
	struct engine *engine = &stage->engine;

	engine->is_screen = true;
	stage_keys(stage, "Down Enter N /");
	type(stage, "train");
	stage_check_shows(stage, "/train");
	engine_seek(engine, engine->session.now - 1);
	stage_check_shows(stage, "16 ranks");
	stage_check_shows(stage, "/train");
	assert_true(engine->session.choice.shows_native);
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
			snprintf(line, sizeof(line), "click %d %d%s", at / 81 + 1, at % 81 + 1,
				 at % 2 > 0 ? " open" : "");
			commands_run(&stage->app, line);
		}
	commands_run(&stage->app, "click 0 1");
	stage_check_shows(stage, "click takes a row, a column [open]");
	commands_run(&stage->app, "wheel 1 1 left");
	stage_check_shows(stage, "wheel takes a row, a column, up or down");
}

struct completion {
	const char *typed;
	const char *line;
	const char *offers; /* the candidates, with blanks between; "": none */
};

static const struct completion completions[] = {
	{ "mer~", "merged ", "" },
	{ "granularity ~", "granularity ", "line function file" },
	{ "granularity f~", "granularity f", "function file" },
	{ "granularity f~~", "granularity function", "function file" },
	{ "granularity f~~~", "granularity file", "function file" },
	{ "granularity f~~~~", "granularity function", "function file" },
	{ "granularity f~^", "granularity file", "function file" },
	{ "granularity fu~", "granularity function ", "" },
	{ "rank n~", "rank next ", "" },
	{ "rank 3~", "rank 3 ", "" },
	{ "focus st~",
	  "focus state=", "state=running state=waiting state=sleeping state=stopped state=exited" },
	{ "focus @~", "focus @odd ", "" },
	{ "set as~", "set ascii ", "" },
	{ "set ascii ~", "set ascii o", "on off" },
	{ "theme li~", "theme light ", "" },
	{ "nosuch x~", "nosuch x", "" },
	{ "'open quote~", "'open quote", "" },
	{ "zoom ~", "zoom ", "" },
};

static void Tab_completes(void **state)
{
	struct stage *stage = *state;
	struct prompt *prompt = &stage->app.view.prompt;
	char *themes = xasprintf("%s/themes", stage_folder());

	setenv("PROBETUI_THEMES", themes, 1);
	free(themes);
	commands_run(&stage->app, "name odd 3");
	for (size_t i = 0; i < ARRAY_LENGTH(completions); i++) {
		struct buffer offers = BUFFER_INIT;

		app_key(&stage->app, ":");
		type(stage, completions[i].typed);
		for (size_t j = 0; j < prompt->candidates.count; j++)
			buffer_printf(&offers, "%s%s", j > 0 ? " " : "",
				      prompt->candidates.items[j]);
		assert_string_equal(prompt->text.data, completions[i].line);
		assert_string_equal(offers.data, completions[i].offers);
		buffer_clear(&offers);
		app_key(&stage->app, "Esc");
	}
	app_key(&stage->app, ":");
	type(stage, "granularity f~~");
	stage_check_shows(stage, ":granularity function   function  file");
	/* Another key ends the choice. */
	type(stage, "x");
	stage_check_shows(stage, ":granularity functionx\n");
	app_key(&stage->app, "Esc");
	/* In the middle of a line, and of what is before the cursor alone. */
	app_key(&stage->app, ":");
	type(stage, "mer next");
	for (int i = 0; i < 5; i++)
		app_key(&stage->app, "Left");
	type(stage, "~");
	assert_string_equal(prompt->text.data, "merged  next");
	app_key(&stage->app, "Esc");
	/* Of a prompt that is half a command already. */
	app_key(&stage->app, "@");
	type(stage, "ou~");
	assert_string_equal(prompt->text.data, "outlier ");
}

static void the_history_is_walked(void **state)
{
	struct stage *stage = *state;
	struct prompt *prompt = &stage->app.view.prompt;

	stage_keys(stage, ": u p Enter : d o w n Enter : z o o m Enter");
	stage_keys(stage, ": x Up");
	assert_string_equal(prompt->text.data, "zoom");
	stage_keys(stage, "C-p Up Up");
	assert_string_equal(prompt->text.data, "up");
	stage_keys(stage, "Down C-n Down Down");
	assert_string_equal(prompt->text.data, "x");
	stage_keys(stage, "C-u o C-r");
	assert_string_equal(prompt->text.data, "zoom");
	stage_keys(stage, "C-r");
	assert_string_equal(prompt->text.data, "down");
	stage_keys(stage, "C-r");
	assert_string_equal(prompt->text.data, "down");
	stage_keys(stage, "C-a C-f C-k");
	assert_string_equal(prompt->text.data, "d");
	/* A text to search for is no command. */
	stage_keys(stage, "Esc / Up");
	assert_string_equal(prompt->text.data, "");
}

static const struct cell *cell_of(struct stage *stage, const char *text)
{
	struct input at = find(stage, text);

	return canvas_cell(&stage->app.canvas, at.row, at.column);
}

static void a_search_shows_as_it_is_typed(void **state)
{
	struct stage *stage = *state;
	const struct view *view = &stage->app.view;

	stage->app.view.pane = PANE_SOURCE;
	stage_keys(stage, "/ t r a i n");
	stage_check_shows(stage, "/train   1 of 2");
	assert_int_equal(view->source_line, 8);
	assert_int_equal(cell_of(stage, "train():")->style, STYLE_FOUND);
	assert_int_equal(cell_of(stage, "load_batch(step")->style, STYLE_TEXT);
	stage_keys(stage, "x");
	stage_check_shows(stage, "/trainx   not found");
	assert_int_equal(view->source_line, 0);
	stage_keys(stage, "Backspace Enter");
	stage_check_shows(stage, " train: 1 of 2");
	stage_keys(stage, ".");
	stage_check_shows(stage, " train: 2 of 2");
	assert_int_equal(view->source_line, 19);
	stage_keys(stage, ",");
	stage_check_shows(stage, " train: 1 of 2");
	/* Given up, it is as it was. */
	stage_keys(stage, "/ r a n k Esc");
	assert_int_equal(view->source_line, 8);
	assert_string_equal(view->search.text, "train");
	stage_keys(stage, "Esc");
	assert_false(view->search.has_marks);
	assert_int_not_equal(cell_of(stage, "train():")->style, STYLE_FOUND);
}

static void each_view_is_searched(void **state)
{
	struct stage *stage = *state;
	const struct view *view = &stage->app.view;

	stage_keys(stage, "0 Enter / s l e e p");
	assert_int_equal(selected(stage), 3);
	stage_check_shows(stage, "1 of 1");
	assert_int_equal(cell_of(stage, "sleep ─")->style, STYLE_FOUND);
	stage_keys(stage, "Esc");
	assert_int_equal(selected(stage), 0);
	stage_keys(stage, "M Home / a l l _ Enter");
	stage_check_shows(stage, "all_: 1 of 1");
	assert_int_equal(cell_of(stage, "all_reduce    ")->style, STYLE_FOUND);
	stage_keys(stage, "? / f r a m e Enter");
	assert_true(view->cursors[view->kind] > 0);
	assert_int_equal(view->search.has_marks, true);
	/* The log is at its end, wherever that is. */
	stage_keys(stage, "Esc L / n o s u c h");
	stage_check_shows(stage, "not found");
	stage_keys(stage, "Esc Esc D .");
	stage_check_shows(stage, "difference: ");
	assert_false(view->search.has_marks);
}

#define ON_HUNG8(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_HUNG8(a_click_chooses_a_rank),
		ON_HUNG8(a_second_click_opens),
		ON_HUNG8(a_click_chooses_in_each_pane),
		ON_HUNG8(the_wheel_moves_what_is_under_it),
		cmocka_unit_test_setup_teardown(a_job_is_clicked, open_jobs, stage_end),
		cmocka_unit_test_setup_teardown(seeking_keeps_what_was_done, open_jobs, stage_end),
		ON_HUNG8(any_place_may_be_clicked),
		ON_HUNG8(Tab_completes),
		ON_HUNG8(the_history_is_walked),
		ON_HUNG8(a_search_shows_as_it_is_typed),
		ON_HUNG8(each_view_is_searched),
	};

	return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
