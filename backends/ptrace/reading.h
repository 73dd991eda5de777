/*
 * reading: a look at one thread of a process that may run.
 *
 * A frame is named by its depth in a sample that was told before, but the
 * thread may have moved since. So a fresh sample is taken, and the frame is
 * the one that is as far from the outermost frame as the one that was asked
 * for, if it and all below it still run the same code.
 *
 * A thread that runs is held meanwhile; a blocked one needs no hold, and a
 * look afterwards shows that it did not move. Release it as soon as all is
 * read: microseconds, not more.
 */
#ifndef BACKENDS_PTRACE_READING_H
#define BACKENDS_PTRACE_READING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/sample.h"

struct error;
struct ptrace_connection;
struct pyobject_frame;
struct pyreader;

struct reading {
	struct ptrace_connection *connection;
	struct process_sample sample; /* the fresh one */
	pid_t tid;		      /* 0: the main thread */
	int interpreter; /* -1: the only one that the thread runs Python in */
	bool is_held;
	enum exactness exactness;
};

/* Samples anew; -1 and a sentence. */
int reading_take(struct reading *reading, struct error *error);
/* The same, settles thread and interpreter, and holds the thread if it runs. */
int reading_hold(struct reading *reading, struct error *error);
/* The holder of the GIL of the interpreter, after reading_take(). */
void reading_hold_holder(struct reading *reading);
/* The thread in the fresh sample; NULL: it runs no Python now. */
const struct thread_sample *reading_thread(const struct reading *reading);
/*
 * The depth now of the frame that had this depth in the newest sample that
 * was sent; -1: it is no more.
 */
int reading_follow(const struct reading *reading, int depth);
/* The frame at a depth of the fresh sample; -1 and a sentence. */
int reading_frame(const struct reading *reading, int depth,
		  struct pyobject_frame *frame, struct error *error);
/* Whether the thread rested all the while; a hold makes sure of it. */
void reading_judge(struct reading *reading);
/* Lets go of what is held. */
void reading_release(struct reading *reading);
/* That, and frees it. */
void reading_clear(struct reading *reading);

/*
 * An address may be somebody else's by now: an object must be there, of this
 * type unless that is NULL. -1 and a sentence.
 */
int reading_check_type(struct pyreader *reader, uint64_t address,
		       const char *type, struct error *error);

#endif
