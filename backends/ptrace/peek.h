/*
 * peek: a look at one thread of a process that may run.
 *
 * A frame is named by its depth in a sample that was told before, but the
 * thread may have moved since. So a fresh sample is taken, and the frame is
 * the one that is as far from the outermost frame as the one that was asked
 * for, if it and all below it still run the same code.
 *
 * A thread that runs is held for the look; a blocked one needs no hold, and a
 * look afterwards shows that it did not move. Held it is as shortly as can be:
 * the look is done before, while it runs, only to learn where it leads, so
 * that all of that comes in one call once the thread stands.
 */
#ifndef BACKENDS_PTRACE_PEEK_H
#define BACKENDS_PTRACE_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/sample.h"

struct code;
struct error;
struct ptrace_connection;
struct pyobject_frame;
struct pyreader;

struct peek {
	struct ptrace_connection *connection;
	struct process_sample sample; /* the fresh one */
	pid_t tid;		      /* 0: the main thread */
	int interpreter;	      /* -1: the only one that the thread runs Python in */
	bool is_of_holder;	      /* who is to stand is who holds its GIL */
	bool is_held;		      /* now */
	bool has_stood;		      /* throughout the last look */
	uint64_t held_ns;	      /* at a time, at most */
	uint64_t held_calls;	      /* that read memory in the last one */
	enum exactness exactness;
};

/* Samples anew, and settles thread and interpreter; -1 and a sentence. */
int peek_begin(struct peek *reading, struct error *error);
/*
 * Has look() look, with the thread held if it runs; what it gave, and error,
 * are those of its last call. It is called several times, begins anew each
 * time, reads through peek_reader(), and does no more than it must: the
 * thread waits for it.
 */
int peek_look(struct peek *reading,
	      int (*look)(struct peek *reading, void *data, struct error *error), void *data,
	      struct error *error);
/* For a look: reads the memory as it is now. */
void peek_reader(const struct peek *reading, struct pyreader *reader);
/* How many frames the thread has; besides, those that are left out. */
size_t peek_count(const struct peek *reading, size_t *dropped);
/* Of the frame at a depth, below that count. */
const struct code *peek_code(const struct peek *reading, int depth);
int peek_line(const struct peek *reading, int depth);
/*
 * The depth now of the frame that had this depth in the newest sample that
 * was sent; -1: it is no more.
 */
int peek_follow(const struct peek *reading, int depth);
/* The frame at a depth as it is now; -1 and a sentence. */
int peek_frame(const struct peek *reading, int depth, struct pyobject_frame *frame,
	       struct error *error);
/* Whether the thread rested all the while; a hold makes sure of it. */
void peek_judge(struct peek *reading);
/* Lets go of what is held, and frees it. */
void peek_clear(struct peek *reading);

/*
 * An address may be somebody else's by now: an object must be there, of this
 * type unless that is NULL. -1 and a sentence.
 */
int peek_check_type(struct pyreader *reader, uint64_t address, const char *type,
		    struct error *error);

#endif
