/*
 * What is typed and given up, refused, or found: on a stage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "stage.h"
#include "ui/commands.h"
#include "ui/input.h"

static int begin_jobs(void **state)
{
	return stage_begin(state, "jobs.jsonl");
}

static void click_middle(struct stage *stage)
{
	const struct input input = {
		.kind = INPUT_PRESS,
		.row = 12,
		.column = 40,
	};

	app_mouse(&stage->app, &input);
}

static void a_search_in_the_jobs_is_given_up(void **state)
{
	struct stage *stage = *state;
	const struct view *view = &stage->app.view;

	stage_keys(stage, "/ f i n e t");
	assert_int_equal(view->cursors[VIEW_JOBS], 1);
	/* Each key looks from where the search began. */
	stage_keys(stage, "Backspace Backspace");
	assert_int_equal(view->cursors[VIEW_JOBS], 1);
	stage_keys(stage, "Esc");
	assert_int_equal(view->cursors[VIEW_JOBS], 0);
}

static void a_click_gives_up_what_is_typed(void **state)
{
	struct stage *stage = *state;
	const struct view *view = &stage->app.view;

	stage_keys(stage, "z / s l e e p");
	assert_int_equal(stage->engine.session.choice.selection.rank, 3);
	click_middle(stage);
	assert_false(view->prompt.is_open);
	assert_false(view->search.has_marks);
	assert_null(view->search.text);
	stage_keys(stage, "\\ s l e e p Enter \\ x");
	click_middle(stage);
	assert_null(view->order.filter);
}

static void a_refused_line_comes_back(void **state)
{
	static const struct {
		const char *keys;
		const char *again;
		const char *line;
	} refused[] = {
		{ "@ 0 , x Enter", "@ Up", "focus @ 0,x" },
		{ ": n o s u c h Enter", ": Up", ":nosuch" },
		{ "9 9 Enter", "1 Up", "rank 99" },
		{ "/ n o w h e r e Enter", "/ Up", "/nowhere" },
	};
	struct stage *stage = *state;

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		stage_keys(stage, refused[i].keys);
		assert_true(stage->app.view.message.is_error);
		stage_keys(stage, refused[i].again);
		stage_check_shows(stage, refused[i].line);
		stage_keys(stage, "Down Esc");
	}
}

static void type(struct stage *stage, const char *text)
{
	for (; *text != '\0'; text++) {
		char key[2] = { *text, '\0' };

		app_key(&stage->app, *text == ' ' ? "Space" : key);
	}
}

/* The candidates for a file in folder, without it. */
static void check_files(struct stage *stage, const char *folder, const char *wanted)
{
	const struct candidates *candidates = &stage->app.view.prompt.candidates;
	struct buffer offered = BUFFER_INIT;

	stage_keys(stage, ":");
	type(stage, "record ");
	type(stage, folder);
	stage_keys(stage, "/ Tab");
	for (size_t i = 0; i < candidates->count; i++)
		buffer_printf(&offered, "%s ", candidates->items[i] + strlen(folder) + 1);
	assert_string_equal(offered.data, wanted);
	buffer_clear(&offered);
	stage_keys(stage, "Esc");
}

static void a_folder_ends_in_a_slash(void **state)
{
	struct stage *stage = *state;
	char folder[] = "/tmp/probetui-prompt-XXXXXX";
	int fd;

	assert_non_null(mkdtemp(folder));
	fd = open(folder, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mkdirat(fd, "folder", 0700), 0);
	assert_int_equal(symlinkat("folder", fd, "link"), 0);
	assert_int_equal(symlinkat("nowhere", fd, "lost"), 0);
	close(openat(fd, "file", O_CREAT | O_WRONLY, 0600));
	check_files(stage, folder, "file folder/ link/ lost ");
	unlinkat(fd, "folder", AT_REMOVEDIR);
	unlinkat(fd, "link", 0);
	unlinkat(fd, "lost", 0);
	unlinkat(fd, "file", 0);
	close(fd);
	rmdir(folder);
}

static void capitals_matter_where_they_are_typed(void **state)
{
	struct stage *stage = *state;
	const struct view *view = &stage->app.view;

	stage->app.view.pane = PANE_SOURCE;
	stage_keys(stage, "/ l i n e a r");
	stage_check_shows(stage, "/linear   1 of 1");
	assert_int_equal(view->source_line, 11);
	stage_keys(stage, "C-u L I N");
	stage_check_shows(stage, "not found");
}

/* A name that has a newline is one line all the same. */
static void a_newline_moves_no_line(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	char **script = &session->jobs[0].script;

	free(*script);
	*script = xstrdup("a\nb\nc");
	stage_keys(stage, "J Home / f i n e t Enter");
	assert_int_equal(stage->app.view.cursors[VIEW_JOBS], 1);
}

static void a_diff_is_with_a_whole_rank(void **state)
{
	struct stage *stage = *state;

	commands_run(&stage->app, "diff 2.7");
	stage_check_shows(stage, "rank 2.7 not found");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
	commands_run(&stage->app, "diff 2");
	assert_int_equal(stage->app.view.diff.rank, 2);
	commands_run(&stage->app, "diff 2.5s");
	assert_int_equal(stage->app.view.diff.against, DIFF_AGAINST_PAST);
	commands_run(&stage->app, "diff -1s");
	stage_check_shows(stage, "a time such as 10s");
}

static void the_header_says_how_often(void **state)
{
	struct stage *stage = *state;

	stage->app.view.period = 1;
	stage_check_shows(stage, " live 1/s ");
	stage->app.view.period = 1.5;
	stage_check_shows(stage, " live, every 1.5 s ");
}

#define ON_HUNG8(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)
#define ON_JOBS(test) cmocka_unit_test_setup_teardown(test, begin_jobs, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_JOBS(a_search_in_the_jobs_is_given_up),
		ON_HUNG8(a_click_gives_up_what_is_typed),
		ON_HUNG8(a_refused_line_comes_back),
		ON_HUNG8(a_folder_ends_in_a_slash),
		ON_HUNG8(capitals_matter_where_they_are_typed),
		ON_JOBS(a_newline_moves_no_line),
		ON_HUNG8(a_diff_is_with_a_whole_rank),
		ON_HUNG8(the_header_says_how_often),
	};

	return cmocka_run_group_tests_name("prompt", tests, NULL, NULL);
}
