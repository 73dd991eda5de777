/* loop: descriptors, timers, signals. Nothing here sleeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "banned.h"
#include "base/loop.h"

struct seen {
	struct loop *loop;
	struct loop_watch *watch;
	struct loop_timer *timer;
	struct loop_signal *signal;
	int count;
	int events;
	int fd;
};

static void read_and_stop(int fd, int events, void *data)
{
	struct seen *seen = data;
	char byte;

	seen->fd = fd;
	seen->events |= events;
	if (read(fd, &byte, 1) == 1) {
		seen->count++;
		return;
	}
	loop_watch_stop(seen->watch);
	seen->watch = NULL;
}

static void a_pipe_is_read_to_its_end(void **state)
{
	struct seen seen = { .loop = loop_new() };
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "abc", 3), 3);
	close(fds[1]);
	seen.watch = loop_watch(seen.loop, fds[0], LOOP_READABLE, read_and_stop, &seen);
	loop_run(seen.loop);
	assert_int_equal(seen.count, 3);
	assert_int_equal(seen.events, LOOP_READABLE);
	assert_int_equal(seen.fd, fds[0]);
	assert_null(seen.watch);
	loop_free(seen.loop);
	close(fds[0]);
}

static void a_file_is_always_ready(void **state)
{
	struct seen seen = { .loop = loop_new() };
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	fputs("abcd", file);
	rewind(file);
	seen.watch = loop_watch(seen.loop, fileno(file), LOOP_READABLE, read_and_stop, &seen);
	loop_run(seen.loop);
	assert_int_equal(seen.count, 4);
	loop_free(seen.loop);
	fclose(file);
}

static void the_null_device_is_at_its_end(void **state)
{
	struct seen seen = { .loop = loop_new() };
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	seen.watch = loop_watch(seen.loop, fd, LOOP_READABLE, read_and_stop, &seen);
	loop_run(seen.loop);
	assert_int_equal(seen.count, 0);
	assert_null(seen.watch);
	loop_free(seen.loop);
	close(fd);
}

static void count_and_stop(int fd, int events, void *data)
{
	struct seen *seen = data;

	(void)fd;
	seen->count++;
	seen->events |= events;
	loop_watch_stop(seen->watch);
}

static void one_descriptor_has_two_watches(void **state)
{
	struct loop *loop = loop_new();
	struct seen reader = { .loop = loop };
	struct seen writer = { .loop = loop };
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	reader.watch = loop_watch(loop, fds[0], LOOP_READABLE, count_and_stop, &reader);
	writer.watch = loop_watch(loop, fds[0], LOOP_WRITABLE, count_and_stop, &writer);
	loop_run(loop);
	assert_int_equal(reader.count, 1);
	assert_int_equal(reader.events, LOOP_READABLE);
	assert_int_equal(writer.count, 1);
	assert_int_equal(writer.events, LOOP_WRITABLE);
	loop_free(loop);
	close(fds[0]);
	close(fds[1]);
}

static void a_broken_pipe_wakes_its_writer(void **state)
{
	struct seen seen = { .loop = loop_new() };
	char block[4096] = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	while (write(fds[1], block, sizeof(block)) > 0)
		;
	close(fds[0]);
	seen.watch = loop_watch(seen.loop, fds[1], LOOP_WRITABLE, count_and_stop, &seen);
	loop_run(seen.loop);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.events, LOOP_WRITABLE);
	loop_free(seen.loop);
	close(fds[1]);
}

static void flags_of_a_descriptor_stay(void **state)
{
	struct seen seen = { .loop = loop_new() };
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	seen.watch = loop_watch(seen.loop, fds[0], LOOP_READABLE, read_and_stop, &seen);
	assert_int_equal(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
	loop_free(seen.loop);
	close(fds[0]);
	close(fds[1]);
}

static void nothing_comes_after_stop(void **state)
{
	struct loop *loop = loop_new();
	struct seen seen = { .loop = loop };
	struct loop_watch *watch;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	watch = loop_watch(loop, fds[0], LOOP_READABLE, read_and_stop, &seen);
	loop_watch_stop(watch);
	close(fds[0]);
	/* The number is used again at once. */
	assert_int_equal(open("/dev/null", O_RDONLY), fds[0]);
	loop_run(loop);
	assert_int_equal(seen.count, 0);
	loop_free(loop);
	close(fds[0]);
	close(fds[1]);
}

static void on_due(void *data)
{
	struct seen *seen = data;

	if (++seen->count == 3) {
		loop_timer_stop(seen->timer);
		seen->timer = NULL;
	}
}

static void a_period_repeats_until_stopped(void **state)
{
	struct seen seen = { .loop = loop_new() };
	double start = loop_now();

	(void)state;
	seen.timer = loop_timer(seen.loop, 0.001, 0.001, on_due, &seen);
	loop_run(seen.loop);
	assert_int_equal(seen.count, 3);
	assert_true(loop_now() - start >= 0.003);
	loop_free(seen.loop);
}

static void a_timer_without_period_comes_once(void **state)
{
	struct seen seen = { .loop = loop_new() };

	(void)state;
	seen.timer = loop_timer(seen.loop, 0, 0, on_due, &seen);
	loop_run(seen.loop);
	assert_int_equal(seen.count, 1);
	/* It can be stopped after it came, or left to the loop. */
	loop_timer_stop(seen.timer);
	loop_timer(seen.loop, 0, 0, on_due, &seen);
	loop_turn(seen.loop);
	assert_int_equal(seen.count, 2);
	loop_free(seen.loop);
}

static void on_signal(int number, void *data)
{
	struct seen *seen = data;

	seen->events = number;
	seen->count++;
	loop_signal_stop(seen->signal);
}

static void a_signal_is_caught(void **state)
{
	struct seen seen = { .loop = loop_new() };

	(void)state;
	seen.signal = loop_signal(seen.loop, SIGUSR1, on_signal, &seen);
	raise(SIGUSR1);
	loop_run(seen.loop);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.events, SIGUSR1);
	loop_free(seen.loop);
}

static void stop_loop(void *data)
{
	loop_stop(data);
}

static void stop_ends_a_run(void **state)
{
	struct loop *loop = loop_new();
	struct seen seen = { .loop = loop };
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	loop_watch(loop, fds[0], LOOP_READABLE, read_and_stop, &seen);
	loop_signal(loop, SIGUSR1, on_signal, &seen);
	loop_timer(loop, 0, 0, stop_loop, loop);
	loop_timer(loop, 3600, 3600, on_due, &seen);
	loop_run(loop);
	/* Everything that is left goes with the loop. */
	loop_free(loop);
	loop_free(NULL);
	close(fds[0]);
	close(fds[1]);
}

static int count_threads(void)
{
	DIR *folder = opendir("/proc/self/task");
	int count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void a_loop_starts_no_thread(void **state)
{
	int before = count_threads();
	struct loop *loop = loop_new();

	(void)state;
	loop_timer(loop, 0, 0, stop_loop, loop);
	loop_run(loop);
	assert_int_equal(count_threads(), before);
	loop_free(loop);
}

static void wait_for_byte(void *data)
{
	char byte;

	assert_int_equal(read(*(int *)data, &byte, 1), 1);
}

static void do_nothing(void *data)
{
	(void)data;
}

static void the_end_waits_no_longer_than_said(void **state)
{
	struct loop *loop = loop_new();
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	loop_work(loop, wait_for_byte, do_nothing, &fds[0]);
	assert_false(loop_end(loop, 0.01));
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_true(loop_end(loop, 20));
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_is_read_to_its_end),
		cmocka_unit_test(a_file_is_always_ready),
		cmocka_unit_test(the_null_device_is_at_its_end),
		cmocka_unit_test(one_descriptor_has_two_watches),
		cmocka_unit_test(a_broken_pipe_wakes_its_writer),
		cmocka_unit_test(flags_of_a_descriptor_stay),
		cmocka_unit_test(nothing_comes_after_stop),
		cmocka_unit_test(a_period_repeats_until_stopped),
		cmocka_unit_test(a_timer_without_period_comes_once),
		cmocka_unit_test(a_signal_is_caught),
		cmocka_unit_test(stop_ends_a_run),
		cmocka_unit_test(a_loop_starts_no_thread),
		cmocka_unit_test(the_end_waits_no_longer_than_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
