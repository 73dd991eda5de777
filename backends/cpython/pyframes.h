/*
 * pyframes: the newest frame of one thread of Python and what stepping needs
 * to know of it, read while the thread stands, in one call where possible.
 *
 * Frames that the interpreter makes for itself (shims, 3.12 on, and the
 * trampolines of __init__, 3.13 on) are passed by.
 * A frame is its address; nothing that is read of it is believed.
 */
#ifndef BACKENDS_CPYTHON_PYFRAMES_H
#define BACKENDS_CPYTHON_PYFRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/tracer/hardware-watch.h"

struct bytecode;
struct cpython;
struct memory;

struct pyframes {
	struct memory *memory;
	const struct cpython *python;
	uint64_t tstate;
	uint64_t loop; /* where the newest frame is to be looked for first */
};

/* As the process has them; what a version lacks is 0. */
struct pyframe_now {
	uint64_t address; /* 0: there is none */
	uint64_t code;
	uint64_t previous;    /* the next older one, perhaps a shim */
	uint64_t instruction; /* where it is, as its version says that */
	uint64_t frame_object;
	uint64_t leaving; /* how full its stack is; up to 3.10: whether it
			   * runs */
	uint8_t owner;
};

struct pythread_now {
	/* Of the evaluation loop that runs (3.11, 3.12), on the C stack;
	 * where the newest frame stands. */
	uint64_t loop;
	uint64_t newest;	  /* the newest frame, perhaps a shim */
	struct pyframe_now frame; /* the newest one of Python's */
	uint64_t error;		  /* what is being raised, its type up to 3.11; 0 */
	uint64_t handled;	  /* where the one that is handled stands */
	uint64_t raised;	  /* its value; up to 3.11 perhaps not made yet */
	bool is_traced;		  /* by sys.settrace() */
};

/* Both are borrowed. */
void pyframes_init(struct pyframes *frames, struct memory *memory, const struct cpython *python,
		   uint64_t tstate);
/*
 * The thread as it is now. expected: the frame that is likely to be the
 * newest, or 0. -1: what is there makes no sense; loop is told all the same.
 */
int pyframes_read(struct pyframes *frames, uint64_t expected, struct pythread_now *now);
/* One frame. -1: it cannot be read. */
int pyframes_frame(const struct pyframes *frames, uint64_t address, struct pyframe_now *frame);
/* The next older one that is Python's; its address is 0: there is none. */
int pyframes_caller(const struct pyframes *frames, const struct pyframe_now *frame,
		    struct pyframe_now *caller);
/*
 * The unit that a frame says it is at: the one that runs or has just run;
 * -1: it has not begun.
 */
int pyframes_unit(const struct pyframes *frames, const struct pyframe_now *frame,
		  const struct bytecode *code);
/* Whether an exception has emptied its value stack, to leave the frame. */
bool pyframes_is_unwound(const struct pyframes *frames, const struct pyframe_now *frame,
			 const struct bytecode *code);
/*
 * Whether it is part of a generator or coroutine (3.11 on). Before that has
 * begun it is on the stack, and goes into the object that is returned.
 */
bool pyframes_is_in_generator(const struct pyframes *frames, const struct pyframe_now *frame);
/* Of such a frame: whether it was closed for good, perhaps without a run. */
bool pyframes_is_finished(const struct pyframes *frames, uint64_t frame);
/* 3.10 says that it looks for a handler; the others do not: false. */
bool pyframes_is_raising(const struct pyframes *frames, const struct pyframe_now *frame);
/* The object at the bottom of its value stack: what a return returns; 0. */
uint64_t pyframes_returned(const struct pyframes *frames, uint64_t frame,
			   const struct bytecode *code);
/* The address of the object at that index of co_consts; 0: none. */
uint64_t pyframes_constant(const struct pyframes *frames, const struct bytecode *code, int index);

/* What to watch; see slot-assignment.c for what each is good for. */
struct hardware_watch pyframes_watch_position(const struct pyframes *frames, uint64_t frame);
struct hardware_watch pyframes_watch_leaving(const struct pyframes *frames, uint64_t frame);
/*
 * The generator that the frame is part of is freed: HARDWARE_WATCH_NONE where one always
 * runs before that (up to 3.12).
 */
struct hardware_watch pyframes_watch_freeing(const struct pyframes *frames, uint64_t frame);
struct hardware_watch pyframes_watch_newest(const struct pyframes *frames, uint64_t loop);
/* HARDWARE_WATCH_NONE where the version has no such thing. */
struct hardware_watch pyframes_watch_loop(const struct pyframes *frames);
/*
 * The same, or up to 3.9 what tells of handlers alone, and of those in other
 * frames, too. handled: of pythread_now.
 */
struct hardware_watch pyframes_watch_handled(const struct pyframes *frames,
					     const struct bytecode *code, uint64_t handled);
struct hardware_watch pyframes_watch_handlers(const struct pyframes *frames,
					      const struct bytecode *code);

#endif
