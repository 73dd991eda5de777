/*
 * loop: event loop over libuv.
 *
 * Each watch, timer and signal is one allocation that begins with its uv handle. Stopping
 * closes the handle; libuv's close callback frees the memory in a later turn, so stopping
 * is safe anywhere.
 *
 * Three properties of libuv's polling are undone here. libuv makes a descriptor
 * non-blocking, also for other processes that share the terminal: the flag is restored.
 * libuv refuses a second watch on a descriptor: a duplicate is watched then. libuv
 * refuses descriptors that epoll refuses (a file or /dev/null on standard input): such a
 * descriptor never blocks and counts as ready in every turn.
 */
#include "base/loop.h"

#include <assert.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "banned.h"
#include "base/alloc.h"

struct loop {
	uv_loop_t uv;
};

struct loop_watch {
	union {
		uv_handle_t handle;
		uv_poll_t poll;
		uv_idle_t idle;
	};
	int fd;
	int duplicate; /* descriptor that is watched in place of fd; -1: none */
	int events;
	void (*ready)(int fd, int events, void *data);
	void *data;
};

struct loop_timer {
	union {
		uv_handle_t handle;
		uv_timer_t timer;
	};
	void (*due)(void *data);
	void *data;
};

struct loop_signal {
	union {
		uv_handle_t handle;
		uv_signal_t signal;
	};
	void (*caught)(int number, void *data);
	void *data;
};

struct loop_work {
	uv_work_t work;
	void (*run)(void *data);
	void (*done)(void *data);
	void *data;
};

/* The handle is the first member of every struct: free(handle) frees the struct. */
static void free_handle(uv_handle_t *handle)
{
	free(handle);
}

/* Same exit status as STATUS_NOTHING of the commands: no process can be reached. */
#define LOOP_EXIT_STATUS 3

static void loop_check(int result, const char *what)
{
	if (result >= 0)
		return;
	fprintf(stderr, "probetui: %s: %s\n", what, uv_strerror(result));
	abort();
}

struct loop *loop_new(void)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));
	int result = uv_loop_init(&loop->uv);

	/*
	 * uv_loop_init() fails if the descriptor limit is too low, which is the user's setting and
	 * not our bug: no abort().
	 */
	if (result < 0) {
		fprintf(stderr, "probetui: cannot create an event loop: %s\n", uv_strerror(result));
		/* _exit(): this process may be a fork with its parent's unflushed stdio buffers. */
		_exit(LOOP_EXIT_STATUS);
	}
	return loop;
}

/* Closes a handle that its owner has not stopped. */
static void close_left(uv_handle_t *handle, void *unused)
{
	(void)unused;
	if (uv_is_closing(handle))
		return;
	if (handle->type == UV_POLL || handle->type == UV_IDLE)
		loop_watch_stop((struct loop_watch *)handle);
	else
		uv_close(handle, free_handle);
}

/* Rounds up, so that a timer is never early. */
static uint64_t to_milliseconds(double seconds)
{
	if (!(seconds > 0))
		return 0;
	if (seconds > 1e9)
		seconds = 1e9;
	return (uint64_t)(seconds * 1000 + 0.999);
}

/* Waits until a handle is due or ready, but at most the given seconds. */
static void wait_for_turn(struct loop *loop, double seconds)
{
	struct pollfd ready = {
		.fd = uv_backend_fd(&loop->uv),
		.events = POLLIN,
	};
	int limit = seconds < 1e6 ? (int)to_milliseconds(seconds) : -1;
	int due = uv_backend_timeout(&loop->uv);

	poll(&ready, 1, due < 0 || (limit >= 0 && due > limit) ? limit : due);
}

bool loop_end(struct loop *loop, double seconds)
{
	double deadline = loop_now() + seconds;

	uv_walk(&loop->uv, close_left, NULL);
	/* Only the close callbacks and the ends of background work are left to run. */
	while (uv_run(&loop->uv, UV_RUN_NOWAIT) != 0) {
		if (loop_now() > deadline)
			return false;
		wait_for_turn(loop, deadline - loop_now());
	}
	loop_check(uv_loop_close(&loop->uv), "cannot close the event loop");
	free(loop);
	return true;
}

void loop_free(struct loop *loop)
{
	if (loop)
		loop_end(loop, INFINITY);
}

void loop_run(struct loop *loop)
{
	uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_turn(struct loop *loop)
{
	uv_run(&loop->uv, UV_RUN_ONCE);
}

void loop_stop(struct loop *loop)
{
	uv_stop(&loop->uv);
}

double loop_now(void)
{
	return (double)loop_now_ns() / 1e9;
}

uint64_t loop_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int to_uv_events(int events)
{
	return (events & LOOP_READABLE ? UV_READABLE | UV_DISCONNECT : 0) |
	       (events & LOOP_WRITABLE ? UV_WRITABLE : 0);
}

static int from_uv_events(int events)
{
	return (events & (UV_READABLE | UV_DISCONNECT) ? LOOP_READABLE : 0) |
	       (events & UV_WRITABLE ? LOOP_WRITABLE : 0);
}

static void on_poll(uv_poll_t *poll, int status, int uv_events)
{
	struct loop_watch *watch = (struct loop_watch *)poll;
	int events = from_uv_events(uv_events) & watch->events;

	/*
	 * The caller finds the descriptor's error by reading or writing. libuv stops polling after
	 * an error, but the caller has not stopped the watch: start polling again.
	 */
	if (status < 0) {
		events = watch->events;
		uv_poll_start(poll, to_uv_events(events), on_poll);
	}
	if (events)
		watch->ready(watch->fd, events, watch->data);
}

static void on_idle(uv_idle_t *idle)
{
	struct loop_watch *watch = (struct loop_watch *)idle;

	watch->ready(watch->fd, watch->events, watch->data);
}

/* Calls uv_poll_init(), which makes fd non-blocking, and restores the descriptor's flags. */
static int init_poll(struct loop *loop, uv_poll_t *poll, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	int result = uv_poll_init(&loop->uv, poll, fd);

	if (flags >= 0 && !(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, flags);
	return result;
}

struct loop_watch *loop_watch(struct loop *loop, int fd, int events,
			      void (*ready)(int fd, int events, void *data), void *data)
{
	struct loop_watch *watch = xcalloc(1, sizeof(*watch));
	int result;

	*watch = (struct loop_watch){
		.fd = fd,
		.duplicate = -1,
		.events = events,
		.ready = ready,
		.data = data,
	};
	result = init_poll(loop, &watch->poll, fd);
	if (result == UV_EEXIST) {
		watch->duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		result = init_poll(loop, &watch->poll, watch->duplicate);
	}
	if (result == UV_EPERM) {
		loop_check(uv_idle_init(&loop->uv, &watch->idle), "idle");
		loop_check(uv_idle_start(&watch->idle, on_idle), "idle");
		return watch;
	}
	loop_check(result, "cannot wait for a file descriptor");
	loop_check(uv_poll_start(&watch->poll, to_uv_events(events), on_poll),
		   "cannot wait for a file descriptor");
	return watch;
}

void loop_watch_stop(struct loop_watch *watch)
{
	assert(!uv_is_closing(&watch->handle));
	/* Closing removes the descriptor from epoll at once, so that the caller may close fd
	 * now. */
	uv_close(&watch->handle, free_handle);
	if (watch->duplicate >= 0)
		close(watch->duplicate);
}

static void loop_on_timer(uv_timer_t *uv_timer)
{
	struct loop_timer *timer = (struct loop_timer *)uv_timer;

	timer->due(timer->data);
}

struct loop_timer *loop_timer(struct loop *loop, double delay, double period,
			      void (*due)(void *data), void *data)
{
	struct loop_timer *timer = xcalloc(1, sizeof(*timer));
	uint64_t repeat = to_milliseconds(period);

	timer->due = due;
	timer->data = data;
	loop_check(uv_timer_init(&loop->uv, &timer->timer), "timer");
	/* The loop's clock does not advance during a turn; a late clock makes the timer early. */
	uv_update_time(&loop->uv);
	loop_check(uv_timer_start(&timer->timer, loop_on_timer, to_milliseconds(delay), repeat),
		   "timer");
	return timer;
}

void loop_timer_stop(struct loop_timer *timer)
{
	assert(!uv_is_closing(&timer->handle));
	uv_close(&timer->handle, free_handle);
}

static void loop_on_signal(uv_signal_t *uv_signal, int number)
{
	struct loop_signal *signal = (struct loop_signal *)uv_signal;

	signal->caught(number, signal->data);
}

struct loop_signal *loop_signal(struct loop *loop, int number,
				void (*caught)(int number, void *data), void *data)
{
	struct loop_signal *signal = xcalloc(1, sizeof(*signal));

	signal->caught = caught;
	signal->data = data;
	loop_check(uv_signal_init(&loop->uv, &signal->signal), "cannot create a signal handle");
	loop_check(uv_signal_start(&signal->signal, loop_on_signal, number),
		   "cannot catch a signal");
	return signal;
}

struct loop_signal *loop_signal_unless_ignored(struct loop *loop, int number,
					       void (*caught)(int number, void *data), void *data)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
		return NULL;
	return loop_signal(loop, number, caught, data);
}

void loop_signal_stop(struct loop_signal *signal)
{
	if (!signal)
		return;
	assert(!uv_is_closing(&signal->handle));
	uv_close(&signal->handle, free_handle);
}

static void on_work(uv_work_t *uv_work)
{
	struct loop_work *work = (struct loop_work *)uv_work;

	work->run(work->data);
}

static void on_worked(uv_work_t *uv_work, int status)
{
	struct loop_work *work = (struct loop_work *)uv_work;

	(void)status;
	work->done(work->data);
	free(work);
}

void loop_work(struct loop *loop, void (*work)(void *data), void (*done)(void *data), void *data)
{
	struct loop_work *kept = xcalloc(1, sizeof(*kept));
	sigset_t child, before;

	kept->run = work;
	kept->done = done;
	kept->data = data;
	/*
	 * libuv's threads inherit this mask. SIGCHLD must reach the loop's thread, which may wait
	 * for that signal.
	 */
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &before);
	loop_check(uv_queue_work(&loop->uv, &kept->work, on_work, on_worked),
		   "cannot start a background task");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
