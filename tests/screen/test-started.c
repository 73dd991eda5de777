/*
 * A job that probetui started: its terminal, what is said while it has no
 * rank, what is asked before it is left, and what keys send to it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "stage.h"
#include "ui/terminal.h"

static const char printed[] =
	"step 1 loss \033[32m0.1311\033[m\r\n"
	"step 2 loss \033[32m0.1210\033[m\r\n"
	"epoch 1:  40%|\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88      | 40/100\rstep 3 loss";

static void apply(struct stage *stage, const char *name, json_t *owned_body)
{
	struct error error = ERROR_INIT;
	struct message message;

	message_make_event(&message, name, owned_body);
	if (session_apply(&stage->engine.session, 0, &message, 34, &error) < 0)
		fail_msg("%s", error.message);
	message_clear(&message);
}

static void tell(struct stage *stage, enum launched_state state, int code)
{
	struct launched job;

	launched_init(&job);
	job.state = state;
	job.pid = 4180;
	job.program = xstrdup("/opt/bin/torchrun");
	job.log = xstrdup("/home/u/.local/state/probetui/jobs/a.log");
	job.exit_code = code;
	apply(stage, "job", launched_to_json(&job));
	launched_clear(&job);
	/* What is applied to a recording is as good as live. */
	stage->engine.session.is_replay = false;
}

static void print(struct stage *stage, const char *text)
{
	json_t *body = json_object();

	json_set_text(body, "category", "job");
	json_set_text(body, "output", text);
	apply(stage, "output", body);
}

static void check(struct stage *stage, const char *name, int rows, int columns)
{
	struct buffer drawn = BUFFER_INIT;

	stage_resize(stage, rows, columns);
	stage_draw(stage, &drawn);
	stage_check_golden(name, &drawn);
	buffer_clear(&drawn);
}

static void its_terminal_is_shown(void **state)
{
	struct stage *stage = *state;

	tell(stage, LAUNCHED_RUNNING, -1);
	print(stage, printed);
	stage_keys(stage, "!");
	check(stage, "terminal-80x24", 24, 80);
	check(stage, "terminal-40x10", 10, 40);
}

static void without_a_job_there_is_none(void **state)
{
	stage_keys(*state, "!");
	stage_check_shows(*state, "probetui has started no job");
}

static void its_end_is_in_the_title(void **state)
{
	struct stage *stage = *state;

	tell(stage, LAUNCHED_RUNNING, -1);
	stage_keys(stage, "!");
	stage_check_shows(stage, "torchrun runs (pid 4180)");
	stage_check_shows(stage, "no output yet");
	tell(stage, LAUNCHED_ENDED, 3);
	stage_check_shows(stage, "torchrun exited with code 3");
	/* Nobody is typed to any more. */
	stage_keys(stage, "q");
	stage_check_shows(stage, "Stack");
}

static void waiting_for_ranks(void **state)
{
	struct stage *stage = *state;

	tell(stage, LAUNCHED_RUNNING, -1);
	check(stage, "started-80x24", 24, 80);
	tell(stage, LAUNCHED_ENDED, 0);
	stage_check_shows(stage, "No rank of the job was found");
}

static void leaving_asks(void **state)
{
	struct stage *stage = *state;

	tell(stage, LAUNCHED_RUNNING, -1);
	stage_keys(stage, "q");
	stage_check_shows(stage, "[d]etach (job keeps running");
	stage_keys(stage, "x n");
	stage_check_hides(stage, "keeps running");
	assert_false(stage->app.is_done);
	stage_keys(stage, "q");
	tell(stage, LAUNCHED_ENDED, 0);
	assert_false(stage->app.is_done);
}

static void it_is_left(void **state)
{
	struct stage *stage = *state;

	tell(stage, LAUNCHED_RUNNING, -1);
	stage_keys(stage, "q d");
	assert_true(stage->app.is_done);
}

static void its_end_is_waited_for(void **state)
{
	struct stage *stage = *state;

	tell(stage, LAUNCHED_RUNNING, -1);
	stage_keys(stage, "q e");
	assert_false(stage->app.is_done);
	stage_check_shows(stage, "SIGTERM sent to the job");
}

static void one_that_has_ended_is_not_asked_about(void **state)
{
	struct stage *stage = *state;

	tell(stage, LAUNCHED_ENDED, 0);
	stage_keys(stage, "q");
	assert_true(stage->app.is_done);
}

static void take(const char *bytes, size_t length, void *data)
{
	buffer_append(data, bytes, length);
}

static void keys_are_bytes(void **state)
{
	static const struct {
		const char *mode;
		const char *key;
		const char *bytes;
	} cases[] = {
		{ "", "a", "a" },
		{ "", "\xc3\xab", "\xc3\xab" },
		{ "", "Space", " " },
		{ "", "Enter", "\r" },
		{ "", "Tab", "\t" },
		{ "", "Backspace", "\x7f" },
		{ "", "Esc", "\033" },
		{ "", "C-c", "\003" },
		{ "", "C-d", "\004" },
		{ "", "C-\\", "\034" },
		{ "", "Up", "\033[A" },
		{ "\033[?1h", "Up", "\033OA" },
		{ "", "Delete", "\033[3~" },
		{ "", "F1", "\033OP" },
		{ "", "F12", "\033[24~" },
		{ "", "Resize", "" },
		{ "", "Unknown", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct terminal *terminal = terminal_new(5, 20);
		struct buffer typed = BUFFER_INIT;

		terminal_write(terminal, cases[i].mode, strlen(cases[i].mode));
		terminal_set_answer(terminal, take, &typed);
		terminal_type(terminal, cases[i].key);
		assert_string_equal(typed.data, cases[i].bytes);
		buffer_clear(&typed);
		terminal_free(terminal);
	}
}

static int begin_nothing(void **state)
{
	return stage_begin(state, "nothing.jsonl");
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STAGE(its_terminal_is_shown),
		ON_STAGE(without_a_job_there_is_none),
		ON_STAGE(its_end_is_in_the_title),
		cmocka_unit_test_setup_teardown(waiting_for_ranks, begin_nothing, stage_end),
		ON_STAGE(leaving_asks),
		ON_STAGE(it_is_left),
		ON_STAGE(its_end_is_waited_for),
		ON_STAGE(one_that_has_ended_is_not_asked_about),
		cmocka_unit_test(keys_are_bytes),
	};

	return cmocka_run_group_tests_name("started", tests, NULL, NULL);
}
