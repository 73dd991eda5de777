/*
 * activity: what a thread is doing, in the words its owner would use, from
 * one table of known places (function and file for Python frames, system call
 * for the rest).
 */
#ifndef MODEL_ACTIVITY_H
#define MODEL_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>

struct stack;

enum activity_kind {
	ACTIVITY_COMPUTE, /* runs Python or C; nothing better is known */
	ACTIVITY_PEERS,	  /* waits for other ranks: collective, barrier, recv */
	ACTIVITY_DATA,	  /* waits for a DataLoader */
	ACTIVITY_SAVE,	  /* writes or reads a checkpoint */
	ACTIVITY_TRAIN,	  /* backward, optimizer step */
	ACTIVITY_SLEEP,
	ACTIVITY_LOCK,	   /* waits for a lock, queue, event, thread, child */
	ACTIVITY_READ,	   /* reads or writes a file or a pipe */
	ACTIVITY_TEARDOWN, /* raised and cleans up, or leaves */
	ACTIVITY_UNKNOWN,
};

struct activity {
	enum activity_kind kind;
	char name[64];	    /* "all_reduce", "time.sleep", "DataLoader wait"; "" */
	size_t frame_index; /* the frame that says so; 0 for a system call */
};

struct thread;

/* The name for a DataLoader's worker that has nothing to do. */
#define ACTIVITY_WORKER_IDLE "worker idle"

/* The name for a rank that holds at a breakpoint of our package. */
#define ACTIVITY_HOLD "probetui.breakpoint"

/* The name for one that its agent holds at an uncaught exception. */
#define ACTIVITY_CAUGHT "held at an exception"

/* The name for one that stands in its agent's debugger. */
#define ACTIVITY_BROKEN "stopped by its agent"

struct activity activity_of(const struct thread *thread);
/* "wait", "sleep", "data", … : the word on a card, at most 5 columns. */
const char *activity_word(enum activity_kind kind);
/* A call that some peers are in, while others may be in another one. */
bool activity_is_point_to_point(const struct activity *activity);
/* Holds until the ranks that stopped at a breakpoint have gone on. */
bool activity_is_hold(const struct activity *activity);
/* Whether such a thread waits for something that happens elsewhere. */
bool activity_is_wait(enum activity_kind kind);

#endif
