/*
 * freezer: the thread that this node freezes (ptrace-stops for some microseconds), at most one at a
 * time, and late threads: threads that were frozen and could not be released yet.
 *
 * A thread becomes late if it did not stop in time, and so will stop later, or if it was killed
 * while frozen, and so cannot be reaped by its parent. The function that froze it has returned by
 * then, so the freezer owns the late threads and releases them by a timer. When the node exits, the
 * kernel detaches from all threads.
 */
#ifndef BACKENDS_TRACER_FREEZER_H
#define BACKENDS_TRACER_FREEZER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/tracer/syscall-restart.h"

struct error;
struct freeze;
struct freezer;
struct loop;
struct registers;
struct waits;

/* The freezer borrows the loop; loop NULL: only freezer_settle() releases late threads. */
struct freezer *freezer_new(struct loop *loop);
void freezer_free(struct freezer *holds);
/*
 * waits (borrowed) has the threads that this node traces already (tracer/tracee.h); such a thread
 * is frozen through its tracee.
 */
void freezer_set_waits(struct freezer *holds, struct waits *waits);
/*
 * Freezes thread tid of process pid until freezer_end(). Returns -1 and sets error on failure.
 * Fails in a process that has a late thread.
 */
int freezer_begin(struct freezer *holds, pid_t pid, pid_t tid, struct error *error);
/* Whether the thread is stopped by its tracee already, so that a freeze costs nothing. */
bool freezer_stands(const struct freezer *holds, pid_t tid);
/* Whether this node traces the thread: the state t in /proc then means that this node has stopped
 * the thread. */
bool freezer_traces(const struct freezer *holds, pid_t tid);
/* Reads the registers of the frozen thread. Returns 0, or -1 on failure. */
int freezer_registers(const struct freezer *holds, struct registers *registers);
/* Returns for how many nanoseconds the thread has been frozen so far. */
uint64_t freezer_elapsed(const struct freezer *holds);
/* Ends the freeze; returns its length in nanoseconds. */
uint64_t freezer_end(struct freezer *holds);
/* Takes over the thread of *hold, which could not be released, as a late thread. */
void freezer_keep(struct freezer *holds, struct freeze *hold);
/* Releases the late threads that have stopped by now; returns the number of the remaining ones. */
size_t freezer_settle(struct freezer *holds);

/*
 * freeze: ptrace-stops a thread of another process for some microseconds (PTRACE_SEIZE and
 * PTRACE_INTERRUPT: no signal is sent, and the thread resumes if the tracer is killed).
 */

struct freeze {
	pid_t pid;
	pid_t tid;			/* 0: no thread is frozen */
	int signal;			/* signal that arrived during the freeze, to be delivered
					 * at its end; 0: none */
	uint64_t began_ns;		/* last time at which the thread was known not to be
					 * stopped */
	int policy;			/* the node's scheduling policy before the freeze */
	bool is_first;			/* the node has real-time priority until the end of the
					 * freeze */
	int niceness;			/* if not is_first: the node's niceness before the freeze */
	struct syscall_restart restart; /* restarts the system call that the stop has ended */
	bool is_asleep;			/* freeze_begin() has failed because the thread sleeps
					 * uninterruptibly */
};

/*
 * Stops thread tid and waits until it has stopped, for 50 ms at most. Returns -1 and sets error on
 * failure; if hold->tid is not 0 then, the thread must still be released by freeze_settle(). Fails
 * if tid is not a thread of process pid.
 */
int freeze_begin(struct freeze *hold, pid_t pid, pid_t tid, struct error *error);
/* Reads the registers of the stopped thread. Returns 0, or -1 on failure. */
int freeze_registers(const struct freeze *hold, struct registers *registers);
/* Returns for how many nanoseconds the thread has been stopped; the value may be a little too
 * large. */
uint64_t freeze_elapsed(const struct freeze *hold);
/*
 * Resumes the stopped thread and detaches; returns for how many nanoseconds it was stopped. If
 * hold->tid is not 0 afterwards, the thread was killed during the freeze, and its parent can reap
 * it only after freeze_settle().
 */
uint64_t freeze_end(struct freeze *hold);
/*
 * Releases a thread that stopped too late, or lets the parent reap a thread that was killed.
 * Returns false if the thread has neither stopped nor exited yet.
 */
bool freeze_settle(struct freeze *hold);
/* Returns the errno with which ptrace(2) would fail for the process; 0: ptrace(2) is permitted. */
int freeze_probe(pid_t pid);

#endif
