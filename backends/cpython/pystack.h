/*
 * pystack: the Python stacks of all threads of a process, without stopping
 * it.
 *
 * Each sample walks two copies of the frames that were fetched in one system
 * call and compares them. A thread that the scheduler has not run meanwhile
 * (blocked, same switch count before and after) is exact; a running one whose
 * copies agree but for the innermost position is consistent; else torn after
 * a few tries. A half-popped innermost frame is skipped. One bad thread never
 * fails the sample.
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

/* Borrows all four for its life. */
struct pystack *pystack_new(struct memory *memory, const struct cpython *python,
			    struct stack_table *table, struct freezer *holds);
void pystack_free(struct pystack *pystack);
/*
 * Whether samples carry the names of threads, as they do at first. They cost
 * as much as all the rest of a first sample, and a verdict has no use for
 * them.
 */
void pystack_use_names(struct pystack *pystack, bool has_names);
/*
 * Samples that follow put captures of the threads whose native frames are to
 * be found into *captures (borrowed), and give the threads whose native frames
 * are known their merged stack; NULL, as at first: they do neither.
 */
void pystack_use_captures(struct pystack *pystack, struct capture_set *captures);
/*
 * Takes a capture that was unwound: its merged stack (NULL: there is none) is
 * that of its thread, until the thread moves. Returns false when the thread
 * should be captured anew, with what it was held for.
 */
bool pystack_take_native(struct pystack *pystack, const struct capture *capture,
			 const struct stack *python, const struct stack *merged);
void pystack_forget_native(struct pystack *pystack);
/*
 * Takes a sample of all threads into *sample. With exact, the holder of the
 * main interpreter's GIL is held meanwhile, for some 50 µs, and held_ns says
 * how long; if it cannot be held, the sample is as good as one without.
 * -1: nothing could be read.
 */
int pystack_sample(struct pystack *pystack, bool exact, struct process_sample *sample,
		   struct error *error);
/*
 * The frame at depth of the thread in the newest sample; 0 found. A thread
 * may run Python in several interpreters, so its tid is not enough.
 */
int pystack_frame(const struct pystack *pystack, pid_t tid, int interpreter, int depth,
		  struct pyobject_frame *frame);
/*
 * The frames of that thread now, while it stands, read through a memory of
 * the caller's; all of the newest sample but these stays as it is. -1: it runs
 * no Python there any more, or is a task, which has no frames of its own.
 */
int pystack_walk_again(struct pystack *pystack, pid_t tid, int interpreter, struct memory *memory);
/* How many frames it has, and besides are left out; 0: none, or no thread. */
size_t pystack_frame_count(const struct pystack *pystack, pid_t tid, int interpreter,
			   size_t *dropped);
/* Of the frame at a depth, below that count. Lent until the next sample. */
const struct code *pystack_code(const struct pystack *pystack, pid_t tid, int interpreter,
				int depth);
int pystack_line(const struct pystack *pystack, pid_t tid, int interpreter, int depth);
/* System calls made so far. */
uint64_t pystack_calls(const struct pystack *pystack);
/* Address of the main interpreter's state; 0 unknown. */
uint64_t pystack_interpreter(const struct pystack *pystack);

#endif
