/*
 * pystack: the Python stacks of all threads of a process, without stopping it.
 *
 * Each sample walks two copies of the frames, fetched in one system call, and compares them. The
 * stack of a thread that the scheduler has not run meanwhile (blocked, same switch count before and
 * after) is exact. The stack of a running thread is consistent if the copies differ at most in the
 * innermost position; if they still differ elsewhere after a few tries, it is torn. An innermost
 * frame that is just being popped is skipped. An unreadable thread does not make the sample fail.
 */
#ifndef BACKENDS_CPYTHON_PYSTACK_H
#define BACKENDS_CPYTHON_PYSTACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct capture;
struct capture_set;
struct code;
struct cpython;
struct error;
struct freezer;
struct memory;
struct process_sample;
struct pyobject_frame;
struct pystack;
struct stack;
struct stack_table;

/* All four are borrowed until pystack_free(). */
struct pystack *pystack_new(struct memory *memory, const struct cpython *python,
			    struct stack_table *table, struct freezer *holds);
void pystack_free(struct pystack *pystack);
/*
 * Sets whether samples contain thread names and asyncio tasks (default: true). Reading the names
 * takes as long as the rest of a first sample, and a verdict does not need them.
 */
void pystack_use_names(struct pystack *pystack, bool has_names);
/*
 * From the next sample on, fills *captures (borrowed) with captures of the threads whose native
 * frames are wanted, and uses the merged stack of threads whose native frames are known. NULL
 * (default): does neither.
 */
void pystack_use_captures(struct pystack *pystack, struct capture_set *captures);
/*
 * Stores the merged stack (NULL: none) of an unwound capture for the capture's thread; samples use
 * that stack until the thread runs. Returns false if the thread must be captured again with its
 * registers, which needs a ptrace-stop.
 */
bool pystack_take_native(struct pystack *pystack, const struct capture *capture,
			 const struct stack *python, const struct stack *merged);
/* Drops the merged stacks of all threads. */
void pystack_forget_native(struct pystack *pystack);
/*
 * Takes a sample of all threads into *sample. exact: the thread that holds the main interpreter's
 * GIL is ptrace-stopped meanwhile, for some 50 µs, which are added to sample->held_ns; if that
 * thread cannot be stopped, the sample is as with exact false. Returns -1 and sets error if nothing
 * could be read.
 */
int pystack_sample(struct pystack *pystack, bool exact, struct process_sample *sample,
		   struct error *error);
/*
 * Finds the frame at a depth (0: newest) of the thread in the newest sample. Returns 0, or -1 if
 * there is no such frame. A thread may run Python in several interpreters, so tid alone is
 * ambiguous.
 */
int pystack_frame(const struct pystack *pystack, pid_t tid, int interpreter, int depth,
		  struct pyobject_frame *frame);
/*
 * Rereads the frames of a stopped thread through the caller's memory; the rest of the newest sample
 * is unchanged. Returns -1 if the thread does not run Python in that interpreter any more, or if
 * tid is that of an asyncio task.
 */
int pystack_walk_again(struct pystack *pystack, pid_t tid, int interpreter, struct memory *memory);
/*
 * Returns the number of the thread's frames, without *dropped older frames that were left out; 0:
 * no frames, or no such thread.
 */
size_t pystack_frame_count(const struct pystack *pystack, pid_t tid, int interpreter,
			   size_t *dropped);
/*
 * Return the code and the line, respectively, of the frame at a depth, which must be less than
 * pystack_frame_count(). The code is borrowed until the next sample.
 */
const struct code *pystack_code(const struct pystack *pystack, pid_t tid, int interpreter,
				int depth);
int pystack_line(const struct pystack *pystack, pid_t tid, int interpreter, int depth);
/* Returns the number of system calls made so far. */
uint64_t pystack_calls(const struct pystack *pystack);
/* Returns the address of the main interpreter state; 0: unknown. */
uint64_t pystack_interpreter(const struct pystack *pystack);

#endif
