/*
 * loop: the one event loop of a program, over libuv, which no other file includes.
 *
 * Callbacks run one after the other on the loop's thread. A watch, timer or signal belongs to the
 * loop; its _stop function ends and frees it, is called only once, and may be called from its own
 * callback. Only the work of loop_work() runs on another thread.
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_watch;
struct loop_timer;
struct loop_signal;

enum loop_event {
	LOOP_READABLE = 1,
	LOOP_WRITABLE = 2,
};

/* Exits with status 3 if libuv cannot make a loop, for want of descriptors. */
struct loop *loop_new(void);
/* Waits for the work that loop_work() began. */
void loop_free(struct loop *loop);
/*
 * loop_free() that waits at most `seconds` seconds. Returns false if work is still running: the
 * loop then still exists; call loop_end() again, or exit with _exit(2).
 */
bool loop_end(struct loop *loop, double seconds);
/* Runs until loop_stop() or until nothing is watched any longer. */
void loop_run(struct loop *loop);
/* Waits for events and handles one turn of them. */
void loop_turn(struct loop *loop);
/* Ends loop_run() after the current turn. */
void loop_stop(struct loop *loop);
/* Seconds of CLOCK_MONOTONIC, read at each call. */
double loop_now(void);
/* loop_now() in nanoseconds. */
uint64_t loop_now_ns(void);

/*
 * Watches fd (not owned) for events, a set of enum loop_event. fd keeps its flags: set
 * O_NONBLOCK to read until EAGAIN. The end of a pipe or an error counts as readable or
 * writable. fd may be closed after loop_watch_stop().
 */
struct loop_watch *loop_watch(struct loop *loop, int fd, int events,
			      void (*ready)(int fd, int events, void *data), void *data);
void loop_watch_stop(struct loop_watch *watch);

/* Calls due() after delay seconds, and then every period seconds if period > 0. */
struct loop_timer *loop_timer(struct loop *loop, double delay, double period,
			      void (*due)(void *data), void *data);
void loop_timer_stop(struct loop_timer *timer);

/* Calls caught() in a turn of the loop after each signal `number`, not in a signal handler. */
struct loop_signal *loop_signal(struct loop *loop, int number,
				void (*caught)(int number, void *data), void *data);
/*
 * Like loop_signal(); NULL if the process ignores the signal, as SIGHUP under nohup(1) and SIGINT
 * in the background of a shell.
 */
struct loop_signal *loop_signal_unless_ignored(struct loop *loop, int number,
					       void (*caught)(int number, void *data), void *data);
/* signal may be NULL. */
void loop_signal_stop(struct loop_signal *signal);

/*
 * Calls work() on another thread, then done() on the loop's thread; loop_run() does not end before
 * done(). libuv limits how many work() run at a time.
 */
void loop_work(struct loop *loop, void (*work)(void *data), void (*done)(void *data), void *data);

#endif
