/*
 * waits: the one place of the node that waits for threads that it traces for
 * long and for the processes that it started. Who is killed meanwhile is told
 * of, too.
 *
 * It takes only what it was told of by its tid, so that freezer.h may wait for
 * its own. All that is there is taken first and told of then, so that a
 * thread that stops all the time keeps nobody waiting.
 *
 * A thread or child that is traced because its parent is may come to stand
 * before the parent says that there is one: its status stays where it is until
 * waits_add(). When nobody adds it (the parent was killed before it could say
 * so) it is a stranger, whom waits_on_stranger() is about.
 */
#ifndef BACKENDS_TRACER_WAITS_H
#define BACKENDS_TRACER_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct waits;

/* What changed() gets for a status when waits_free() ends it all. */
#define WAITS_END (-1)

/* Watches SIGCHLD on the loop. */
struct waits *waits_new(struct loop *loop);
/* Lends the loop. */
struct loop *waits_loop(const struct waits *waits);
/* Calls changed() with WAITS_END for all there are. NULL frees nothing. */
void waits_free(struct waits *waits);
/*
 * changed() is called with each status of waitpid(2) (__WALL) of this thread
 * or child, until waits_forget(), which may come from within it. A status
 * that says that it has ended is the last.
 */
void waits_add(struct waits *waits, pid_t tid, void (*changed)(pid_t tid, int status, void *data),
	       void *data);
void waits_forget(struct waits *waits, pid_t tid);
/* The data that it was added with, if for that function; NULL: it was not. */
void *waits_find(const struct waits *waits, pid_t tid,
		 void (*changed)(pid_t tid, int status, void *data));
/* Calls each() with the data of all that were added with that function. */
void waits_each(const struct waits *waits, void (*changed)(pid_t tid, int status, void *data),
		void (*each)(void *entry, void *data), void *data);
/*
 * From within changed(): this thread was trapped and resumed, and its next trap
 * is likely to come at once. It is waited for past the loop, for 8 ms in all at
 * most. What is no stop by SIGTRAP is left to the loop.
 */
void waits_expect(struct waits *waits, pid_t tid);
/* Takes what is there now; returns how many it told of. */
size_t waits_take(struct waits *waits);

/*
 * The next status of this one alone, for who cannot wait for the loop: true,
 * and changed() is not called for it. False: none within so many nanoseconds.
 */
bool waits_one(struct waits *waits, pid_t tid, uint64_t nanoseconds, int *status);
/* Gives a status back: changed() is called with it, later, from the loop. */
void waits_return(struct waits *waits, pid_t tid, int status);

/*
 * stranger() is called with each status of one that has stood (or been dead)
 * for a while, is traced by us, and was added by nobody.
 */
void waits_on_stranger(struct waits *waits,
		       void (*stranger)(struct waits *waits, pid_t tid, int status));

#endif
