/*
 * freezer: the threads that this node holds, at most one at a time, and those
 * that it could not let go yet.
 *
 * A thread that did not come to stand in time stands later, and one that was
 * killed while it stood is kept from its parent. The caller of the hold has
 * returned by then, so these late ones are owned here: a timer looks after them
 * until each is let go. A node that ends lets go of all, as the
 * kernel detaches a tracer that ends.
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

/* Borrows the loop for its life; NULL: only freezer_settle() looks after them. */
struct freezer *freezer_new(struct loop *loop);
void freezer_free(struct freezer *holds);
/*
 * Threads of processes that are stopped from outside (tracer/tracee.h) are
 * held by who traces them; waits, borrowed, knows which those are.
 */
void freezer_set_waits(struct freezer *holds, struct waits *waits);
/*
 * Holds thread tid of process pid until freezer_end(). -1 and a sentence: it is
 * not held. Of a process with a late thread none is held.
 */
int freezer_begin(struct freezer *holds, pid_t pid, pid_t tid, struct error *error);
/* Whether we have stopped it anyhow: to hold it costs nothing. */
bool freezer_stands(const struct freezer *holds, pid_t tid);
/* Whether it is traced by us: where it is seen stopped, it only passes by. */
bool freezer_traces(const struct freezer *holds, pid_t tid);
/* The registers of the thread that is held. 0, or -1. */
int freezer_registers(const struct freezer *holds, struct registers *registers);
/* For how long the thread is held so far, in nanoseconds. */
uint64_t freezer_elapsed(const struct freezer *holds);
/* Ends the hold that is begun; returns how long it was, in nanoseconds. */
uint64_t freezer_end(struct freezer *holds);
/* Takes one that could not be let go: a late one, too. */
void freezer_keep(struct freezer *holds, struct freeze *hold);
/* Lets go of the late ones that stand; returns how many are left. */
size_t freezer_settle(struct freezer *holds);

#endif
