/*
 * What ranks print: as lines of a terminal, bounded, and on the screen beside
 * our log.
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
#include "base/log.h"
#include "base/text.h"
#include "model/output.h"
#include "protocol/message.h"
#include "stage.h"
#include "ui/commands.h"

static pid_t pid_of(const struct stage *stage, int rank)
{
	return session_find_rank(&stage->engine.session, rank)->process.pid;
}

/* A node's event about what a rank printed. */
static void print_first(struct stage *stage, int rank, const char *category, const char *text,
			bool is_first)
{
	json_t *body = json_object();
	struct error error = ERROR_INIT;
	struct message message;

	json_object_set_new(body, "pid", json_integer(pid_of(stage, rank)));
	json_set_text(body, "category", category);
	json_set_text(body, "output", text);
	if (is_first)
		json_object_set_new(body, "isFirst", json_true());
	message_make_event(&message, "output", body);
	if (session_apply(&stage->engine.session, 0, &message, 34, &error) < 0)
		fail_msg("%s", error.message);
	message_clear(&message);
}

static void print(struct stage *stage, int rank, const char *category, const char *text)
{
	print_first(stage, rank, category, text, false);
}

static json_t *stream(const char *category, const char *path, const char *why)
{
	json_t *json = json_object();

	json_set_text(json, "category", category);
	json_set_text(json, "path", path);
	json_set_text(json, "why", why);
	return json;
}

static void answer(struct stage *stage, int rank, const char *path, const char *why)
{
	json_t *body = json_object();
	json_t *streams = json_array();
	struct error error = ERROR_INIT;
	struct message request;
	struct message message;

	json_object_set_new(body, "pid", json_integer(pid_of(stage, rank)));
	json_array_append_new(streams, stream("stdout", path, why));
	json_array_append_new(streams, stream("stderr", path, why));
	json_object_set_new(body, "streams", streams);
	message_make_request(&request, "output", NULL);
	message_make_response(&message, &request, body, NULL);
	if (session_apply(&stage->engine.session, 0, &message, 34, &error) < 0)
		fail_msg("%s", error.message);
	message_clear(&message);
	message_clear(&request);
}

static const struct output *output_of(const struct stage *stage, int rank)
{
	return session_find_output(&stage->engine.session, 0, pid_of(stage, rank));
}

/* "o first|e second|": kind and text of all lines of rank 3. */
static void check_lines(const struct stage *stage, const char *wanted)
{
	static const char kinds[] = "oen";
	const struct output *output = output_of(stage, 3);
	struct buffer lines = BUFFER_INIT;

	assert_non_null(output);
	for (size_t i = 0; i < output_count(output); i++)
		buffer_printf(&lines, "%c %s|", kinds[output_line(output, i)->kind],
			      output_line(output, i)->text);
	assert_string_equal(lines.data, wanted);
	buffer_clear(&lines);
}

static void lines_come_in_pieces(void **state)
{
	struct stage *stage = *state;

	print(stage, 3, "stdout", "one\ntw");
	check_lines(stage, "o one|o tw|");
	print(stage, 3, "stderr", "oops\n");
	print(stage, 3, "stdout", "o\n\nthree\n");
	check_lines(stage, "o one|o two|e oops|o |o three|");
}

static void a_progress_bar_is_one_line(void **state)
{
	struct stage *stage = *state;

	print(stage, 3, "stderr", "  0%|   |\r 10%|#  |");
	print(stage, 3, "stderr", "\r 50%|## |");
	check_lines(stage, "e  50%|## ||");
	print(stage, 3, "stderr", "\r100%|###|\nend\r\n");
	check_lines(stage, "e 100%|###||e end|");
}

static void what_a_terminal_would_obey_is_shown(void **state)
{
	struct stage *stage = *state;

	print(stage, 3, "stdout",
	      "\033[1;31mred\033[0m \033]0;title\007\033]8;;x\033\\link\033[2J\tb\x08\033c "
	      "\xe2\x80\xae"
	      "x\033[\n");
	check_lines(stage, "o red link        b^H^[c <202e>x^[[|");
}

static void a_line_and_a_rank_are_bounded(void **state)
{
	struct stage *stage = *state;
	char *line = xcalloc(1, 200001);

	memset(line, 'x', 200000);
	print(stage, 3, "stdout", line);
	print(stage, 3, "stdout", line);
	assert_int_equal(strlen(output_line(output_of(stage, 3), 0)->text),
			 OUTPUT_LINE_BYTES + strlen("…"));
	free(line);
	for (int i = 0; i < 2 * OUTPUT_LINES; i++)
		print(stage, 3, "stderr", "y\n");
	assert_int_equal(output_count(output_of(stage, 3)), OUTPUT_LINES);
	/* The line that is not ended has scrolled away; it goes on anew. */
	print(stage, 3, "stdout", "\nz\n");
	assert_string_equal(output_line(output_of(stage, 3), OUTPUT_LINES - 1)->text, "z");
}

static void a_long_line_keeps_both_ends(void **state)
{
	struct stage *stage = *state;
	const char *text;

	print(stage, 3, "stdout", "begins ");
	for (int i = 0; i < 2000; i++)
		print(stage, 3, "stdout", "ä");
	print(stage, 3, "stdout", " continues ");
	print(stage, 3, "stdout", "ends");
	assert_int_equal(output_count(output_of(stage, 3)), 1);
	text = output_line(output_of(stage, 3), 0)->text;
	assert_in_range(strlen(text), OUTPUT_LINE_BYTES, OUTPUT_LINE_BYTES + strlen("…"));
	assert_memory_equal(text, "begins ää", strlen("begins ää"));
	assert_non_null(strstr(text, "ä…ä"));
	assert_string_equal(text + strlen(text) - strlen("ä continues ends"), "ä continues ends");
	assert_true(text_is_utf8(text, strlen(text)));
	print(stage, 3, "stdout", "\nnext");
	assert_string_equal(output_line(output_of(stage, 3), 1)->text, "next");
}

/* print(…, end="\r"): each chunk ends where the next one begins again. */
static void a_line_that_is_drawn_again_is_short(void **state)
{
	struct stage *stage = *state;
	char step[32];

	for (int i = 0; i < 500; i++) {
		snprintf(step, sizeof(step), "step %d\r", i);
		print(stage, 3, "stdout", step);
	}
	check_lines(stage, "o step 499|");
	print(stage, 3, "stdout", "\rnow\rthen\r");
	check_lines(stage, "o then|");
	print(stage, 3, "stdout", "\n");
	check_lines(stage, "o then|");
}

static void what_is_asked_for_again_replaces(void **state)
{
	struct stage *stage = *state;

	print(stage, 3, "stdout", "one\ntw");
	print_first(stage, 3, "stdout", "one\ntwo\n", true);
	print(stage, 3, "important", "It was left out.");
	check_lines(stage, "o one|o two|n It was left out.|");
}

static void bad_events_change_nothing(void **state)
{
	struct stage *stage = *state;
	json_t *body = json_pack("{s:s, s:s}", "category", "stdout", "output", "x\n");
	struct error error = ERROR_INIT;
	struct message message;

	message_make_event(&message, "output", body);
	assert_int_equal(session_apply(&stage->engine.session, 0, &message, 34, &error), -1);
	message_clear(&message);
	assert_int_equal(stage->engine.session.output_count, 0);
	print(stage, 3, "telemetry", "x\n");
	assert_int_equal(stage->engine.session.output_count, 0);
}

static void print_steps(struct stage *stage)
{
	struct buffer text = BUFFER_INIT;

	for (int i = 0; i < 30; i++)
		buffer_printf(&text, "[rank 3] step %d loss 0.%d\n", i, 1000 - i * 7);
	print(stage, 3, "stdout", text.data);
	print(stage, 3, "stderr", "train.py:5: UserWarning: the storage is slow\n");
	print(stage, 3, "stdout", "[rank 3] step 30 ");
	answer(stage, 3, "/data/logs/none_x7/attempt_0/3/stdout.log", NULL);
	buffer_clear(&text);
}

struct picture {
	const char *name;
	int row_count;
	int column_count;
	const char *keys;
};

static void draws_the_picture(void **state)
{
	static const struct picture pictures[] = {
		{ "output-80x24", 24, 80, "L" },
		{ "output-40x10", 10, 40, "L" },
		{ "output-home-120x40", 40, 120, "" },
	};
	struct stage *stage = *state;

	/* The last of the log's lines, whatever was logged before. */
	log_set_quiet(1);
	for (int i = 0; i < 12; i++)
		log_write(LOG_WARNING, "something to remember");
	log_set_quiet(0);
	print_steps(stage);
	for (size_t i = 0; i < ARRAY_LENGTH(pictures); i++) {
		struct buffer drawn = BUFFER_INIT;

		stage_resize(stage, pictures[i].row_count, pictures[i].column_count);
		stage_keys(stage, pictures[i].keys);
		stage_draw(stage, &drawn);
		stage_check_golden(pictures[i].name, &drawn);
		stage_keys(stage, "Esc");
		buffer_clear(&drawn);
	}
}

static void it_is_scrolled_and_searched(void **state)
{
	struct stage *stage = *state;

	print_steps(stage);
	stage_keys(stage, "L");
	stage_check_shows(stage, "step 30");
	stage_check_hides(stage, "step 2 ");
	stage_keys(stage, "Up");
	stage_check_hides(stage, "step 30");
	print(stage, 3, "stdout", "loss 1\n[rank 3] step 31\n");
	stage_check_hides(stage, "step 31");
	stage_keys(stage, "End");
	stage_check_shows(stage, "step 31");
	print(stage, 3, "stdout", "[rank 3] step 32\n");
	stage_check_shows(stage, "step 32");
	stage_keys(stage, "Home");
	stage_check_shows(stage, "step 2 ");
	stage_keys(stage, "/ U s e r W Enter");
	stage_check_shows(stage, "UserWarning");
}

static void tab_goes_to_the_log(void **state)
{
	struct stage *stage = *state;

	log_set_quiet(1);
	for (int i = 0; i < 20; i++)
		log_write(LOG_WARNING, "remember %d.", i);
	log_set_quiet(0);
	print_steps(stage);
	stage_keys(stage, "L");
	stage_check_shows(stage, "remember 19.");
	stage_keys(stage, "Tab Up Up");
	stage_check_hides(stage, "remember 19.");
	stage_check_shows(stage, "step 30");
	stage_keys(stage, "Tab Home");
	stage_check_hides(stage, "remember 19.");
	stage_check_shows(stage, "step 2 ");
}

static void where_it_goes_is_said(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "L");
	stage_check_shows(stage, "reading the output");
	answer(stage, 3, NULL, "rank 3's standard output is a pipe to torchrun (pid 812).");
	stage_check_shows(stage, "is a pipe to torchrun (pid 812).");
	stage->engine.session.is_replay = true;
	stage_keys(stage, "]");
	stage_check_shows(stage, "output not recorded");
}

/* Without files there is nothing to show, and no room is taken. */
static void home_shows_it_where_there_is_room(void **state)
{
	struct stage *stage = *state;

	stage_resize(stage, 40, 120);
	answer(stage, 3, NULL, "It is a pipe.");
	stage_check_hides(stage, "Output");
	print_steps(stage);
	stage_check_shows(stage, "Output · rank 3 · /data/logs");
	stage_resize(stage, 29, 120);
	stage_check_hides(stage, "Output");
	stage_resize(stage, 40, 119);
	stage_check_hides(stage, "Output");
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_STAGE(lines_come_in_pieces),
		ON_STAGE(a_progress_bar_is_one_line),
		ON_STAGE(what_a_terminal_would_obey_is_shown),
		ON_STAGE(a_line_and_a_rank_are_bounded),
		ON_STAGE(a_long_line_keeps_both_ends),
		ON_STAGE(a_line_that_is_drawn_again_is_short),
		ON_STAGE(what_is_asked_for_again_replaces),
		ON_STAGE(bad_events_change_nothing),
		ON_STAGE(draws_the_picture),
		ON_STAGE(it_is_scrolled_and_searched),
		ON_STAGE(tab_goes_to_the_log),
		ON_STAGE(where_it_goes_is_said),
		ON_STAGE(home_shows_it_where_there_is_room),
	};

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
