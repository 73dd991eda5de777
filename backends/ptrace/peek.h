/*
 * peek: reads frames and objects of one thread of a process that may run.
 *
 * A request names a frame by its depth in a sample sent before, but the thread
 * may have moved since. So a fresh sample is taken; the frame is then the one
 * at the same distance from the outermost frame, if this frame and all its
 * callers still run the same code.
 *
 * A running thread is frozen (ptrace-stopped) for the read; a blocked thread
 * is not, and a sample afterwards shows that it did not move. To keep the
 * freeze short the read is rehearsed while the thread runs: the memory that
 * was needed then comes in one system call once the thread is stopped.
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
	struct process_sample sample; /* the fresh sample */
	pid_t tid;		      /* 0: the main thread */
	int interpreter;	      /* -1: the only one that the thread runs Python in */
	bool is_of_holder;	      /* freeze the thread that holds the interpreter's GIL */
	bool is_held;		      /* the thread is frozen now */
	bool has_stood;		      /* it was frozen throughout the last look */
	uint64_t held_ns;	      /* longest freeze, ns */
	uint64_t held_calls;	      /* memory-reading system calls in the last freeze */
	enum exactness exactness;
};

/* Takes a fresh sample and finds thread and interpreter; -1: error says why it failed. */
int peek_begin(struct peek *reading, struct error *error);
/*
 * Calls look(), with the thread frozen if it runs; the result and error are
 * those of its last call. look() may be called several times and starts from
 * scratch each time; it reads through peek_reader(), and should be short,
 * because the thread waits.
 */
int peek_look(struct peek *reading,
	      int (*look)(struct peek *reading, void *data, struct error *error), void *data,
	      struct error *error);
/* Initialises the reader for use within look(). */
void peek_reader(const struct peek *reading, struct pyreader *reader);
/* Number of the thread's frames; dropped: number of further frames that were not read. */
size_t peek_count(const struct peek *reading, size_t *dropped);
/* Code and line of the frame at depth; depth is less than peek_count(). */
const struct code *peek_code(const struct peek *reading, int depth);
int peek_line(const struct peek *reading, int depth);
/*
 * The current depth of the frame that had this depth in the newest sample that
 * was sent; -1: the frame is gone.
 */
int peek_follow(const struct peek *reading, int depth);
/* Finds the frame at a current depth; -1: error says why there is none. */
int peek_frame(const struct peek *reading, int depth, struct pyobject_frame *frame,
	       struct error *error);
/* Sets exactness: whether the thread was frozen or did not move since peek_begin(). */
void peek_judge(struct peek *reading);
/* Resumes a frozen thread and frees the sample. */
void peek_clear(struct peek *reading);

/*
 * Checks that an object of this type (NULL: any) is still at the address, whose
 * memory may have been reused. -1: error says what is there.
 */
int peek_check_type(struct pyreader *reader, uint64_t address, const char *type,
		    struct error *error);

#endif
