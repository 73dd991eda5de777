/*
 * The pictures: a recording, some keys, and the text that must be on the
 * screen then. UPDATE_GOLDEN=1 writes the files anew; look at the difference
 * before you commit it.
 *
 * Where they differ from the screens as they were drawn before:
 *
 *	picture	difference		reason
 *	home	u d, Tab in the hints	pause and break are not there yet
 *	home	a pane's corner joins	borders are shared lines
 *		with the cards'
 *	cells	o and H, not s and h	those are for stepping and moving
 *	cells	a card beside the cell	so it is written below the picture
 *	cells	the last line is a	the screen ends as in all other views
 *		border
 *	cells	source below, if there	the grid is home: what is selected is
 *		is room			looked at
 *	merged	no Space		it is in the help
 *	diff	equal locals are shown	there is room for them
 *	diff	line 11 to 14		the current line is in the middle
 *	diff	"unbound"		"in this step" cannot be known
 *	nothing	no line of how to start	probetui starts no job and connects
 *		a job or to connect	nowhere yet
 *	40x10	titles end in "…"	the age matters more than the name
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
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "engine/engine.h"
#include "stage.h"

static const struct stage_picture pictures[] = {
	{ "home-80x24", "hung8.jsonl", 24, 80, "", false },
	{ "home-40x10", "hung8.jsonl", 10, 40, "", false },
	{ "home-200x50", "hung8.jsonl", 50, 200, "", false },
	{ "home-ascii-80x24", "hung8.jsonl", 24, 80, "", true },
	{ "home-rank-0-80x24", "hung8.jsonl", 24, 80, "0 Enter", false },
	{ "table-80x24", "hung8.jsonl", 24, 80, "G", false },
	{ "cells-80x24", "hung8.jsonl", 24, 80, "G G", false },
	{ "focus-80x24", "hung8.jsonl", 24, 80, "Space ] Space I", false },
	{ "focus-ascii-80x24", "hung8.jsonl", 24, 80, "G G Space", true },
	{ "source-40x10", "hung8.jsonl", 10, 40, "z Tab", false },
	{ "locals-80x24", "hung8.jsonl", 24, 80, "u S-Tab Down Down Enter z", false },
	{ "merged-80x24", "hung8.jsonl", 24, 80, "M", false },
	{ "merged-40x10", "hung8.jsonl", 10, 40, "M", false },
	{ "merged-function-80x24", "hung8.jsonl", 24, 80, "M g", false },
	{ "native-80x24", "native.jsonl", 24, 80, "0 Enter N", false },
	{ "native-40x10", "native.jsonl", 10, 40, "N z Tab Tab", false },
	{ "native-120x40", "native.jsonl", 40, 120, "0 Enter N x", false },
	{ "native-200x50", "native.jsonl", 50, 200, "N", false },
	{ "merged-native-80x24", "native.jsonl", 24, 80, "M N", false },
	{ "merged-native-120x40", "native.jsonl", 40, 120, "M N", false },
	{ "diff-80x24", "hung8.jsonl", 24, 80, "D", false },
	{ "diff-40x10", "hung8.jsonl", 10, 40, "D", false },
	{ "diff-past-80x24", "hung8.jsonl", 24, 80, "D v v", false },
	{ "help-80x24", "hung8.jsonl", 24, 80, "?", false },
	{ "help-40x10", "hung8.jsonl", 10, 40, "?", false },
	{ "help-120x40", "hung8.jsonl", 40, 120, "?", false },
	{ "help-200x50", "hung8.jsonl", 50, 200, "?", false },
	{ "prompt-80x24", "hung8.jsonl", 24, 80, ": n o Space x", false },
	{ "error-80x24", "hung8.jsonl", 24, 80, "9 Enter", false },
	{ "error-40x10", "hung8.jsonl", 10, 40, "9 Enter", false },
	{ "error-120x40", "hung8.jsonl", 40, 120, "9 Enter", false },
	{ "error-200x50", "hung8.jsonl", 50, 200, "9 Enter", false },
	{ "nothing-80x24", "nothing.jsonl", 24, 80, "", false },
	{ "jobs-80x24", "jobs.jsonl", 24, 80, "Down", false },
	{ "jobs-40x10", "jobs.jsonl", 10, 40, "", false },
	{ "jobs-120x40", "jobs.jsonl", 40, 120, "", false },
	{ "jobs-200x50", "jobs.jsonl", 50, 200, "", false },
	{ "jobs-again-80x24", "jobs.jsonl", 24, 80, "Down Enter q", false },
	{ "jobs-opened-80x24", "jobs.jsonl", 24, 80, "Down Enter", false },
	{ "nothing-40x10", "nothing.jsonl", 10, 40, "", false },
	{ "waits-80x24", "collectives8.jsonl", 24, 80, "", false },
	{ "why-80x24", "collectives8.jsonl", 24, 80, "W", false },
	{ "why-40x10", "collectives8.jsonl", 10, 40, "W", false },
	{ "why-200x50", "collectives8.jsonl", 50, 200, "W Down", false },
	{ "collectives-80x24", "collectives8.jsonl", 24, 80, "K", false },
	{ "collectives-40x10", "collectives8.jsonl", 10, 40, "K Down", false },
	{ "collectives-200x50", "collectives8.jsonl", 50, 200, "K Down Down Down Enter", false },
};

/* The same where it is seen that they are recordings. */
static const struct stage_picture replays[] = {
	{ "replay-end-120x40", "gpu01.jsonl gpu02.jsonl", 40, 120, "", false },
	{ "replay-80x24", "gpu01.jsonl gpu02.jsonl", 24, 80, ": t i m e Space 2 0 Enter", false },
	{ "replay-before-80x24", "gpu01.jsonl gpu02.jsonl", 24, 80, ": t i m e Space 2 Enter",
	  false },
	{ "replay-change-120x40", "gpu01.jsonl gpu02.jsonl", 40, 120, "< D", false },
};

static void draw(const struct stage_picture *picture, bool is_replay)
{
	struct buffer drawn = BUFFER_INIT;
	struct stage stage;

	stage_open(&stage, picture->recording);
	stage_resize(&stage, picture->row_count, picture->column_count);
	stage.app.view.is_ascii = picture->is_ascii;
	stage.engine.session.is_replay = is_replay;
	stage_keys(&stage, picture->keys);
	/* Outside of the program's loop nobody judges where keys led. */
	if (is_replay)
		engine_judge(&stage.engine);
	stage_draw(&stage, &drawn);
	stage_check_golden(picture->name, &drawn);
	stage_close(&stage);
	buffer_clear(&drawn);
}

static void draws_the_picture(void **state)
{
	draw(*state, false);
}

static void draws_the_replay(void **state)
{
	draw(*state, true);
}

int main(void)
{
	enum { COUNT = ARRAY_LENGTH(pictures) };
	struct CMUnitTest tests[COUNT + ARRAY_LENGTH(replays)];

	/* The header shows the clock of where it is looked at. */
	setenv("TZ", "UTC", 1);
	stage_add_pictures(tests, pictures, COUNT, draws_the_picture);
	stage_add_pictures(tests + COUNT, replays, ARRAY_LENGTH(replays), draws_the_replay);
	return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
