/* replay and record: what is written is read, broken files are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/record.h"
#include "engine/replay.h"
#include "protocol/message.h"
#include "scene.h"

#define EVENT(time)                                                                                \
	"{\"time\":" time ",\"seq\":1,\"type\":\"event\",\"event\":\"x\","                         \
	"\"body\":{}}"

static char path[64];

static int make_path(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test-replay-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

static struct replay *open_path(struct error *error)
{
	char *paths[] = { path };

	return replay_new(paths, 1, error);
}

static struct replay *load(const char *text, size_t length, struct error *error)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	fclose(file);
	return open_path(error);
}

/* The time of the next line up to until; -1: there is none. */
static double next(struct replay *replay, double until)
{
	struct error error = ERROR_INIT;
	struct replay_line line;
	int result = replay_next(replay, until, &line, &error);

	assert_string_equal(error.message, "");
	if (result == 0)
		return -1;
	message_clear(&line.message);
	return line.time;
}

static void lines_come_at_their_time(void **state)
{
	static const char text[] = EVENT("0.5") "\n" EVENT("2") "\n" EVENT("2") "\n" EVENT("9");
	struct error error = ERROR_INIT;
	struct replay *replay = load(text, strlen(text), &error);

	(void)state;
	assert_string_equal(error.message, "");
	assert_non_null(replay);
	/* The last line has no newline: it was cut and is left out. */
	assert_true(replay_end_time(replay) == 2);
	assert_true(replay_first_time(replay) == 0.5);
	assert_true(next(replay, 0.4) == -1);
	assert_true(next(replay, 1) == 0.5);
	assert_true(next(replay, 1) == -1);
	assert_true(next(replay, INFINITY) == 2);
	assert_true(next(replay, INFINITY) == 2);
	assert_true(next(replay, INFINITY) == -1);
	replay_seek(replay, 0);
	assert_true(next(replay, INFINITY) == 0.5);
	replay_free(replay);
}

static void broken_files_are_named(void **state)
{
	static const struct {
		const char *text;
		const char *part;
	} cases[] = {
		{ "", "is empty: no recording" },
		{ "{\"time\":1", "no complete line" },
		{ "hello\n", "is not a recording of probetui: line 1" },
		{ "\n", "is not a recording of probetui: line 1" },
		{ "[]\n", "line 1" },
		{ "{\"seq\":1,\"type\":\"event\",\"event\":\"x\"}\n", "the line has no time" },
		{ EVENT("1") "\n" EVENT("0.5") "\n", "damaged at line 2: the time is before" },
		{ EVENT("1") "\n" EVENT("-1") "\n", "damaged at line 2" },
		{ EVENT("1") "\n" EVENT("inf") "\n", "damaged at line 2" },
		{ EVENT("1") "\n" EVENT("\"1\"") "\n", "damaged at line 2" },
		{ EVENT("1") "\n{\"time\":2\n", "damaged at line 2" },
		{ EVENT("1") "\n" EVENT("1") "\n\n", "damaged at line 3" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct error error = ERROR_INIT;

		assert_null(load(cases[i].text, strlen(cases[i].text), &error));
		if (!strstr(error.message, cases[i].part) || !strstr(error.message, path))
			fail_msg("'%s' lacks '%s'", error.message, cases[i].part);
	}
}

static void a_nul_byte_is_no_end(void **state)
{
	static const char text[] = EVENT("1") "\n\0" EVENT("2") "\n";
	struct error error = ERROR_INIT;

	(void)state;
	assert_null(load(text, sizeof(text) - 1, &error));
	assert_non_null(strstr(error.message, "line 2"));
}

static void files_that_are_none(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	assert_null(replay_new((char *[]){ "/nowhere/x" }, 1, &error));
	assert_non_null(strstr(error.message, "cannot open the recording"));
	assert_null(replay_new((char *[]){ "/" }, 1, &error));
	assert_non_null(strstr(error.message, "folder"));
}

/* As `--replay <(zcat FILE)`: the writer is slower than the reader. */
static void a_pipe_is_read_to_its_end(void **state)
{
	enum { LINES = 20000 };
	static const char line[] = EVENT("1") "\n";
	struct error error = ERROR_INIT;
	struct replay *replay;
	char name[40];
	size_t count = 0;
	int ends[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		close(ends[0]);
		for (int i = 0; i < LINES; i++) {
			if (write(ends[1], line, sizeof(line) - 1) < 0)
				_exit(1);
		}
		_exit(0);
	}
	close(ends[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[0]);
	replay = replay_new((char *[]){ name }, 1, &error);
	assert_string_equal(error.message, "");
	while (next(replay, INFINITY) >= 0)
		count++;
	assert_int_equal(count, LINES);
	replay_free(replay);
	close(ends[0]);
	waitpid(child, NULL, 0);
}

static void a_cut_recording_is_known(void **state)
{
	static const char whole[] = EVENT("1") "\n";
	static const char cut[] = EVENT("1") "\n{\"time\":2";
	struct replay *replay;

	(void)state;
	replay = load(whole, strlen(whole), NULL);
	assert_null(replay_cut_path(replay));
	replay_free(replay);
	replay = load(cut, strlen(cut), NULL);
	assert_string_equal(replay_cut_path(replay), path);
	replay_free(replay);
}

static struct scene scene;

static void record(struct record *record, struct message *message, double time)
{
	struct buffer line = BUFFER_INIT;

	message_append(&line, message);
	assert_int_equal(record_line(record, &scene.session, message, line.data, line.length - 1,
				     time, NULL),
			 0);
	buffer_clear(&line);
}

static void take(struct replay *replay, struct replay_line *line)
{
	assert_int_equal(replay_next(replay, INFINITY, line, NULL), 1);
}

static void what_is_recorded_replays(void **state)
{
	struct error error = ERROR_INIT;
	struct record *file;
	struct replay *replay;
	struct message request;
	struct message answer;
	struct replay_line read;
	struct stat status;

	(void)state;
	unlink(path);
	file = record_new(path, &error);
	assert_non_null(file);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	message_make_request(&request, "variables", NULL);
	message_make_response(&answer, &request, NULL, NULL);
	record(file, &request, 1.25);
	record(file, &answer, 2); /* nobody asked for locals: not written */
	record_want_variables(file);
	record(file, &answer, 3.5);
	record_free(file);
	replay = open_path(&error);
	assert_string_equal(error.message, "");
	take(replay, &read);
	assert_string_equal(read.message.name, "snapshot");
	message_clear(&read.message);
	take(replay, &read);
	assert_int_equal(read.message.type, MESSAGE_REQUEST);
	assert_true(read.time == 1.25);
	message_clear(&read.message);
	take(replay, &read);
	assert_int_equal(read.message.type, MESSAGE_RESPONSE);
	assert_true(read.time == 3.5);
	message_clear(&read.message);
	assert_true(next(replay, INFINITY) == -1);
	replay_free(replay);
	message_clear(&answer);
	message_clear(&request);
}

static void secrets_are_masked(void **state)
{
	static const char text[] =
		"{\"variables\":[{\"name\":\"api_key\",\"value\":\"'hush'\"},{\"name\":\"step\","
		"\"value\":\"3\"},{\"name\":\"config\",\"value\":\"{'api_key': "
		"'sk-1'}\"},{\"name\":\"headers\",\"value\":\"{'Authorization': 'x'}\"}]}";
	struct error error = ERROR_INIT;
	struct message request;
	struct message answer;
	struct record *file;
	struct replay *replay;
	struct replay_line read;
	const json_t *list;

	(void)state;
	unlink(path);
	file = record_new(path, &error);
	record_want_variables(file);
	message_make_request(&request, "variables", NULL);
	message_make_response(&answer, &request, json_parse(text, strlen(text), &error), NULL);
	record(file, &answer, 1);
	record_free(file);
	replay = open_path(&error);
	assert_true(next(replay, INFINITY) == 1); /* the snapshot */
	take(replay, &read);
	list = json_object_get(read.message.body, "variables");
	assert_string_equal(json_get_string(json_array_get(list, 0), "value", ""), "<masked>");
	assert_string_equal(json_get_string(json_array_get(list, 1), "value", ""), "3");
	for (size_t i = 2; i < 4; i++)
		assert_string_equal(json_get_string(json_array_get(list, i), "value", ""),
				    "<masked>");
	message_clear(&read.message);
	replay_free(replay);
	message_clear(&answer);
	message_clear(&request);
}

static void record_variables(struct record *file, const char *text)
{
	struct error error = ERROR_INIT;
	struct message request;
	struct message answer;

	message_make_request(&request, "variables", NULL);
	message_make_response(&answer, &request, json_parse(text, strlen(text), &error), NULL);
	record(file, &answer, 1);
	message_clear(&answer);
	message_clear(&request);
}

/* What is in a masked object is masked, however deep it is opened. */
static void what_is_in_a_secret_is_masked(void **state)
{
	static const char *const answers[] = {
		"{\"pid\":7,\"depth\":0,\"address\":\"0x0\",\"variables\":[{\"name\":\"api_keys\","
		"\"value\":\"<dict>\",\"address\":\"0xa0\"}]}",
		"{\"pid\":7,\"depth\":-1,\"address\":\"0xa0\",\"variables\":[{\"name\":\"'openai'"
		"\",\"value\":\"[..]\",\"address\":\"0xb0\"}]}",
		"{\"pid\":7,\"depth\":-1,\"address\":\"0xb0\",\"variables\":[{\"name\":\"0\","
		"\"value\":\"'sk-1'\",\"address\":\"0xc0\"}]}",
		"{\"pid\":8,\"depth\":-1,\"address\":\"0xa0\",\"variables\":[{\"name\":\"0\","
		"\"value\":\"shown\",\"address\":\"0xc0\"}]}",
	};
	struct error error = ERROR_INIT;
	struct record *file;
	struct replay *replay;
	struct replay_line read;

	(void)state;
	unlink(path);
	file = record_new(path, &error);
	record_want_variables(file);
	for (size_t i = 0; i < 4; i++)
		record_variables(file, answers[i]);
	record_free(file);
	replay = open_path(&error);
	assert_true(next(replay, INFINITY) == 1); /* the snapshot */
	for (size_t i = 0; i < 4; i++) {
		take(replay, &read);
		assert_string_equal(
			json_get_string(
				json_array_get(json_object_get(read.message.body, "variables"), 0),
				"value", ""),
			i < 3 ? "<masked>" : "shown");
		message_clear(&read.message);
	}
	replay_free(replay);
}

static void record_output(struct record *file, const char *text, double time)
{
	struct error error = ERROR_INIT;
	struct message message;

	message_make_event(&message, "output", json_parse(text, strlen(text), &error));
	record(file, &message, time);
	message_clear(&message);
}

/* It may hold secrets that nothing tells of. */
static void what_ranks_print_is_asked_for(void **state)
{
	static const char printed[] = "{\"pid\":7,\"category\":\"stdout\",\"output\":\"hush\"}";
	static const char sentence[] = "{\"category\":\"console\",\"output\":\"A sentence.\"}";
	struct error error = ERROR_INIT;
	struct record *file;
	struct replay *replay;
	struct replay_line read;

	(void)state;
	unlink(path);
	file = record_new(path, &error);
	record_output(file, printed, 1);
	record_output(file, sentence, 2);
	record_want_output(file);
	record_output(file, printed, 3);
	record_free(file);
	replay = open_path(&error);
	take(replay, &read);
	assert_string_equal(read.message.name, "snapshot");
	message_clear(&read.message);
	for (int i = 2; i <= 3; i++) {
		take(replay, &read);
		assert_true(read.time == i);
		assert_string_equal(json_get_string(read.message.body, "output", ""),
				    i == 2 ? "A sentence." : "hush");
		message_clear(&read.message);
	}
	replay_free(replay);
}

static void nothing_is_overwritten(void **state)
{
	struct error error = ERROR_INIT;
	char name[80];

	(void)state;
	assert_null(record_new(path, &error));
	assert_non_null(strstr(error.message, "already exists"));
	/* Nor through a link that points to nothing yet. */
	snprintf(name, sizeof(name), "%s.link", path);
	assert_int_equal(symlink("/tmp/test-replay-elsewhere", name), 0);
	assert_null(record_new(name, &error));
	assert_int_equal(access("/tmp/test-replay-elsewhere", F_OK), -1);
	unlink(name);
}

static int begin(void **state)
{
	(void)state;
	scene_init(&scene);
	return 0;
}

static int end(void **state)
{
	(void)state;
	scene_clear(&scene);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_path, remove_path)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_come_at_their_time),	     TEST(broken_files_are_named),
		TEST(a_nul_byte_is_no_end),	     TEST(files_that_are_none),
		TEST(what_is_recorded_replays),	     TEST(secrets_are_masked),
		TEST(what_is_in_a_secret_is_masked), TEST(what_is_recorded_replays),
		TEST(what_ranks_print_is_asked_for), TEST(nothing_is_overwritten),
		TEST(a_pipe_is_read_to_its_end),     TEST(a_cut_recording_is_known),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
