/*
 * Every view at many sizes, with few ranks and with 1,024, wide and combining
 * characters, long names: nothing is drawn outside, nothing crashes, and a
 * frame costs little.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "protocol/message.h"
#include "stage.h"
#include "ui/commands.h"

#define MANY 1024
#define DRAWS 200

/* Command lines that lead from home to each way of looking. */
static const char *const looks[] = {
	"zoom",	      "grid table", "grid cells", "grid cards", "merged",      "diff 0",
	"help",	      "log",	    "console",	  "prompt",	"filter all_", "group class",
	"grid table", "expand",	    "group host", "grid cells", "expand",      "sort age",
};

/* The whole screen is columns wide in each row, wide characters included. */
static void check_rows(const struct canvas *canvas)
{
	for (int row = 0; row < canvas->row_count; row++) {
		int width = 0;

		for (int column = 0; column < canvas->column_count; column++) {
			const struct cell *cell = canvas_cell(canvas, row, column);

			width += cell->width;
			assert_true(cell->width <= 2);
			if (cell->width == 0)
				assert_int_equal(canvas_cell(canvas, row, column - 1)->width, 2);
		}
		assert_int_equal(width, canvas->column_count);
	}
}

static void draw_all_looks(struct stage *stage)
{
	struct app *app = &stage->app;

	for (size_t i = 0; i < ARRAY_LENGTH(looks); i++) {
		app_key(app, "Esc");
		app_key(app, "Esc");
		commands_run(app, looks[i]);
		app_draw(app);
		check_rows(&app->canvas);
	}
	app_key(app, "Esc");
	app_key(app, "Esc");
	app->view.grid = GRID_AUTOMATIC;
	commands_run(app, "group none");
	commands_run(app, "sort rank");
}

static void draw_all_sizes(struct stage *stage)
{
	for (int columns = 1; columns <= 210; columns += 1 + columns / 4) {
		for (int rows = 1; rows <= 60; rows += 1 + rows / 4) {
			stage_resize(stage, rows, columns);
			stage->app.view.is_ascii = rows % 2 == 0;
			draw_all_looks(stage);
		}
	}
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

/* Names as nobody should have them. */
static void add_many(struct stage *stage)
{
	struct buffer line = BUFFER_INIT;

	for (int rank = 0; rank < MANY; rank++) {
		int pid = 10000 + rank;

		buffer_reset(&line);
		buffer_printf(&line,
			      "{\"seq\":1,\"type\":\"event\",\"event\":\"rankAdded\",\"body\":{"
			      "\"pid\":%d,\"rank\":%d,\"world_size\":%d,\"job\":\"\",\"script\":"
			      "\"列車の訓練スクリプト.py\",\"cwd\":\"/家\",\"state\":\"live\"}}",
			      pid, rank, MANY);
		apply(stage, line.data);
		buffer_reset(&line);
		buffer_printf(
			&line,
			"{\"seq\":1,\"type\":\"event\",\"event\":\"sampled\",\"body\":{\"pid\":%d,"
			"\"rank\":%d,\"epoch\":1,\"time\":1.0,\"stacks\":[{\"id\":%d,\"dropped\":3,"
			"\"codes\":[[%d,\"é́\xe2\x80\xae訓練%d\",null,\"/家/"
			"とても長い名前のファイル/"
			"列車.py\",1,0]],\"frames\":[[%d,%d]]}],\"threads\":[{\"tid\":%d,\"is_"
			"main\":true,\"state\":\"running\",\"exact\":\"torn\",\"stack\":%d}]}}",
			pid, rank, rank + 1, rank + 1, rank % 40, rank + 1, rank % 40 + 1, pid,
			rank + 1);
		apply(stage, line.data);
	}
	session_judge(&stage->engine.session);
	buffer_clear(&line);
}

static void eight_ranks_at_all_sizes(void **state)
{
	struct stage stage;

	(void)state;
	stage_open(&stage, "hung8.jsonl");
	draw_all_sizes(&stage);
	stage_close(&stage);
}

static void nothing_at_all_sizes(void **state)
{
	struct stage stage;

	(void)state;
	stage_open(&stage, "nothing.jsonl");
	draw_all_sizes(&stage);
	stage_close(&stage);
}

static void jobs_at_all_sizes(void **state)
{
	struct stage stage;

	(void)state;
	stage_open(&stage, "jobs.jsonl");
	draw_all_sizes(&stage);
	stage_close(&stage);
}

static void many_odd_ranks_at_some_sizes(void **state)
{
	static const int sizes[][2] = {
		{ 1, 1 }, { 2, 3 }, { 5, 20 }, { 10, 40 }, { 24, 80 }, { 50, 200 },
	};
	struct stage stage;

	(void)state;
	stage_open(&stage, "nothing.jsonl");
	add_many(&stage);
	assert_int_equal(stage.engine.session.rank_count, MANY);
	for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
		stage_resize(&stage, sizes[i][0], sizes[i][1]);
		draw_all_looks(&stage);
	}
	stage_close(&stage);
}

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void a_frame_is_cheap(void **state)
{
	struct stage stage;
	double begun;

	(void)state;
	stage_open(&stage, "hung8.jsonl");
	stage_resize(&stage, 50, 200);
	begun = seconds();
	for (int i = 0; i < DRAWS; i++)
		app_draw(&stage.app);
	printf("# %.3f ms a frame at 200x50\n", (seconds() - begun) * 1000 / DRAWS);
	/* Ten times what is wanted: sanitizers and busy machines are slow. */
	assert_true((seconds() - begun) / DRAWS < 0.050);
	stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(eight_ranks_at_all_sizes),
		cmocka_unit_test(nothing_at_all_sizes),
		cmocka_unit_test(jobs_at_all_sizes),
		cmocka_unit_test(many_odd_ranks_at_some_sizes),
		cmocka_unit_test(a_frame_is_cheap),
	};

	return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
