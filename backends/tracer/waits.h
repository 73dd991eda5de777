/*
 * waits: the one place of the node that calls waitpid(2) for the threads of its
 * tracees and for the processes that it started. A kill is reported as well.
 *
 * It takes the statuses of added tids only, so that freezer.h can wait for its
 * own thread. All available statuses are taken first and reported afterwards,
 * so that a thread that stops all the time does not delay the others.
 *
 * A thread or child that is traced because its parent is may stop before the
 * parent's event reports it: its status is not taken until waits_add(). If
 * nobody adds it (the parent was killed before the event) it is a stranger, and
 * is reported to the function set by waits_on_stranger().
 */
#ifndef BACKENDS_TRACER_WAITS_H
#define BACKENDS_TRACER_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct waits;

/* The status with which waits_free() calls changed(). */
#define WAITS_END (-1)

/* Watches SIGCHLD on the loop. */
struct waits *waits_new(struct loop *loop);
/* The loop, borrowed. */
struct loop *waits_loop(const struct waits *waits);
/* Calls changed() with WAITS_END for all that were added. NULL: does nothing. */
void waits_free(struct waits *waits);
/*
 * changed() is called with each status of waitpid(2) (__WALL) of this thread
 * or child, until waits_forget(), which changed() may call. The status of its end
 * is the last.
 */
void waits_add(struct waits *waits, pid_t tid, void (*changed)(pid_t tid, int status, void *data),
	       void *data);
void waits_forget(struct waits *waits, pid_t tid);
/* The data with which tid was added for this function; NULL: it was not. */
void *waits_find(const struct waits *waits, pid_t tid,
		 void (*changed)(pid_t tid, int status, void *data));
/* Calls each() with the data of all that were added with that function. */
void waits_each(const struct waits *waits, void (*changed)(pid_t tid, int status, void *data),
		void (*each)(void *entry, void *data), void *data);
/*
 * To be called by changed() if the thread was trapped and resumed, and its next
 * trap is likely to come at once: waits for that trap without the loop, for 8 ms
 * in all at most. All but stops by SIGTRAP are left to the loop.
 */
void waits_expect(struct waits *waits, pid_t tid);
/* Takes and reports the available statuses; returns how many it reported. */
size_t waits_take(struct waits *waits);

/*
 * Waits for the next status of tid, for a caller that cannot wait for the loop.
 * True: changed() is not called for that status. False: none within this time.
 */
bool waits_one(struct waits *waits, pid_t tid, uint64_t nanoseconds, int *status);
/* Puts a status back: changed() is called with it, later, from the loop. */
void waits_return(struct waits *waits, pid_t tid, int status);

/*
 * stranger() is called with the status of a thread or child that this process
 * traces, that nobody has added, and that has been stopped or dead for a while.
 */
void waits_on_stranger(struct waits *waits,
		       void (*stranger)(struct waits *waits, pid_t tid, int status));

#endif
