/*
 * stepper: makes the events that a trace function would get in one Python thread
 * from hardware watches (backends/tracer/debug-registers.h), and stops by pdb's
 * rules (bdb.h).
 *
 * No code runs in the process for this. Between traps the thread runs at full
 * speed; a trap costs some ten microseconds. stepper_plan() returns the watches
 * that are needed now (a plan); stepper_trap() takes the watch that has fired
 * in the stopped thread, and returns whether this is a stop to report.
 *
 * A frame is represented by its address. Values read from the process are
 * checked. If the frames of a thread are unreadable, the stepper has lost the
 * thread: it runs on until it hits a breakpoint, and stepper_lost() says why.
 */
#ifndef BACKENDS_PTRACE_STEPPER_H
#define BACKENDS_PTRACE_STEPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/tracer/debug-registers.h"
#include "protocol/debugger.h"
#include "protocol/message.h"

struct bytecode;
struct bytecode_cache;
struct cpython;
struct error;
struct memory;
struct stepper;

/* The purpose of a watch. The stepper itself chooses all before PLAN_BREAKPOINT, and PLAN_ENTRY. */
enum plan_kind {
	PLAN_POSITION,	 /* A: the frame's instruction pointer */
	PLAN_LEAVING,	 /* B: a word written when the frame is left */
	PLAN_NEWEST,	 /* C: the pointer to the thread's newest frame */
	PLAN_LOOP,	 /* D: the pointer to its evaluation loop (3.11, 3.12) */
	PLAN_HANDLERS,	 /* E: an exception is raised in a frame of the code */
	PLAN_UNIT,	 /* R: a code unit (_Py_CODEUNIT) is dispatched */
	PLAN_BREAKPOINT, /* R: a unit with a breakpoint */
	PLAN_ENTRY,	 /* R: first unit of a function with several breakpoints */
	PLAN_DATA,	 /* a variable or address with a data breakpoint */
	PLAN_START,	 /* code is about to run for the first time; no
			  * stepper is involved */
};

struct planned {
	struct hardware_watch watch;
	enum plan_kind kind;
	uint64_t code; /* of PLAN_BREAKPOINT, PLAN_ENTRY: the unit's code object */
	int id;	       /* of PLAN_DATA: the breakpoint */
};

struct plan {
	struct planned slots[HARDWARE_WATCH_SLOTS];
	size_t missing; /* number of watch requests without a slot */
};

/* The watches that breakpoints and data breakpoints need, the most important first. */
struct plan_watch_requests {
	const struct planned *items; /* PLAN_BREAKPOINT, PLAN_DATA */
	size_t count;
};

struct stepper_stop {
	enum stop_event at;
	enum stop_reason reason; /* STEP, BREAKPOINT or DATA_BREAKPOINT */
	uint64_t frame;
	const struct bytecode *code; /* borrowed from the bytecode cache */
	int line;		     /* as a trace function would see it */
	/*
	 * The instruction that is about to run. The frame's own pointer may
	 * still be at the one before.
	 */
	int unit;
	uint64_t value; /* object returned or raised; 0: not known */
	int data_id;	/* of STOP_DATA_BREAKPOINT */
};

struct stepper_calls {
	/*
	 * Whether a breakpoint stops at this line event; called once for each line
	 * event. (Conditions, counts: breakpoint-table.h.)
	 */
	bool (*is_break)(const struct bytecode *code, int line, uint64_t frame, void *data);
	/* Whether a write to a watched variable or address stops; id, in and out:
	 * the data breakpoint. */
	bool (*is_data)(int *id, uint64_t frame, void *data);
	void *data;
};

/* tstate: address of the thread's PyThreadState. All are borrowed. */
struct stepper *stepper_new(struct memory *memory, const struct cpython *python,
			    struct bytecode_cache *codes, uint64_t tstate,
			    const struct stepper_calls *calls);
void stepper_free(struct stepper *stepper);
/* Whether the stepper still uses this code, borrowed from the bytecode cache. */
bool stepper_holds(const struct stepper *stepper, const struct bytecode *code);
uint64_t stepper_thread(const struct stepper *stepper);

/*
 * Sets the command of the stopped thread: REQUEST_CONTINUE, _NEXT, _STEP_IN,
 * _STEP_OUT or _UNTIL. frame: the frame to step in, 0: the newest; line: of
 * REQUEST_UNTIL, 0: the current line plus one. -1: error says why the command is
 * impossible (frames unreadable, frame gone, traced from within); the thread's
 * command is then REQUEST_CONTINUE.
 */
int stepper_command(struct stepper *stepper, enum request_kind command, uint64_t frame, int line,
		    struct error *error);
/* The thread's current command. */
enum request_kind stepper_doing(const struct stepper *stepper);
/* Why the stepper has lost the thread, which runs on; NULL: it has not. */
const char *stepper_lost(const struct stepper *stepper);
/*
 * To be called before the thread is resumed, with or without a new command:
 * handles the events left from the trap of the last stop. True: one of them is a
 * stop, and the thread has to stay stopped.
 */
bool stepper_resume(struct stepper *stepper, struct stepper_stop *stop);
/*
 * Finds the position of a thread that was interrupted (a pause, another thread's
 * stop) and not stopped by a watch. stop->at is STOP_AT_UNKNOWN; an event that
 * was due is reported after the resume. -1: error says why it is unknown.
 */
int stepper_where(struct stepper *stepper, struct stepper_stop *stop, struct error *error);
/*
 * Computes the watches that the thread needs to continue from here. If only the
 * watch requests have changed, the thread may run: no frames are read then.
 */
void stepper_plan(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
		  struct plan *plan);
/*
 * For a plan that could not be set: leaves PLAN_POSITION out of the next plan, if
 * its only use is that a breakpoint right after the last stop is neither missed
 * nor reported twice. False: the plan has no watch that can be spared.
 */
bool stepper_spare_position(struct stepper *stepper);
/*
 * Puts each watch that was in the plan before into its old slot: moving a watch
 * costs time, and a trap that is still to be handled is known only by its slot.
 */
void plan_keep_slots(struct plan *plan, const struct plan *before);
/* Handles a watch that has fired in the stopped thread; true: *stop is a stop to report. */
bool stepper_trap(struct stepper *stepper, const struct planned *fired, struct stepper_stop *stop);

#endif
