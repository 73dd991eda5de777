/*
 * inject: a script of Python that runs once in a CPython that runs already,
 * unmodified.
 *
 * The script is a file, as the process sees it, and has a namespace of its
 * own. It is run
 *
 * - in the main thread between two of its instructions, as a pending call: the
 *   thread is stopped for a millisecond or two, given a page with a few
 *   instructions, and made to call Py_AddPendingCall() as a signal handler
 *   may (remote-call.h);
 * - when the main thread waits in the kernel and has let go of the GIL, in a
 *   new thread: it is made to call PyThread_start_new_thread() in the same
 *   way, and waits on. So this is for a rank that hangs, too, and for one that
 *   fell asleep before it came to its pending call.
 *
 * The file is removed when the script begins. Of two threads that begin the
 * script, the one that removes the file runs it.
 *
 * The page goes by itself once the script has run, whether or not we are
 * still there. Nothing is loaded and no code of the program is written over.
 * If this node is killed meanwhile, the thread returns to its call by itself.
 */
#ifndef BACKENDS_INJECT_INJECT_H
#define BACKENDS_INJECT_INJECT_H

#include <stdint.h>
#include <sys/types.h>

struct freezer;
struct inject;
struct loop;
struct reason;

enum inject_way {
	INJECT_NONE, /* not begun */
	INJECT_BY_PENDING_CALL,
	INJECT_BY_THREAD,
};

/* What it has cost the process. */
struct inject_cost {
	enum inject_way way;
	unsigned stops;	     /* of its main thread */
	unsigned turns;	     /* it made in them for us (remote-call.h) */
	uint64_t longest_ns; /* of these stops */
	uint64_t away_ns;    /* of that: its registers were not its own */
};

#define INJECT_PATH_MAXIMUM 512

/*
 * Begins it. done() is called once, from the loop; reason NULL: the script
 * runs, or has run. Else it never will, and why. It is not to be run for longer
 * than limit_seconds after that. NULL, and the reason, when it can be seen
 * at once that it cannot be. It has to be freed, also in done(). holds looks
 * after a thread that stands too late; it is borrowed, as the loop is.
 */
struct inject *inject_new(struct loop *loop, struct freezer *holds, pid_t pid, const char *path,
			  double limit_seconds,
			  void (*done)(struct inject *inject, const struct reason *reason,
				       void *data),
			  void *data, struct reason *reason);
/*
 * It is to be run in the main thread, which may wait, when that comes to run
 * Python again. Before the loop goes on.
 */
void inject_into_main(struct inject *inject);
/* What has not begun to run yet never will. NULL frees nothing. */
void inject_free(struct inject *inject);
/* For tests: who is told where it is (remote-call.h). Before the loop continues. */
void inject_watch(struct inject *inject, void (*passing)(const char *point, void *data),
		  void *data);
void inject_cost(const struct inject *inject, struct inject_cost *cost);

#endif
