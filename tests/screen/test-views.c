/*
 * What the views do when a person acts: keys and command lines on a stage,
 * and what the screen, the log and the engine say then.
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
#include "base/log.h"
#include "base/loop.h"
#include "protocol/message.h"
#include "stage.h"
#include "ui/commands.h"
#include "ui/pane.h"

/* loop_timer_stop is counted on its way. */
void __real_loop_timer_stop(struct loop_timer *timer);
void __wrap_loop_timer_stop(struct loop_timer *timer);
static int stopped_timers;

void __wrap_loop_timer_stop(struct loop_timer *timer)
{
	stopped_timers++;
	__real_loop_timer_stop(timer);
}

static void a_deferred_draw_leaves_no_timer(void **state)
{
	struct stage *stage = *state;
	struct app *app = &stage->app;

	stopped_timers = 0;
	for (int i = 0; i < 3; i++) {
		/* The second of two at once has to wait. */
		app->is_changed = true;
		app_draw_if_due(app);
		app->drawn_at += 0.1;
		app->is_changed = true;
		app_draw_if_due(app);
		assert_non_null(app->draw_timer);
		while (app->draw_timer != NULL)
			loop_turn(app->engine->loop);
	}
	assert_int_equal(stopped_timers, 3);
}

/* The draw before it changed nothing: nobody saw it. */
static void a_key_waits_for_no_idle_draw(void **state)
{
	struct stage *stage = *state;
	struct app *app = &stage->app;

	app->is_changed = true;
	app_draw_if_due(app);
	/* However late this test runs: a draw is due in a second. */
	app->drawn_at += 1;
	app->shown_at -= 1;
	app->is_changed = true;
	app_draw_if_due(app);
	assert_non_null(app->draw_timer);
	app_key(app, "M");
	app_draw_if_due(app);
	assert_null(app->draw_timer);
	assert_false(app->is_changed);
	/* That one was seen. */
	assert_true(app->shown_at == app->drawn_at);
	app->shown_at += 1;
	app_key(app, "M");
	app_draw_if_due(app);
	assert_non_null(app->draw_timer);
	while (app->draw_timer != NULL)
		loop_turn(app->engine->loop);
}

/* Each needle is in the source; none may be taken for shell words. */
static void any_text_is_searched(void **state)
{
	static const char *const keys[] = {
		"/ # Enter",
		"/ \" g l o Enter",
		"/ ( \" g Enter",
		"/ 3 Space a n d Enter",
	};
	static const int lines[] = { 4, 9, 9, 2 };
	struct stage *stage = *state;

	for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
		stage_keys(stage, "3 Enter");
		stage->app.view.pane = PANE_SOURCE;
		stage->app.view.source_line = 0;
		stage_keys(stage, keys[i]);
		if (stage->app.view.message.is_error)
			fail_msg("%s: %s", keys[i], stage->app.view.message.text);
		assert_int_equal(stage->app.view.source_line, lines[i]);
	}
	stage_keys(stage, "/ ' \" Enter");
	assert_string_equal(stage->app.view.message.text, "not found: '\"");
}

static void expect_focus(struct stage *stage, const char *keys, const char *focus)
{
	const struct session *session = &stage->engine.session;
	struct buffer text = BUFFER_INIT;

	stage_keys(stage, keys);
	rankset_append(&text, &session->choice.focus);
	if (session->choice.is_focus_all)
		buffer_append_string(&text, " all");
	if (strcmp(text.data, focus) != 0)
		fail_msg("%s: focus %s, not %s", keys, text.data, focus);
	buffer_clear(&text);
}

static void keys_choose_the_focus(void **state)
{
	struct stage *stage = *state;

	expect_focus(stage, "", "0-7 all");
	expect_focus(stage, "Space", "3");
	expect_focus(stage, "] Space", "3-4");
	stage_check_shows(stage, "focus 3-4 (2)");
	stage_check_shows(stage, "\u250c0 \u25cb wait");
	expect_focus(stage, "I", "0-2,5-7");
	stage_check_shows(stage, "3 \u25c7 sleep");
	expect_focus(stage, "A", "0-7 all");
	expect_focus(stage, "I", "0-7 all");
	stage_check_shows(stage, "no rank matches '!focus'");
	expect_focus(stage, "Space", "4");
	expect_focus(stage, "Space", "0-7 all");
	expect_focus(stage, "@ 0 - 3 , ! 1 Enter", "0,2-3");
	expect_focus(stage, "@ 0 - 3 , x Enter", "0,2-3");
	stage_check_shows(stage, "column 5: 'x' is not a set of ranks");
	stage_keys(stage, ": n a m e Space a Space o u t l i e r Enter");
	expect_focus(stage, "@ @ a Enter", "3");
}

static void a_class_is_focused(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, ": g r i d Space t a b l e Enter H Home");
	expect_focus(stage, "Space", "0-2,4-7");
	expect_focus(stage, "Space", "0-7 all");
	expect_focus(stage, "Down Space", "0");
}

static void a_branch_is_focused(void **state)
{
	struct stage *stage = *state;

	expect_focus(stage, "M Home Space", "0-7");
	expect_focus(stage, "Down Down Space", "0-2,4-7");
	expect_focus(stage, "Space", "0-7 all");
	expect_focus(stage, "End Space", "3");
	expect_focus(stage, "? Space", "3");
	stage_check_shows(stage, "no rank under the cursor");
}

static void each_pane_is_searched(void **state)
{
	struct stage *stage = *state;
	struct app *app = &stage->app;

	stage_keys(stage, "0 Enter / s l e e p Enter");
	assert_int_equal(stage->engine.session.choice.selection.rank, 3);
	app->view.pane = PANE_STACK;
	stage_keys(stage, "/ m o d u l e Enter");
	assert_int_equal(session_selected_depth(&stage->engine.session), 2);
	app->view.pane = PANE_LOCALS;
	stage_keys(stage, "d d / r a n k Enter");
	assert_int_equal(app->view.locals_cursor, 1);
}

/* 19 lines in 12 rows: the cursor is in the middle where there is room. */
static void no_key_is_lost_in_the_source(void **state)
{
	struct stage *stage = *state;
	const struct view *view = &stage->app.view;

	stage->app.view.pane = PANE_SOURCE;
	stage_check_shows(stage, "│   1 def load_batch");
	stage_keys(stage, "Down Down Down");
	assert_int_equal(view->source_line, 8);
	stage_check_shows(stage, "├Source");
	stage_check_shows(stage, "│   2     if rank");
	stage_check_hides(stage, "│   1 def load_batch");
	stage_keys(stage, "End");
	assert_int_equal(view->source_line, 19);
	stage_check_shows(stage, "│  19 train()");
	for (int i = 0; i < 5; i++)
		stage_keys(stage, "Down");
	stage_keys(stage, "Up");
	assert_int_equal(view->source_line, 18);
	stage_keys(stage, "Home");
	assert_int_equal(view->source_line, 1);
	stage_check_shows(stage, "│   1 def load_batch");
}

static void what_a_recording_lacks_is_not_recorded(void **state)
{
	struct stage *stage = *state;

	stage->engine.session.is_replay = true;
	stage_check_shows(stage, "replay 0:34, end");
	stage_keys(stage, "0 Enter");
	stage->engine.session.choice.selection.depth = 0;
	stage_check_shows(stage, "not recorded");
	stage_keys(stage, "R");
	stage_check_shows(stage, "refresh needs a running job, not a recording");
}

static void a_node_that_is_gone_is_named(void **state)
{
	struct stage *stage = *state;

	session_lose_node(&stage->engine.session, 0, "the node ended");
	session_judge(&stage->engine.session);
	stage->engine.session.choice.selection.rank = 0;
	stage->engine.session.choice.selection.depth = 0;
	stage_check_shows(stage, "node lost");
	stage_check_shows(stage, "not read: connection to");
	stage_check_shows(
		stage,
		"probetui-node lost; the job keeps running: quit (q) and start probetui again");
	stage_keys(stage, "R");
	stage_check_shows(stage, "cannot sample: connection to probetui-node lost;");
}

static void an_old_row_says_its_age(void **state)
{
	struct stage *stage = *state;

	commands_run(&stage->app, "grid table");
	stage->engine.session.now += 7;
	stage_check_shows(stage, "7s ago: all_reduce");
	commands_run(&stage->app, "grid cards");
	stage_check_shows(stage, "read 7s ago");
	stage_resize(stage, 10, 40);
	stage_check_shows(stage, "7s ago: ");
}

static void a_torn_rank_is_marked(void **state)
{
	struct stage *stage = *state;
	struct rank *rank = session_find_rank(&stage->engine.session, 3);

	rank->threads[0].sample.exactness = TORN;
	stage_check_shows(stage, "│~time.sleep");
	commands_run(&stage->app, "grid table");
	stage_check_shows(stage, " ~time.sleep");
	commands_run(&stage->app, "merged");
	stage_check_shows(stage, "~load_batch");
	commands_run(&stage->app, "diff");
	stage_check_shows(stage, "~ for 34 s┬");
}

static void apply(struct stage *stage, const char *line)
{
	struct error error = ERROR_INIT;
	struct message message;

	if (message_parse(&message, line, strlen(line), &error) < 0)
		fail_msg("%s", error.message);
	if (session_apply(&stage->engine.session, 0, &message, 34, &error) < 0)
		fail_msg("%s", error.message);
	message_clear(&message);
}

/* Rank 3 has frames of rec, and <module> around them. */
static void recurse(struct stage *stage, int frames)
{
	struct buffer line = BUFFER_INIT;

	buffer_append_string(&line, "{\"seq\":1,\"type\":\"event\",\"event\":\"sampled\",\"body\":{"
				    "\"pid\":4203,\"rank\":3,\"epoch\":99,\"time\":99.0,\"stacks\":"
				    "[{\"id\":99,\"dropped\":0,\"codes\":[[98,\"rec\",null,\"/home/"
				    "ana/job/train.py\",1,0],[99,\"<module>\",null,\"/home/ana/job/"
				    "train.py\",1,0]],\"frames\":[");
	for (int i = 0; i < frames; i++)
		buffer_append_string(&line, "[98,3],");
	buffer_append_string(&line, "[99,19]]}],\"threads\":[{\"tid\":4203,\"is_main\":true,"
				    "\"state\":\"running\",\"exact\":\"exact\",\"stack\":99}]}}");
	apply(stage, line.data);
	session_judge(&stage->engine.session);
	buffer_clear(&line);
}

static void a_recursion_is_one_row(void **state)
{
	struct stage *stage = *state;

	recurse(stage, 1000);
	stage_keys(stage, "3 Enter");
	stage_check_shows(stage, "… 998 more of rec");
	stage_keys(stage, "x");
	stage_check_shows(stage, "│▸ rec                train.py:3 │");
	stage_keys(stage, "x M");
	stage_check_shows(stage, "… 998 more of rec");
}

static void a_fold_stays_when_ranks_move(void **state)
{
	struct stage *stage = *state;
	struct rank *rank = session_find_rank(&stage->engine.session, 3);

	stage_keys(stage, "M Home x");
	stage_check_shows(stage, "<module> …");
	rank->process.state = PROCESS_EXITED;
	rank_update_state(rank);
	session_judge(&stage->engine.session);
	stage_check_shows(stage, "<module> …");
}

static void the_grid_is_seen_at_home(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "D G");
	stage_check_shows(stage, "grid works only in the home view");
}

static void few_rows_have_no_frame(void **state)
{
	static const struct {
		const char *key;
		const char *text;
	} views[] = {
		{ "M", "<mod" },
		{ "D", "≠ tra" },
		{ "?", "Keys" },
		{ "L", "" },
	};
	struct stage *stage = *state;

	stage_resize(stage, 5, 20);
	for (size_t i = 0; i < ARRAY_LENGTH(views); i++) {
		stage->app.view.cursors[VIEW_MERGED] = 0;
		stage_keys(stage, views[i].key);
		stage->app.view.cursors[VIEW_MERGED] = 0;
		stage_check_shows(stage, views[i].text);
		assert_int_equal(canvas_cell(&stage->app.canvas, 2, 0)->sides, 0);
		stage_keys(stage, "Esc Esc");
	}
}

/* Up and down, and the keys for differences, move a row at once. */
static void the_diff_has_a_cursor(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "D End");
	assert_int_equal(stage->app.view.cursors[VIEW_DIFF], 4);
	stage_keys(stage, "Up");
	assert_int_equal(stage->app.view.cursors[VIEW_DIFF], 3);
	stage_keys(stage, "Home .");
	assert_int_equal(stage->app.view.cursors[VIEW_DIFF], 1);
	app_draw(&stage->app);
	assert_true(canvas_cell(&stage->app.canvas, 4, 3)->emphasis & EMPHASIS_SELECTED);
}

static void two_ranks_are_compared(void **state)
{
	struct stage *stage = *state;

	commands_run(&stage->app, "diff 2 5");
	stage_check_shows(stage, "Diff · rank 2");
	stage_check_shows(stage, "┬rank 5 ");
	commands_run(&stage->app, "diff 2 99");
	stage_check_shows(stage, "rank 99 not found");
}

static void the_chooser_says_why(void **state)
{
	struct stage stage;

	(void)state;
	stage_open(&stage, "jobs.jsonl");
	stage_resize(&stage, 24, 80);
	stage.engine.session.choice.wanted_job = xstrdup("31313");
	stage_check_shows(&stage, "No job has port or launcher pid 31313; 2 jobs");
	stage_check_shows(&stage, "train.py ");
	stage_close(&stage);
}

/* From the list into a job and back; at its root q leaves, Esc does not. */
static void a_job_is_left_for_the_list(void **state)
{
	struct stage stage;
	struct app *app = &stage.app;

	(void)state;
	stage_open(&stage, "jobs.jsonl");
	stage_resize(&stage, 24, 80);
	stage_keys(&stage, "/ m p i r u n Enter");
	stage_check_shows(&stage, "\u25b8 finetune.py");
	stage_keys(&stage, "Up Enter");
	stage_check_shows(&stage, "train.py \u00b7 4 ranks");
	stage_keys(&stage, "Tab Esc");
	assert_int_equal(app->view.kind, VIEW_HOME);
	stage_keys(&stage, "Esc");
	assert_int_equal(app->view.kind, VIEW_JOBS);
	stage_check_shows(&stage, "\u25b8 train.py");
	stage_check_shows(&stage, "\u2713 All 16 ranks make progress");
	stage_keys(&stage, "Esc");
	assert_int_equal(app->view.kind, VIEW_JOBS);
	assert_false(app->is_done);
	stage_keys(&stage, "/ m p i r u n Enter Enter");
	stage_check_shows(&stage, "finetune.py \u00b7 16 ranks");
	stage_keys(&stage, "M q q");
	stage_check_shows(&stage, "\u25b8 finetune.py");
	stage_check_shows(&stage, "\u2717 3 of 4 ranks wait in all_reduce");
	stage_keys(&stage, "? q");
	assert_int_equal(app->view.kind, VIEW_JOBS);
	stage_keys(&stage, "q");
	assert_true(app->is_done);
	stage_close(&stage);
}

/* Where a job was open the list is a view like others. */
static void the_list_is_opened_at_any_time(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "M J");
	stage_check_shows(stage, "1 job found (Enter opens one)");
	stage_check_shows(stage, "\u2717 7 of 8 ranks wait");
	assert_true(stage->engine.lists_jobs);
	stage_keys(stage, "q");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
	assert_false(stage->engine.lists_jobs);
	stage_keys(stage, "J Enter");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
	assert_false(stage->app.is_done);
}

static void a_lost_node_finds_nothing(void **state)
{
	struct stage stage;

	(void)state;
	stage_open(&stage, "nothing.jsonl");
	session_lose_node(&stage.engine.session, 0, "gone");
	stage_check_shows(&stage, "not read: connection to probetui-node lost");
	stage_check_shows(&stage, "node lost\n");
	stage_close(&stage);
}

static void other_users_are_counted(void **state)
{
	struct stage stage;

	(void)state;
	stage_open(&stage, "nothing.jsonl");
	stage_resize(&stage, 24, 80);
	apply(&stage, "{\"seq\":1,\"type\":\"response\",\"request_seq\":2,\"command\":\"discover\","
		      "\"success\":true,\"body\":{\"looked_at\":2,\"uid\":1000,\"others\":1234,"
		      "\"bystanders\":[]}}");
	stage_check_shows(&stage,
			  "1,234 Python processes belong to other users: run `sudo probetui`");
	stage_close(&stage);
}

/* In a single small letter, all different from the marks of others. */
static void class_marks_differ_in_ascii(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	struct rank_class class = { .mark = 0 };
	struct canvas canvas;
	bool is_used[128] = { false };

	canvas_init(&canvas, 1, 1);
	for (class.mark = 0; class.mark < 29; class.mark++) {
		enum style style;
		int32_t mark = mark_of_class(session, &class, &style);
		int32_t ascii;

		window_put_character(canvas_window(&canvas), 0, 0, STYLE_TEXT, mark);
		canvas_make_ascii(&canvas);
		ascii = canvas_cell(&canvas, 0, 0)->codepoint;
		assert_in_range(ascii, '!', '~');
		assert_false(is_used[ascii]);
		is_used[ascii] = true;
	}
	canvas_clear(&canvas);
}

static void the_legend_says_how_long(void **state)
{
	struct stage *stage = *state;

	commands_run(&stage->app, "grid cells");
	stage_check_shows(stage, "34 s │");
}

static void a_cut_title_ends_at_the_corner(void **state)
{
	struct stage *stage = *state;

	stage_resize(stage, 10, 40);
	stage_keys(stage, "M");
	stage_check_shows(stage, "by line┐");
	stage_resize(stage, 10, 36);
	stage_check_shows(stage, "by…┐");
}

static bool is_logged(const char *text)
{
	for (size_t i = 0; log_line(i) != NULL; i++)
		if (strstr(log_line(i), text) != NULL)
			return true;
	return false;
}

static void an_error_is_kept_in_the_log(void **state)
{
	struct stage *stage = *state;

	log_set_quiet(1);
	commands_run(&stage->app, "nonsense");
	log_set_quiet(0);
	assert_true(is_logged("unknown command 'nonsense'"));
	stage_keys(stage, "L");
	stage_check_shows(stage, "unknown command 'nonsense'");
}

static void a_shell_command_says_where_it_works(void **state)
{
	static const char *const lines[] = { "locals", "diff 0 1", "wait", "where" };
	struct stage *stage = *state;

	log_set_quiet(1);
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
		commands_run(&stage->app, lines[i]);
		stage_check_shows(stage, " works only in a shell: use `probetui ");
	}
	log_set_quiet(0);
}

/* What a shell prints, of what the session has. */
static void a_shell_command_shows_what_is_known(void **state)
{
	static const struct {
		const char *line, *shows;
	} cases[] = {
		{ "verdict", "ranks wait in all_reduce" },
		{ "ranks", "load_batch" },
		{ "stacks --merge", "load_batch" },
		{ "stacks ranks 3", "rank 3" },
	};
	struct stage *stage = *state;

	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		commands_run(&stage->app, cases[i].line);
		assert_int_equal(stage->app.view.kind, VIEW_TEXT);
		stage_check_shows(stage, cases[i].shows);
		commands_run(&stage->app, "back");
	}
	log_set_quiet(1);
	commands_run(&stage->app, "doctor");
	log_set_quiet(0);
	stage_check_shows(stage, "the recording has no results of the command doctor");
}

static void a_long_error_is_not_cut(void **state)
{
	struct stage *stage = *state;

	stage->app.view.row_count = 24;
	stage->app.view.column_count = 80;
	view_say(&stage->app.view, true,
		 "this is a sentence that is longer than what one line of a usual terminal has "
		 "room for, with an end.");
	stage_check_shows(stage, "with an end.");
	view_say(&stage->app.view, false, NULL);
}

/* An opened variable's page that is there is asked for again, too. */
static void an_opened_variable_is_read_again(void **state)
{
	struct stage *stage = *state;
	struct locals_frame frame;
	struct locals_row *rows;
	size_t count;
	size_t pages = 0;

	stage_keys(stage, "u S-Tab Down Down Enter");
	stage_check_shows(stage, "- model");
	frame = locals_frame_selected(&stage->engine.session);
	rows = pane_locals_rows(&stage->engine.session, &stage->app.view, &frame, &count);
	for (size_t i = 0; i < count; i++)
		pages += rows[i].is_page && rows[i].address != 0;
	free(rows);
	assert_int_equal(pages, 1);
}

static void the_next_outlier_of_many_ranks(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "0 Enter { {");
	assert_int_equal(stage->engine.session.choice.selection.rank, 3);
	stage_keys(stage, "7 Enter } }");
	assert_int_equal(stage->engine.session.choice.selection.rank, 3);
}

static void settings_are_shown_and_set(void **state)
{
	struct stage *stage = *state;

	commands_run(&stage->app, "set");
	stage_check_shows(stage, "period          automatic");
	commands_run(&stage->app, "set period 2");
	assert_true(stage->engine.settings.period == 2);
	commands_run(&stage->app, "set ascii on");
	assert_true(stage->app.view.is_ascii);
	commands_run(&stage->app, "set theme nosuch");
	stage_check_shows(stage, "unknown theme 'nosuch'");
	assert_null(stage->engine.settings.theme);
	commands_run(&stage->app, "set mouse perhaps");
	stage_check_shows(stage, "mouse: 'perhaps' is neither on nor off");
	commands_run(&stage->app, "set read-only on");
	stage_check_shows(stage, "read-only cannot be changed while probetui runs");
}

static void frames_are_counted(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "0 Enter");
	commands_run(&stage->app, "up 99");
	assert_null(stage->app.view.message.text);
	commands_run(&stage->app, "up 2");
	stage_check_shows(stage, "the selected frame is the outermost frame");
	commands_run(&stage->app, "down 99");
	assert_int_equal(session_selected_depth(&stage->engine.session), 0);
	commands_run(&stage->app, "down");
	stage_check_shows(stage, "the selected frame is the innermost frame");
	commands_run(&stage->app, "up none");
	stage_check_shows(stage, "'none'");
}

static void an_answer_of_one_line_leaves_the_view(void **state)
{
	struct stage *stage = *state;

	commands_run(&stage->app, "set timeout");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
	stage_check_shows(stage, "timeout 5");
	stage_keys(stage, "Down");
	stage_check_hides(stage, "timeout 5");
	/* A longer answer, or more of it than fits beside a view. */
	commands_run(&stage->app, "set");
	assert_int_equal(stage->app.view.kind, VIEW_TEXT);
	stage_keys(stage, "Esc");
	stage_resize(stage, 5, 30);
	commands_run(&stage->app, "set threads one");
	assert_int_equal(stage->app.view.kind, VIEW_TEXT);
}

#define ON_HUNG8(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_HUNG8(a_deferred_draw_leaves_no_timer),
		ON_HUNG8(a_key_waits_for_no_idle_draw),
		ON_HUNG8(any_text_is_searched),
		ON_HUNG8(keys_choose_the_focus),
		ON_HUNG8(a_class_is_focused),
		ON_HUNG8(a_branch_is_focused),
		ON_HUNG8(each_pane_is_searched),
		ON_HUNG8(no_key_is_lost_in_the_source),
		ON_HUNG8(what_a_recording_lacks_is_not_recorded),
		ON_HUNG8(a_node_that_is_gone_is_named),
		ON_HUNG8(an_old_row_says_its_age),
		ON_HUNG8(a_torn_rank_is_marked),
		ON_HUNG8(a_recursion_is_one_row),
		ON_HUNG8(a_fold_stays_when_ranks_move),
		ON_HUNG8(the_grid_is_seen_at_home),
		ON_HUNG8(few_rows_have_no_frame),
		ON_HUNG8(the_diff_has_a_cursor),
		ON_HUNG8(two_ranks_are_compared),
		cmocka_unit_test(the_chooser_says_why),
		cmocka_unit_test(a_job_is_left_for_the_list),
		ON_HUNG8(the_list_is_opened_at_any_time),
		cmocka_unit_test(a_lost_node_finds_nothing),
		cmocka_unit_test(other_users_are_counted),
		ON_HUNG8(class_marks_differ_in_ascii),
		ON_HUNG8(the_legend_says_how_long),
		ON_HUNG8(a_cut_title_ends_at_the_corner),
		ON_HUNG8(an_error_is_kept_in_the_log),
		ON_HUNG8(a_long_error_is_not_cut),
		ON_HUNG8(a_shell_command_says_where_it_works),
		ON_HUNG8(a_shell_command_shows_what_is_known),
		ON_HUNG8(an_opened_variable_is_read_again),
		ON_HUNG8(the_next_outlier_of_many_ranks),
		ON_HUNG8(settings_are_shown_and_set),
		ON_HUNG8(frames_are_counted),
		ON_HUNG8(an_answer_of_one_line_leaves_the_view),
	};

	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
