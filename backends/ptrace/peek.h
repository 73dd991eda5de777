/*
 * peek: reads frames and objects of one thread of a process, which may be running.
 *
 * A request names a frame by its depth in the newest sample that was sent, but the thread may have
 * moved since. So a fresh sample is taken. The named frame is the frame of the fresh sample that
 * has the same distance from the outermost frame, if this frame and all its callers still run the
 * same code as before.
 *
 * A running thread is frozen (ptrace-stopped) for the read. A blocked thread is not frozen; a
 * sample after the read shows whether the thread has moved. To keep the freeze short, the read is
 * first rehearsed while the thread runs: the memory that the rehearsal needed is then read by one
 * system call once the thread is stopped.
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
	int interpreter;	      /* -1: the only interpreter in which the thread runs Python */
	bool is_of_holder;	      /* freeze the thread that holds the interpreter's GIL */
	bool is_held;		      /* the thread is frozen now */
	bool has_stood;		      /* the thread was frozen during the whole last call of
				       * look() */
	uint64_t held_ns;	      /* length of the longest freeze, ns */
	uint64_t held_calls;	      /* system calls that read memory in the last freeze */
	enum exactness exactness;
};

/* Takes a fresh sample and finds the thread and its interpreter. Returns -1 and sets error on
 * failure. */
int peek_begin(struct peek *reading, struct error *error);
/*
 * Calls look(), with the thread frozen if it runs; returns the result, and passes on the error, of
 * the last call. look() may be called several times and must start from scratch each time; it reads
 * through the reader of peek_reader(), and should be short, because the frozen thread waits.
 */
int peek_look(struct peek *reading,
	      int (*look)(struct peek *reading, void *data, struct error *error), void *data,
	      struct error *error);
/* Initialises the reader for use within look(). */
void peek_reader(const struct peek *reading, struct pyreader *reader);
/* Returns the number of the thread's frames that were read; *dropped: the number of frames that
 * were not. */
size_t peek_count(const struct peek *reading, size_t *dropped);
/* Return the code and the line, respectively, of the frame at depth, which must be less than
 * peek_count(). */
const struct code *peek_code(const struct peek *reading, int depth);
int peek_line(const struct peek *reading, int depth);
/*
 * Returns the present depth of the frame that had this depth in the newest sample that was sent;
 * -1: the frame is gone.
 */
int peek_follow(const struct peek *reading, int depth);
/* Finds the frame at a present depth. Returns -1 and sets error if there is none. */
int peek_frame(const struct peek *reading, int depth, struct pyobject_frame *frame,
	       struct error *error);
/* Sets reading->exactness, by whether the thread was frozen, and whether it has moved since
 * peek_begin(). */
void peek_judge(struct peek *reading);
/* Resumes a frozen thread and frees the sample. */
void peek_clear(struct peek *reading);

/*
 * Checks that an object of this type (NULL: any type) is still at the address, whose memory may
 * have been reused. Returns -1 if not; error says what is at the address.
 */
int peek_check_type(struct pyreader *reader, uint64_t address, const char *type,
		    struct error *error);

#endif
