/*
 * The grid with 1,024 ranks on 128 machines: pictures of each way to show
 * them, the one order that all of them keep, and what a person does there.
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
#include "stage.h"
#include "ui/commands.h"
#include "ui/input.h"
#include "ui/ranklist.h"

struct picture {
	const char *name; /* of golden/NAME.txt */
	int row_count;
	int column_count;
	enum grid_mode grid;
	const char *keys;
};

static const struct picture pictures[] = {
	{ "many-cells-80x24", 24, 80, GRID_AUTOMATIC, "" },
	{ "many-cells-120x40", 40, 120, GRID_CELLS, "" },
	{ "many-cells-200x50", 50, 200, GRID_CELLS, "5 1 5 Enter" },
	{ "many-cells-40x10", 10, 40, GRID_CELLS, "" },
	{ "many-cells-hosts-80x24", 24, 80, GRID_CELLS, "H H" },
	{ "many-table-80x24", 24, 80, GRID_TABLE, "" },
	{ "many-table-120x40", 40, 120, GRID_TABLE, "H x" },
	{ "many-table-200x50", 50, 200, GRID_TABLE, "o o o o" },
	{ "many-table-40x10", 10, 40, GRID_TABLE, "5 1 5 Enter" },
	{ "many-cards-80x24", 24, 80, GRID_CARDS, "" },
	{ "many-cards-120x40", 40, 120, GRID_CARDS, "" },
	{ "many-cards-200x50", 50, 200, GRID_CARDS, "" },
	{ "many-cards-40x10", 10, 40, GRID_CARDS, "" },
	{ "many-filter-80x24", 24, 80, GRID_AUTOMATIC, "\\ A L L _ g Enter" },
	{ "many-filter-typed-80x24", 24, 80, GRID_AUTOMATIC, "\\ f s d p" },
};

/* All tests look at one stage, each from the beginning. */
static void begin(struct stage *stage, int row_count, int column_count)
{
	struct session *session = &stage->engine.session;

	view_clear(&stage->app.view);
	stage->app.view.period = 1;
	session->choice.selection = (struct selection){ .rank = -1, .depth = -1 };
	session->revision++;
	stage_resize(stage, row_count, column_count);
}

static int open_many(void **state)
{
	return stage_begin(state, "many.jsonl");
}

static void draws_the_pictures(void **state)
{
	struct stage *stage = *state;

	for (size_t i = 0; i < ARRAY_LENGTH(pictures); i++) {
		const struct picture *picture = &pictures[i];
		struct buffer drawn = BUFFER_INIT;

		begin(stage, picture->row_count, picture->column_count);
		stage->app.view.grid = picture->grid;
		stage_keys(stage, picture->keys);
		stage_draw(stage, &drawn);
		stage_check_golden(picture->name, &drawn);
		buffer_clear(&drawn);
	}
}

/* The ranks as the grid has them now, by their place in it. */
static int rank_at(struct stage *stage, size_t at)
{
	struct ranklist list;
	int rank;

	ranklist_make(&list, &stage->engine.session, &stage->app.view);
	assert_true(at < list.rank_count);
	rank = list.ranks[at]->process.rank;
	ranklist_clear(&list);
	return rank;
}

static size_t shown_count(struct stage *stage)
{
	struct ranklist list;
	size_t count;

	ranklist_make(&list, &stage->engine.session, &stage->app.view);
	count = list.rank_count;
	ranklist_clear(&list);
	return count;
}

static int selected(const struct stage *stage)
{
	return session_selected(&stage->engine.session)->process.rank;
}

static void ranks_are_sorted(void **state)
{
	static const struct {
		const char *line;
		int first;
		int second;
	} orders[] = {
		{ "sort rank", 1023, 1022 }, /* the second time: reversed */
		{ "sort rank", 0, 1 },
		{ "sort class", 0, 1 },
		{ "sort reverse", 77, 512 },
		/* "read" comes behind "all_gather" */
		{ "sort activity", 512, 513 },
		{ "sort reverse", 0, 1 },
		{ "sort place", 77, 512 },
		{ "sort host", 0, 1 },
		{ "sort reverse", 1016, 1017 },
		{ "sort cpu", 77, 76 },
		{ "sort pid", 0, 1 },
	};
	struct stage *stage = *state;

	begin(stage, 24, 80);
	for (size_t i = 0; i < ARRAY_LENGTH(orders); i++) {
		commands_run(&stage->app, orders[i].line);
		if (rank_at(stage, 0) != orders[i].first || rank_at(stage, 1) != orders[i].second)
			fail_msg("%s: %d, %d", orders[i].line, rank_at(stage, 0),
				 rank_at(stage, 1));
	}
}

static void next_is_next_in_the_order(void **state)
{
	struct stage *stage = *state;

	begin(stage, 24, 80);
	stage_keys(stage, "5 1 2 Enter ] ]");
	assert_int_equal(selected(stage), 514);
	commands_run(&stage->app, "sort class");
	commands_run(&stage->app, "sort reverse");
	stage_keys(stage, "5 1 2 Enter [");
	assert_int_equal(selected(stage), 77);
	stage_keys(stage, "[");
	assert_int_equal(selected(stage), 1023);
	stage_keys(stage, "}");
	assert_int_equal(selected(stage), 77);
}

static void a_filter_is_counted_and_cleared(void **state)
{
	struct stage *stage = *state;

	begin(stage, 24, 80);
	stage_keys(stage, "\\ N O D E 0 6 4");
	stage_check_shows(stage, "8 of 1,024 ranks");
	stage_keys(stage, "Enter");
	assert_int_equal(shown_count(stage), 8);
	/* The cursor goes to what is left; so do the keys. */
	assert_int_equal(selected(stage), 512);
	stage_keys(stage, "[");
	assert_int_equal(selected(stage), 519);
	stage_check_shows(stage, "8 of 1,024 ranks with 'NODE064'");
	stage_keys(stage, "Esc");
	assert_int_equal(shown_count(stage), 1024);
	stage_keys(stage, "\\ x y z");
	stage_check_shows(stage, "no rank has 'xyz' in its row (Esc shows all ranks)");
	stage_keys(stage, "Esc");
	assert_int_equal(shown_count(stage), 1024);
}

/* What is below a rank belongs to it. */
static void a_filter_finds_children(void **state)
{
	struct stage *stage = *state;

	begin(stage, 24, 80);
	commands_run(&stage->app, "filter __getitem__");
	assert_int_equal(shown_count(stage), 1);
	assert_int_equal(rank_at(stage, 0), 77);
}

/* Closed, it shows what was found all the same. */
static void a_child_that_was_found_shows(void **state)
{
	struct stage *stage = *state;
	struct ranklist list;

	begin(stage, 24, 80);
	commands_run(&stage->app, "grid table");
	commands_run(&stage->app, "filter dataloader");
	ranklist_make(&list, &stage->engine.session, &stage->app.view);
	assert_true(list.rank_count > 1);
	assert_int_equal(list.rows[0].kind, RANKLIST_RANK);
	assert_int_equal(list.rows[1].kind, RANKLIST_CHILD);
	ranklist_clear(&list);
	commands_run(&stage->app, "filter");
}

static void a_group_is_folded(void **state)
{
	struct stage *stage = *state;
	struct ranklist list;

	begin(stage, 24, 80);
	commands_run(&stage->app, "grid table");
	commands_run(&stage->app, "group host");
	stage_keys(stage, "0 Enter Up");
	stage_check_shows(stage, "- node000  8 ranks");
	stage_keys(stage, "Enter");
	stage_check_shows(stage, "+ node000  8 ranks");
	stage_check_shows(stage, "- node001  8 ranks");
	ranklist_make(&list, &stage->engine.session, &stage->app.view);
	assert_int_equal(list.group_count, 128);
	assert_int_equal(list.rank_count, 1024);
	assert_int_equal(list.cursor, 0);
	ranklist_clear(&list);
	stage_keys(stage, "Down Down");
	assert_int_equal(selected(stage), 8);
	commands_run(&stage->app, "grid cells");
	stage_keys(stage, "x");
	stage_check_shows(stage, "node001 … 8");
	stage_keys(stage, "x");
	stage_check_shows(stage, "┌8 ● wait ");
}

static void what_is_odd_below_a_rank_shows(void **state)
{
	struct stage *stage = *state;

	begin(stage, 40, 120);
	commands_run(&stage->app, "grid table");
	stage_keys(stage, "7 7 Enter");
	stage_check_shows(stage, "thread Thread-2 (_pin_memory_loop)");
	stage_check_shows(stage, "dataloader 40155 ");
	stage_keys(stage, "Down");
	stage_check_shows(stage, "Stack · Thread-2 (_pin_memory_loop)");
	stage_keys(stage, "Down");
	stage_check_shows(stage, "data.py · rank 77 dataloader 40155");
	stage_check_shows(stage, "▸ __getitem__");
	assert_int_equal(selected(stage), 77);
	/* All of them with x. */
	stage_keys(stage, "7 7 Enter x Down Down");
	stage_check_shows(stage, "rank 77 dataloader 40154");
	stage_keys(stage, "Enter");
	assert_int_equal(stage->app.view.pane, PANE_SOURCE);
}

/* The cursor in cells goes by what it looks like. */
static void the_cursor_moves_over_cells(void **state)
{
	struct stage *stage = *state;

	begin(stage, 24, 80);
	stage_keys(stage, "7 7 Enter Down");
	assert_int_equal(selected(stage), 141);
	stage_keys(stage, "Up Up Up");
	assert_int_equal(selected(stage), 13);
	stage_keys(stage, "Home Left");
	assert_int_equal(selected(stage), 0);
	stage_keys(stage, "End Down Right");
	assert_int_equal(selected(stage), 1023);
	commands_run(&stage->app, "group host");
	stage_keys(stage, "0 Enter Right Right Down");
	/* Four machines stand side by side. */
	assert_int_equal(selected(stage), 34);
}

static void the_card_stands_beside_the_cell(void **state)
{
	struct stage *stage = *state;

	begin(stage, 24, 80);
	stage_keys(stage, "5 1 3 Enter");
	stage_check_shows(stage, "┌513 ▲ wait ─");
	stage_check_shows(stage, "│all_gather");
}

/* Cells leave no room below them. */
static void enter_leads_to_the_source_and_back(void **state)
{
	struct stage *stage = *state;

	begin(stage, 24, 80);
	stage_keys(stage, "Enter");
	stage_check_shows(stage, "┌Source · data.py · rank 77");
	stage_keys(stage, "Esc");
	stage_check_shows(stage, "┌Ranks · 64 a row");
	assert_int_equal(stage->app.view.pane, PANE_GRID);
}

/* A press of the mouse on the first place where text is. */
static void click(struct stage *stage, int row, int column)
{
	const struct input input = { .kind = INPUT_PRESS, .row = row, .column = column };

	app_draw(&stage->app);
	stage->app.press.at = 0;
	app_mouse(&stage->app, &input);
}

static void a_click_finds_what_is_there(void **state)
{
	struct stage *stage = *state;

	begin(stage, 24, 80);
	/* In row 5 is the first line of cells. */
	click(stage, 5, 7 + 50);
	assert_int_equal(selected(stage), 50);
	commands_run(&stage->app, "grid cards");
	stage_keys(stage, "0 Enter");
	click(stage, 6, 22);
	assert_int_equal(selected(stage), 1);
	commands_run(&stage->app, "grid table");
	stage_keys(stage, "0 Enter");
	/* The head is above the ranks. */
	click(stage, 7, 20);
	assert_int_equal(selected(stage), 1);
	click(stage, 5, 4);
	assert_true(stage->app.view.order.is_reversed);
	commands_run(&stage->app, "sort rank");
	commands_run(&stage->app, "group host");
	stage_keys(stage, "0 Enter");
	click(stage, 6, 4);
	assert_true(stage->app.view.order.group != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_the_pictures),
		cmocka_unit_test(ranks_are_sorted),
		cmocka_unit_test(next_is_next_in_the_order),
		cmocka_unit_test(a_filter_is_counted_and_cleared),
		cmocka_unit_test(a_filter_finds_children),
		cmocka_unit_test(a_child_that_was_found_shows),
		cmocka_unit_test(a_group_is_folded),
		cmocka_unit_test(what_is_odd_below_a_rank_shows),
		cmocka_unit_test(the_cursor_moves_over_cells),
		cmocka_unit_test(the_card_stands_beside_the_cell),
		cmocka_unit_test(enter_leads_to_the_source_and_back),
		cmocka_unit_test(a_click_finds_what_is_there),
	};

	return cmocka_run_group_tests_name("grid", tests, open_many, stage_end);
}
