/*
 * The console: the debugger's session as it came, the line that is typed, and
 * what is said where there is no debugger.
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
#include "base/error.h"
#include "base/json.h"
#include "model/output.h"
#include "protocol/message.h"
#include "stage.h"
#include "ui/input.h"
#include "ui/terminal.h"

static const char session_text[] =
	"> \033[0;32m/home/u/train.py\033[0m(14)\033[0;36mtrain\033[0;34m()\033[0m\r\n"
	"\033[1;32m     13 \033[0m        x = load_batch(step, rank)\r\n"
	"\033[1;31m---> 14 \033[0m        loss = model(x).pow(2).mean()\r\n"
	"\033[1;32m     15 \033[0m        loss.backward()\r\n"
	"\r\n"
	"ipdb> p rank\r\n3\r\nipdb> ";

static pid_t pid_of(const struct stage *stage, int rank)
{
	return session_find_rank(&stage->engine.session, rank)->process.pid;
}

static void apply(struct stage *stage, const char *name, json_t *owned_body)
{
	struct error error = ERROR_INIT;
	struct message message;

	message_make_event(&message, name, owned_body);
	if (session_apply(&stage->engine.session, 0, &message, 34, &error) < 0)
		fail_msg("%s", error.message);
	message_clear(&message);
}

static void tell(struct stage *stage, int rank, enum debugger_state state, const char *why)
{
	struct debugger debugger;
	json_t *body;

	debugger_init(&debugger);
	debugger.state = state;
	debugger.backend = xstrdup("pdb");
	debugger.target = xstrdup("pdb:unix:/tmp/pdb.sock.3");
	debugger.dialect = xstrdup("ipdb");
	debugger.why = xstrdup_or_null(why);
	body = debugger_to_json(&debugger);
	json_object_set_new(body, "pid", json_integer(pid_of(stage, rank)));
	json_object_set_new(body, "rank", json_integer(rank));
	apply(stage, event_kind_name(debugger_event(&debugger)), body);
	debugger_clear(&debugger);
}

static void print_first(struct stage *stage, int rank, const char *text, bool is_first)
{
	json_t *body = json_object();

	json_object_set_new(body, "pid", json_integer(pid_of(stage, rank)));
	json_set_text(body, "category", "terminal");
	json_set_text(body, "output", text);
	if (is_first)
		json_object_set_new(body, "isFirst", json_true());
	apply(stage, "output", body);
}

static void print(struct stage *stage, int rank, const char *text)
{
	print_first(stage, rank, text, false);
}

static void stop(struct stage *stage)
{
	tell(stage, 3, DEBUGGER_STOPPED, NULL);
	print_first(stage, 3, session_text, true);
	stage_keys(stage, "C");
}

static void draws_the_picture(void **state)
{
	static const struct {
		const char *name;
		int row_count;
		int column_count;
	} pictures[] = {
		{ "console-80x24", 24, 80 },
		{ "console-40x10", 10, 40 },
	};
	struct stage *stage = *state;

	stop(stage);
	stage_keys(stage, "p Space x Left");
	for (size_t i = 0; i < ARRAY_LENGTH(pictures); i++) {
		struct buffer drawn = BUFFER_INIT;

		stage_resize(stage, pictures[i].row_count, pictures[i].column_count);
		stage_draw(stage, &drawn);
		stage_check_golden(pictures[i].name, &drawn);
		buffer_clear(&drawn);
	}
}

static void without_a_debugger_it_says_what_to_do(void **state)
{
	struct stage *stage = *state;
	struct buffer drawn = BUFFER_INIT;

	stage_keys(stage, "C");
	stage_draw(stage, &drawn);
	stage_check_golden("console-none-80x24", &drawn);
	buffer_clear(&drawn);
	tell(stage, 3, DEBUGGER_WAITING, NULL);
	stage_check_shows(stage, "waits for a client");
	tell(stage, 3, DEBUGGER_REFUSED, "The socket belongs to eve.");
	stage_check_shows(stage, "rank 3: The socket belongs to eve.");
	/* Keys that move do what they do everywhere; others do nothing. */
	stage_keys(stage, "n");
	stage_check_shows(stage, "probetui is not connected to a debugger of the rank");
	stage_keys(stage, "]");
	stage_check_shows(stage, "rank 4: no debugger");
	stage_keys(stage, "q");
	stage_check_hides(stage, "Console");
}

static void keys_are_typed(void **state)
{
	struct stage *stage = *state;

	stop(stage);
	stage_keys(stage, "q : [ ] Space M");
	stage_check_shows(stage, "ipdb> q:[] M");
	stage_keys(stage, "Backspace Home ! Tab");
	stage_check_shows(stage, "ipdb> !   q:[]");
	stage_keys(stage, "Esc");
	stage_check_hides(stage, "q:[]");
	stage_keys(stage, "Esc");
	stage_check_shows(stage, "^] closes the console");
	stage_keys(stage, "C-]");
	stage_check_hides(stage, "ipdb>");
}

static void what_is_sent_can_be_had_again(void **state)
{
	struct stage *stage = *state;
	struct console *console = &stage->app.view.console;
	struct buffer out = BUFFER_INIT;

	stop(stage);
	stage_check_shows(stage, "ipdb>");
	console_key(console, "w", &out);
	assert_int_equal(out.length, 0);
	console_key(console, "Enter", &out);
	console_key(console, "C-c", &out);
	console_key(console, "C-d", &out);
	console_key(console, "Up", &out);
	console_key(console, "C-d", &out);
	console_key(console, "Enter", &out);
	console_key(console, "x", &out);
	console_key(console, "C-c", &out);
	console_key(console, "Enter", &out);
	assert_string_equal(out.data, "w\n\003\004w\n\003\n");
	buffer_clear(&out);
}

static void each_rank_has_its_own_screen(void **state)
{
	struct stage *stage = *state;

	stop(stage);
	tell(stage, 4, DEBUGGER_STOPPED, NULL);
	print_first(stage, 4, "> job.py(2)<module>()\n(Pdb) ", true);
	stage_check_shows(stage, "ipdb> p rank");
	stage_keys(stage, "C-] ] C");
	stage_check_shows(stage, "(Pdb)");
	stage_check_hides(stage, "ipdb> p rank");
	print(stage, 4, "p x\n12345\n(Pdb) ");
	stage_check_shows(stage, "12345");
	stage_keys(stage, "C-] [ C");
	stage_check_shows(stage, "ipdb> p rank");
	/* It comes again, and is shown once. */
	print_first(stage, 3, "ipdb> again\r\nipdb> ", true);
	stage_check_shows(stage, "ipdb> again");
	stage_check_hides(stage, "p rank");
}

static void a_line_is_for_one_rank(void **state)
{
	struct stage *stage = *state;

	stop(stage);
	tell(stage, 4, DEBUGGER_STOPPED, NULL);
	print_first(stage, 4, "> job.py(2)<module>()\n(Pdb) ", true);
	stage_keys(stage, "x = 5");
	stage_check_shows(stage, "ipdb> x=5");
	/* It stays while something else is looked at. */
	stage_keys(stage, "C-] C");
	stage_check_shows(stage, "ipdb> x=5");
	stage_keys(stage, "C-] ] C y");
	stage_check_shows(stage, "(Pdb) y");
	stage_check_hides(stage, "x=5");
}

static void it_scrolls_back(void **state)
{
	struct stage *stage = *state;

	stop(stage);
	for (int i = 0; i < 60; i++) {
		char line[32];

		snprintf(line, sizeof(line), "line %d\r\n", i);
		print(stage, 3, line);
	}
	stage_check_shows(stage, "line 59");
	stage_keys(stage, "PgUp");
	stage_check_hides(stage, "line 59");
	stage_check_shows(stage, "lines back");
	stage_keys(stage, "PgUp PgUp PgUp PgUp");
	stage_check_shows(stage, "p rank");
	/* What comes meanwhile moves nothing. */
	print(stage, 3, "more\r\nmore\r\n");
	stage_check_shows(stage, "p rank");
	stage_keys(stage, "PgDn PgDn PgDn PgDn PgDn");
	stage_check_shows(stage, "more");
	stage_keys(stage, "PgUp x");
	stage_check_shows(stage, "more");
}

static void the_wheel_scrolls(void **state)
{
	struct stage *stage = *state;
	struct input wheel = { .kind = INPUT_WHEEL_UP, .row = 5, .column = 5 };

	stop(stage);
	for (int i = 0; i < 60; i++)
		print(stage, 3, i % 2 == 0 ? "even\r\n" : "odd\r\n");
	print(stage, 3, "end");
	stage_check_shows(stage, "end");
	app_mouse(&stage->app, &wheel);
	stage_check_shows(stage, "3 lines back");
	wheel.kind = INPUT_WHEEL_DOWN;
	app_mouse(&stage->app, &wheel);
	stage_check_hides(stage, "back");
}

static void what_was_said_stays_behind_the_end(void **state)
{
	struct stage *stage = *state;

	stop(stage);
	for (int i = 0; i < 30; i++)
		print(stage, 3, "a line\r\n");
	print(stage, 3, "The program finished.\r\n");
	tell(stage, 3, DEBUGGER_LOST, "The debugger closed the connection.");
	stage_check_shows(stage, "The debugger closed the connection.");
	stage_check_shows(stage, "The program finished.");
}

static void it_is_bounded(void **state)
{
	struct stage *stage = *state;
	char *line = xcalloc(1, 100001);
	const struct transcript *transcript;

	stop(stage);
	memset(line, 'x', 100000);
	for (int i = 0; i < 10; i++)
		print(stage, 3, line);
	print(stage, 3, "\r\nend\r\n");
	transcript = session_find_transcript(&stage->engine.session, 0, pid_of(stage, 3));
	assert_true(transcript->bytes.length <= TRANSCRIPT_BYTES);
	stage_check_shows(stage, "end");
	free(line);
}

/* A prompt of pdb reads a line: an answer would be a part of it. */
static void programs_are_answered_while_they_run(void **state)
{
	struct stage *stage = *state;
	struct console *console = &stage->app.view.console;
	struct session *session = &stage->engine.session;
	struct buffer answers = BUFFER_INIT;

	stop(stage);
	console_update(console, session, 20, 78, &answers);
	print(stage, 3, "\033[6n");
	console_update(console, session, 20, 78, &answers);
	assert_int_equal(answers.length, 0);
	tell(stage, 3, DEBUGGER_RUNNING, NULL);
	print(stage, 3, "\033[H\033[6n");
	console_update(console, session, 20, 78, &answers);
	assert_string_equal(answers.data, "\033[1;1R");
	buffer_reset(&answers);
	/* A terminal of another size is told all again, and stays silent. */
	console_update(console, session, 10, 38, &answers);
	print_first(stage, 3, "\033[6n", true);
	console_update(console, session, 10, 38, &answers);
	assert_int_equal(answers.length, 0);
	buffer_clear(&answers);
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STAGE(draws_the_picture),
		ON_STAGE(without_a_debugger_it_says_what_to_do),
		ON_STAGE(keys_are_typed),
		ON_STAGE(what_is_sent_can_be_had_again),
		ON_STAGE(each_rank_has_its_own_screen),
		ON_STAGE(a_line_is_for_one_rank),
		ON_STAGE(it_scrolls_back),
		ON_STAGE(the_wheel_scrolls),
		ON_STAGE(what_was_said_stays_behind_the_end),
		ON_STAGE(it_is_bounded),
		ON_STAGE(programs_are_answered_while_they_run),
	};

	return cmocka_run_group_tests_name("console", tests, NULL, NULL);
}
