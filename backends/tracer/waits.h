/*
 * waits: calls waitpid(2) for the threads of the node's tracees and for the processes that the node
 * has started, and reports each status, also that of a kill, to a callback. No other module waits
 * for these threads and processes.
 *
 * Only the statuses of added tids are taken, so that freezer.h can wait for its own thread. All
 * available statuses are taken first and reported afterwards, so that a thread that stops all the
 * time does not delay the other threads.
 *
 * A new thread or child that is traced because its parent is traced may stop before the parent's
 * event reports it: its status is not taken until waits_add(). If it is never added (the parent was
 * killed before the event), it is a stranger, and is reported to the callback set by
 * waits_on_stranger().
 */
#ifndef BACKENDS_TRACER_WAITS_H
#define BACKENDS_TRACER_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct waits;

/* The status that waits_free() passes to changed(). */
#define WAITS_END (-1)

/* Handles SIGCHLD on the loop, which is borrowed. */
struct waits *waits_new(struct loop *loop);
/* Returns the loop. */
struct loop *waits_loop(const struct waits *waits);
/* Calls changed() with WAITS_END for each added tid, and frees waits. NULL: does nothing. */
void waits_free(struct waits *waits);
/*
 * From now on, changed() is called with each status of waitpid(2) (__WALL) of this thread or child,
 * until waits_forget(), which changed() may call. The last status is that of the exit.
 */
void waits_add(struct waits *waits, pid_t tid, void (*changed)(pid_t tid, int status, void *data),
	       void *data);
void waits_forget(struct waits *waits, pid_t tid);
/* Returns the data with which tid was added for this callback; NULL: tid was not added for it. */
void *waits_find(const struct waits *waits, pid_t tid,
		 void (*changed)(pid_t tid, int status, void *data));
/* Calls each() with the data of each tid that was added with this callback `changed`. */
void waits_each(const struct waits *waits, void (*changed)(pid_t tid, int status, void *data),
		void (*each)(void *entry, void *data), void *data);
/*
 * To be called by changed() if the thread was trapped and resumed, and its next trap is likely to
 * come at once: waits for that trap, and for the traps that changed() expects after that trap,
 * without returning to the loop, for at most 8 ms from the first wait on. Statuses other than stops
 * by SIGTRAP are left to the loop.
 */
void waits_expect(struct waits *waits, pid_t tid);
/* Takes and reports the available statuses; returns how many were reported. */
size_t waits_take(struct waits *waits);

/*
 * Waits for the next status of tid, for a caller that cannot wait for the loop. Returns true with
 * the status in *status, for which changed() is not called; false if there is no status within this
 * time.
 */
bool waits_one(struct waits *waits, pid_t tid, uint64_t nanoseconds, int *status);
/* Gives back a status taken by waits_one(): the loop calls changed() with that status later. */
void waits_return(struct waits *waits, pid_t tid, int status);

/*
 * From now on, stranger() is called with the status of each thread or child that this process
 * traces, that was never added, and that has been stopped or dead for a while.
 */
void waits_on_stranger(struct waits *waits,
		       void (*stranger)(struct waits *waits, pid_t tid, int status));

#endif
