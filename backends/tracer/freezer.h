/*
 * freezer: the thread that this node freezes, at most one at a time, and
 * frozen threads that could not be released yet.
 *
 * A thread that did not stop in time stops later, and a thread that was killed
 * while frozen cannot be reaped by its parent. The caller has returned by then,
 * so these late threads are owned here: a timer releases them. When the node
 * ends, the kernel detaches from all threads.
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

/* Borrows the loop for its life; NULL: only freezer_settle() releases late threads. */
struct freezer *freezer_new(struct loop *loop);
void freezer_free(struct freezer *holds);
/*
 * waits (borrowed) knows the threads that are traced already (tracer/tracee.h);
 * these threads are frozen through their tracee.
 */
void freezer_set_waits(struct freezer *holds, struct waits *waits);
/*
 * Freezes thread tid of process pid until freezer_end(). -1: error says why not.
 * In a process with a late thread no other thread is frozen.
 */
int freezer_begin(struct freezer *holds, pid_t pid, pid_t tid, struct error *error);
/* Whether the thread's tracee has stopped it already, so that a freeze costs nothing. */
bool freezer_stands(const struct freezer *holds, pid_t tid);
/* Whether this node traces the thread: state t in /proc is then a stop by this node. */
bool freezer_traces(const struct freezer *holds, pid_t tid);
/* The registers of the frozen thread. 0, or -1. */
int freezer_registers(const struct freezer *holds, struct registers *registers);
/* Nanoseconds for which the thread has been frozen so far. */
uint64_t freezer_elapsed(const struct freezer *holds);
/* Ends the freeze; returns its length in nanoseconds. */
uint64_t freezer_end(struct freezer *holds);
/* Takes over a thread that could not be released, as a late thread. */
void freezer_keep(struct freezer *holds, struct freeze *hold);
/* Releases the late threads that have stopped; returns how many are left. */
size_t freezer_settle(struct freezer *holds);

/*
 * Ptrace-stops a thread of another process for some microseconds
 * (PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent, and the thread runs on
 * if the tracer is killed).
 */

struct freeze {
	pid_t pid;
	pid_t tid;			/* 0: no thread is frozen */
	int signal;			/* arrived meanwhile, delivered at the end; 0: none */
	uint64_t began_ns;		/* last time at which the thread was not stopped */
	int policy;			/* the node's scheduling policy before the freeze */
	bool is_first;			/* the node has real-time priority until the end */
	int niceness;			/* the node's before the freeze, if not is_first */
	struct syscall_restart restart; /* of the system call that the stop ended */
	bool is_asleep;			/* not begun: the thread sleeps uninterruptibly */
};

/*
 * Stops thread tid of process pid and waits until it has stopped, for 50 ms at
 * most. -1: error says why not; if hold->tid is set even so, the thread is still
 * to be released: freeze_settle(). A thread of another process is refused.
 */
int freeze_begin(struct freeze *hold, pid_t pid, pid_t tid, struct error *error);
/* The registers of the stopped thread. 0, or -1. */
int freeze_registers(const struct freeze *hold, struct registers *registers);
/* Nanoseconds for which the thread has been stopped, or a little more. */
uint64_t freeze_elapsed(const struct freeze *hold);
/*
 * Resumes the stopped thread and detaches; returns for how many nanoseconds it was
 * stopped. If hold->tid is set afterwards, the thread was killed meanwhile, and
 * its parent can reap it only after freeze_settle().
 */
uint64_t freeze_end(struct freeze *hold);
/*
 * Releases a thread that stopped too late, or hands a dead one back to its
 * parent; false: the thread has neither stopped nor ended.
 */
bool freeze_settle(struct freeze *hold);
/* The errno value with which ptrace(2) would refuse the process; 0: none. */
int freeze_probe(pid_t pid);

#endif
