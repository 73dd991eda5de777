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

static int open_hung8(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));

	assert_non_null(stage);
	stage_open(stage, "hung8.jsonl");
	stage_resize(stage, 24, 80);
	*state = stage;
	return 0;
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

static void a_deferred_draw_leaves_no_timer(void **state)
{
	struct stage *stage = *state;
	struct app *app = &stage->app;

	stopped_timers = 0;
	for (int i = 0; i < 3; i++) {
		/* The second of two at once has to wait. */
		app->is_changed = true;
		app_draw_if_due(app);
		app->is_changed = true;
		app_draw_if_due(app);
		assert_non_null(app->draw_timer);
		while (app->draw_timer != NULL)
			loop_turn(app->engine->loop);
	}
	assert_int_equal(stopped_timers, 3);
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
		stage_keys(stage, keys[i]);
		if (stage->app.view.message != NULL)
			fail_msg("%s: %s", keys[i], stage->app.view.message);
		assert_int_equal(stage->app.view.source_scroll, lines[i] - 5);
	}
	stage_keys(stage, "/ ' \" Enter");
	assert_string_equal(stage->app.view.message,
			    "'\'\"' is not in this pane.");
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
	assert_true(is_logged("there is no command 'nonsense'"));
	stage_keys(stage, "L");
	check_shows(stage, "there is no command 'nonsense'");
}

static void a_shell_command_says_where_it_works(void **state)
{
	static const char *const lines[] = { "verdict", "ranks", "doctor",
					     "locals", "stacks --merge" };
	struct stage *stage = *state;

	log_set_quiet(1);
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
		commands_run(&stage->app, lines[i]);
		check_shows(stage, " works in a shell: probetui ");
	}
	log_set_quiet(0);
}

/* An opened variable's page that is there is asked for again, too. */
static void an_opened_variable_is_read_again(void **state)
{
	struct stage *stage = *state;
	struct locals_row *rows;
	size_t count;
	size_t pages = 0;

	stage_keys(stage, "u S-Tab Down Down Enter");
	check_shows(stage, "▾");
	rows = pane_locals_rows(&stage->engine.session, &stage->app.view,
				&count);
	for (size_t i = 0; i < count; i++)
		pages += rows[i].is_page && rows[i].address != 0;
	free(rows);
	assert_int_equal(pages, 1);
}

static void the_next_outlier_of_many_ranks(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "0 Enter { {");
	assert_int_equal(stage->engine.session.selection.rank, 3);
	stage_keys(stage, "7 Enter } }");
	assert_int_equal(stage->engine.session.selection.rank, 3);
}

#define ON_HUNG8(test)                                                         \
	cmocka_unit_test_setup_teardown(test, open_hung8, close_stage)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_HUNG8(a_deferred_draw_leaves_no_timer),
		ON_HUNG8(any_text_is_searched),
		ON_HUNG8(an_error_is_kept_in_the_log),
		ON_HUNG8(a_shell_command_says_where_it_works),
		ON_HUNG8(an_opened_variable_is_read_again),
		ON_HUNG8(the_next_outlier_of_many_ranks),
	};

	return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
