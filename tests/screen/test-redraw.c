/*
 * What 1,024 ranks cost: memory, time to take in their samples and to draw
 * them, and bytes written to the terminal when three of them changed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <malloc.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/message.h"
#include "stage.h"
#include "ui/commands.h"
#include "ui/screen.h"

#define RANKS 1024
#define DRAWS 20
#define FIRST_PID 10000
#define MARK '\036' /* no terminal is sent this one */
#define KILOBYTES_A_RANK 64
/* Five times what is wanted: sanitizers and busy machines are slow. */
#define DRAW_SECONDS (5 * 0.016)

static size_t heap_before;

static int open_many(void **state)
{
	struct stage *stage = calloc(1, sizeof(*stage));

	assert_non_null(stage);
	heap_before = mallinfo2().uordblks;
	stage_open(stage, "many.jsonl");
	stage_resize(stage, 50, 200);
	*state = stage;
	return 0;
}

static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A sample of a rank that is at that stack of the recording now. */
static void see(struct stage *stage, int rank, int stack, int epoch)
{
	struct session *session = &stage->engine.session;
	struct buffer line = BUFFER_INIT;
	struct error error = ERROR_INIT;
	struct message message;

	buffer_printf(
		&line,
		"{\"seq\":1,\"type\":\"event\",\"event\":\"sampled\",\"body\":{\"pid\":%d,\"rank\":"
		"%d,\"epoch\":%d,\"time\":%d.0,\"threads\":[{\"tid\":%d,\"is_main\":true,\"state\":"
		"\"blocked\",\"exact\":\"exact\",\"syscall\":202,\"stack\":%d}]}}",
		FIRST_PID + rank, rank, epoch, 1540 + epoch, FIRST_PID + rank, stack);
	if (message_parse(&message, line.data, line.length, &error) < 0)
		fail_msg("%s", error.message);
	if (session_apply(session, 0, &message, session->now, &error) < 0)
		fail_msg("%s", error.message);
	message_clear(&message);
	buffer_clear(&line);
}

static void a_rank_is_small(void **state)
{
	size_t heap = mallinfo2().uordblks;

	(void)state;
	if (heap <= heap_before) {
		print_message("skip: a sanitizer does not say how much memory is used\n");
		skip();
	}
	printf("# %.1f KB a rank, of %d\n", (double)(heap - heap_before) / 1024 / RANKS, RANKS);
	assert_true(heap - heap_before < (size_t)RANKS * 1024 * KILOBYTES_A_RANK);
}

static void a_frame_of_many_is_cheap(void **state)
{
	static const char *const lines[] = {
		"grid cells", "grid table",    "grid cards",  "group host", "grid cells",
		"group none", "sort activity", "filter fsdp", "filter",
	};
	struct stage *stage = *state;

	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
		double begun;

		commands_run(&stage->app, lines[i]);
		begun = seconds();
		for (int j = 0; j < DRAWS; j++)
			app_draw(&stage->app);
		printf("# %.2f ms a frame after %s\n", (seconds() - begun) * 1000 / DRAWS,
		       lines[i]);
		assert_true((seconds() - begun) / DRAWS < DRAW_SECONDS);
	}
}

static void samples_of_many_are_cheap(void **state)
{
	struct stage *stage = *state;
	double begun = seconds();

	for (int rank = 0; rank < RANKS; rank++)
		see(stage, rank, rank % 2 + 1, 3);
	session_judge(&stage->engine.session);
	printf("# %.2f ms for a sample of each rank and the verdict\n", (seconds() - begun) * 1000);
	/* Once a second, of one core. */
	assert_true(seconds() - begun < 0.5);
}

static void mark(void)
{
	static const char byte = MARK;

	if (write(STDOUT_FILENO, &byte, 1) != 1)
		_exit(2);
}

/* On the terminal: draws all, draws three changes, draws nothing new. */
static void play(struct stage *stage)
{
	static const int changed[] = { 7, 300, 1000 };
	struct error error = ERROR_INIT;

	setenv("TERM", "xterm-256color", 1);
	stage->app.screen = screen_open(false, &error);
	if (stage->app.screen == NULL)
		_exit(1);
	screen_set_theme(stage->app.screen, &stage->app.theme);
	app_draw(&stage->app);
	mark();
	for (size_t i = 0; i < ARRAY_LENGTH(changed); i++)
		see(stage, changed[i], 2, 3);
	session_judge(&stage->engine.session);
	app_draw(&stage->app);
	mark();
	app_draw(&stage->app);
	mark();
	screen_close(stage->app.screen);
	mark();
	_exit(0);
}

/* Bytes up to the next mark. */
static size_t count_to_mark(int fd)
{
	size_t count = 0;
	char byte;

	while (read(fd, &byte, 1) == 1) {
		if (byte == MARK)
			return count;
		count++;
	}
	fail_msg("the program ended before it had drawn");
	return 0;
}

static void only_what_changed_is_written(void **state)
{
	const struct winsize size = { .ws_row = 50, .ws_col = 200 };
	size_t all;
	size_t changed;
	size_t nothing;
	int status;
	int fd;
	pid_t pid;

	fflush(stdout);
	pid = forkpty(&fd, NULL, NULL, &size);
	assert_true(pid >= 0);
	if (pid == 0)
		play(*state);
	all = count_to_mark(fd);
	changed = count_to_mark(fd);
	nothing = count_to_mark(fd);
	count_to_mark(fd);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(fd);
	printf("# %zu bytes at first, %zu for three ranks, %zu for none\n", all, changed, nothing);
	/* Three cells, the verdict's numbers and two lines of the legend. */
	assert_in_range(changed, 1, 1500);
	assert_in_range(nothing, 0, 64);
	assert_true(all > 5 * changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_is_small),
		cmocka_unit_test(only_what_changed_is_written),
		cmocka_unit_test(a_frame_of_many_is_cheap),
		cmocka_unit_test(samples_of_many_are_cheap),
	};

	return cmocka_run_group_tests_name("redraw", tests, open_many, stage_end);
}
