/*
 * pystack: the Python stacks of all threads of a process, without stopping it.
 *
 * Each sample walks two copies of the frames, fetched in one system call, and compares them. A
 * thread that the scheduler has not run meanwhile (blocked, same switch count before and after) is
 * exact. A running thread is consistent if its copies differ in the innermost position at most,
 * else, after a few tries, torn. A half-popped innermost frame is skipped. An unreadable thread
 * never fails the sample.
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
 * Whether samples contain thread names and asyncio tasks (default: yes). Reading the names costs as
 * much as the rest of a first sample, and a verdict does not need them.
 */
void pystack_use_names(struct pystack *pystack, bool has_names);
/*
 * From the next sample on: fills *captures (borrowed) with captures of threads whose native frames
 * are wanted, and gives threads with known native frames their merged stack. NULL (default):
 * neither.
 */
void pystack_use_captures(struct pystack *pystack, struct capture_set *captures);
/*
 * Stores the merged stack (NULL: none) of an unwound capture for its thread; it is used until the
 * thread runs. Returns false if the thread must be captured again with registers, which needs a
 * ptrace-stop.
 */
bool pystack_take_native(struct pystack *pystack, const struct capture *capture,
			 const struct stack *python, const struct stack *merged);
/* Drops the merged stacks of all threads. */
void pystack_forget_native(struct pystack *pystack);
/*
 * Takes a sample of all threads into *sample. exact: the thread that holds the main interpreter's
 * GIL is ptrace-stopped meanwhile, for some 50 µs, added to sample->held_ns; if it cannot be
 * stopped, the sample is as with exact false. -1 and *error: nothing could be read.
 */
int pystack_sample(struct pystack *pystack, bool exact, struct process_sample *sample,
		   struct error *error);
/*
 * The frame at a depth (0: newest) of the thread in the newest sample; 0: found, -1: no such frame.
 * A thread may run Python in several interpreters, so tid alone is ambiguous.
 */
int pystack_frame(const struct pystack *pystack, pid_t tid, int interpreter, int depth,
		  struct pyobject_frame *frame);
/*
 * Reads the frames of a stopped thread again, through the caller's memory; the rest of the newest
 * sample is unchanged. -1: the thread runs no Python in that interpreter any more, or tid is an
 * asyncio task's.
 */
int pystack_walk_again(struct pystack *pystack, pid_t tid, int interpreter, struct memory *memory);
/*
 * Number of the thread's frames; *dropped: older frames that were left out. 0: none, or no such
 * thread.
 */
size_t pystack_frame_count(const struct pystack *pystack, pid_t tid, int interpreter,
			   size_t *dropped);
/*
 * Code and line of the frame at a depth, which must be below pystack_frame_count(). The code is
 * borrowed until the next sample.
 */
const struct code *pystack_code(const struct pystack *pystack, pid_t tid, int interpreter,
				int depth);
int pystack_line(const struct pystack *pystack, pid_t tid, int interpreter, int depth);
/* System calls made so far. */
uint64_t pystack_calls(const struct pystack *pystack);
/* Address of the main interpreter state; 0: unknown. */
uint64_t pystack_interpreter(const struct pystack *pystack);

#endif
