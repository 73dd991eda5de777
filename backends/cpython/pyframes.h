/*
 * pyframes: reads a Python thread's newest frame and the state that stepping needs, while the
 * thread is stopped, in one system call where possible.
 *
 * Frames made by the interpreter itself (shims, 3.12 on; trampolines of __init__, 3.13 on) are
 * skipped. A frame is represented by its address. Values read from the process are not trusted:
 * they may be wrong.
 */
#ifndef BACKENDS_CPYTHON_PYFRAMES_H
#define BACKENDS_CPYTHON_PYFRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/tracer/debug-registers.h"

struct bytecode;
struct cpython;
struct memory;

struct pyframes {
	struct memory *memory;
	const struct cpython *python;
	uint64_t tstate;
	uint64_t loop; /* cframe of the evaluation loop at the last read (3.11, 3.12) */
};

/* Values as in the process; fields that a version lacks are 0. */
struct pyframe_now {
	uint64_t address; /* 0: no frame */
	uint64_t code;
	uint64_t previous;    /* the next older frame, perhaps a shim */
	uint64_t instruction; /* instr_ptr or prev_instr; up to 3.10: f_lasti */
	uint64_t frame_object;
	uint64_t leaving; /* top of the value stack; up to 3.10: f_executing or f_state */
	uint8_t owner;
};

struct pythread_now {
	/*
	 * 3.11, 3.12: address of the running evaluation loop's cframe on the C stack, which points
	 * to the newest frame.
	 */
	uint64_t loop;
	uint64_t newest;	  /* the newest frame, perhaps a shim */
	struct pyframe_now frame; /* the newest frame that is not the interpreter's own */
	uint64_t error;		  /* exception being raised; up to 3.11: its type; 0: none */
	uint64_t handled;	  /* address of the _PyErr_StackItem of the exception being handled
				   * (exc_info) */
	uint64_t raised; /* exception being raised; up to 3.11 perhaps not yet an instance */
	bool is_traced;	 /* the thread is traced by sys.settrace() */
};

/* memory and python are borrowed. */
void pyframes_init(struct pyframes *frames, struct memory *memory, const struct cpython *python,
		   uint64_t tstate);
/*
 * Reads the present state of the thread. expected: the frame that is probably the newest, which
 * saves a system call; 0: unknown. Returns 0, or -1 if the state is unreadable or malformed;
 * now->loop is set even then if the thread state could be read.
 */
int pyframes_read(struct pyframes *frames, uint64_t expected, struct pythread_now *now);
/* Reads one frame. Returns 0, or -1 if the frame is unreadable. */
int pyframes_frame(const struct pyframes *frames, uint64_t address, struct pyframe_now *frame);
/* Reads the next older Python frame; sets caller->address to 0 if there is none. Returns -1 if it
 * is unreadable. */
int pyframes_caller(const struct pyframes *frames, const struct pyframe_now *frame,
		    struct pyframe_now *caller);
/*
 * Returns the unit at the frame's instruction pointer: the instruction that is running or has just
 * run; -1: the frame has not begun.
 */
int pyframes_unit(const struct pyframes *frames, const struct pyframe_now *frame,
		  const struct bytecode *code);
/* Returns true if an exception has emptied the frame's value stack in order to leave the frame. */
bool pyframes_is_unwound(const struct pyframes *frames, const struct pyframe_now *frame,
			 const struct bytecode *code);
/*
 * Returns true if the frame lies in a generator or coroutine object (3.11 on). Until the generator
 * object is made, its frame lies on the thread's stack; the frame is then copied to the object.
 */
bool pyframes_is_in_generator(const struct pyframes *frames, const struct pyframe_now *frame);
/*
 * For a frame that lies in a generator object: returns true if the generator has finished or was
 * closed, perhaps without ever running.
 */
bool pyframes_is_finished(const struct pyframes *frames, uint64_t frame);
/* The same: returns true if the generator has yielded, or has not begun. */
bool pyframes_is_suspended(const struct pyframes *frames, uint64_t frame);
/* Returns true while the interpreter searches for a handler (3.10: FRAME_UNWINDING); always false
 * for other versions. */
bool pyframes_is_raising(const struct pyframes *frames, const struct pyframe_now *frame);
/* Returns the address of the object at the bottom of the frame's value stack, which a return
 * instruction returns; 0: none. */
uint64_t pyframes_returned(const struct pyframes *frames, uint64_t frame,
			   const struct bytecode *code);
/* Returns the address of the object at an index of co_consts; 0: none. */
uint64_t pyframes_constant(const struct pyframes *frames, const struct bytecode *code, int index);

/*
 * The following functions return hardware watches for stepping, of which slot-assignment.c sets
 * some. pyframes_watch_position() fires when the frame's instruction pointer changes,
 * pyframes_watch_leaving() when the interpreter leaves the frame.
 */
struct hardware_watch pyframes_watch_position(const struct pyframes *frames, uint64_t frame);
struct hardware_watch pyframes_watch_leaving(const struct pyframes *frames, uint64_t frame);
/*
 * Fires when the generator that contains the frame is freed. Up to 3.12 HARDWARE_WATCH_NONE,
 * because a generator of these versions always runs before it is freed.
 */
struct hardware_watch pyframes_watch_freeing(const struct pyframes *frames, uint64_t frame);
/* Fires when the newest frame of the thread changes. loop: pythread_now.loop. */
struct hardware_watch pyframes_watch_newest(const struct pyframes *frames, uint64_t loop);
/*
 * Fires when the thread enters or leaves an evaluation loop (3.11, 3.12; other versions:
 * HARDWARE_WATCH_NONE).
 */
struct hardware_watch pyframes_watch_loop(const struct pyframes *frames);
/*
 * Both fire when an exception occurs. pyframes_watch_handlers(): in a frame of `code` (3.11 on;
 * before that HARDWARE_WATCH_NONE). pyframes_watch_handled(): from 3.10 on likewise; up to 3.9 when
 * any frame of the thread enters or ends a handler. handled: pythread_now.handled.
 */
struct hardware_watch pyframes_watch_handled(const struct pyframes *frames,
					     const struct bytecode *code, uint64_t handled);
struct hardware_watch pyframes_watch_handlers(const struct pyframes *frames,
					      const struct bytecode *code);

#endif
