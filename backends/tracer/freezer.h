/*
 * freezer: the thread that this node freezes (freeze.h), at most one at a time, and
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

#endif
