/*
 * stepper: by means of hardware watches (backends/tracer/debug-registers.h), makes the events that
 * a trace function would get in one Python thread, and stops by pdb's rules (bdb.h).
 *
 * No code runs in the process for this. Between traps the thread runs at full speed; a trap costs
 * some ten microseconds. stepper_plan() computes the watches that are needed now (a plan). After a
 * watch has fired and stopped the thread, stepper_trap() decides whether that is a stop to report.
 *
 * A frame is represented by its address. Values read from the process are checked. If the frames of
 * a thread are unreadable, the stepper has lost the thread: the thread runs until it hits a
 * breakpoint, and stepper_lost() returns the reason.
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

/*
 * The purpose of a watch. The stepper itself chooses the watches for PLAN_ENTRY and for all
 * purposes listed before PLAN_BREAKPOINT. The letters name the watches in comments: A to E watch
 * the interpreter's data, R (read) watches a code unit, which the interpreter reads to run it.
 */
enum plan_kind {
	PLAN_POSITION,	 /* A: the frame's instruction pointer */
	PLAN_LEAVING,	 /* B: a word that is written when the frame is left */
	PLAN_NEWEST,	 /* C: the pointer to the thread's newest frame */
	PLAN_LOOP,	 /* D: the pointer to the thread's evaluation loop (3.11, 3.12) */
	PLAN_HANDLERS,	 /* E: accessed when an exception is raised in a frame of the code */
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
	uint64_t code; /* PLAN_BREAKPOINT, PLAN_ENTRY: address of the unit's code object */
	int id;	       /* PLAN_DATA: id of the breakpoint */
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
	 * The code unit that is about to run. The frame's own instruction pointer may still be at
	 * the preceding instruction.
	 */
	int unit;
	uint64_t value; /* address of the object returned or raised; 0: unknown */
	int data_id;	/* STOP_DATA_BREAKPOINT: id of the breakpoint */
};

struct stepper_calls {
	/*
	 * Returns whether a breakpoint stops at this line event. Called exactly once for each line
	 * event, because the call evaluates conditions and counts hits (breakpoint-table.h).
	 */
	bool (*is_break)(const struct bytecode *code, int line, uint64_t frame, void *data);
	/* Returns whether a write to a watched variable or address stops. *id: at the call, the
	 * data breakpoint that was written to; after it, the data breakpoint that stops. */
	bool (*is_data)(int *id, uint64_t frame, void *data);
	void *data;
};

/* tstate: address of the thread's PyThreadState. All pointers are borrowed. */
struct stepper *stepper_new(struct memory *memory, const struct cpython *python,
			    struct bytecode_cache *codes, uint64_t tstate,
			    const struct stepper_calls *calls);
void stepper_free(struct stepper *stepper);
/* Whether the stepper still uses this code, so that the bytecode cache must keep it. */
bool stepper_holds(const struct stepper *stepper, const struct bytecode *code);
uint64_t stepper_thread(const struct stepper *stepper);

/*
 * Sets the command of the stopped thread: REQUEST_CONTINUE, _NEXT, _STEP_IN, _STEP_OUT or _UNTIL.
 * frame: the frame to step in; 0: the newest. line: for REQUEST_UNTIL; 0: the current line plus
 * one. Returns -1 and sets error if the command is impossible (frames unreadable, frame gone, a
 * trace function is set in the process); the thread's command is then REQUEST_CONTINUE.
 */
int stepper_command(struct stepper *stepper, enum request_kind command, uint64_t frame, int line,
		    struct error *error);
/* Returns the thread's current command. */
enum request_kind stepper_doing(const struct stepper *stepper);
/* Returns why the stepper has lost the thread; NULL: the thread is not lost. */
const char *stepper_lost(const struct stepper *stepper);
/*
 * To be called before the thread is resumed, with or without a new command: handles the events that
 * are left from the trap of the last stop. Returns true and sets *stop if one of these events is a
 * stop: the thread must then stay stopped.
 */
bool stepper_resume(struct stepper *stepper, struct stepper_stop *stop);
/*
 * Finds the position of a thread that was interrupted (because of a pause or of another thread's
 * stop), not stopped by a watch. Sets stop->at to STOP_AT_UNKNOWN; an event that is due at this
 * position is reported after the resume. Returns -1 and sets error if the position is unknown.
 */
int stepper_where(struct stepper *stepper, struct stepper_stop *stop, struct error *error);
/*
 * Computes the watches that the thread needs to continue from its present position. The thread may
 * be running if only the watch requests have changed: no frames are read then.
 */
void stepper_plan(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
		  struct plan *plan);
/*
 * To be called when the watches of a plan could not be set. If PLAN_POSITION only serves to neither
 * miss nor report twice a breakpoint right after the last stop, leaves it out of the next plan and
 * returns true. Returns false if no watch can be spared.
 */
bool stepper_spare_position(struct stepper *stepper);
/*
 * Puts each watch that was also in the plan `before` into its old slot: moving a watch costs time,
 * and a trap that is still to be handled is identified only by its slot.
 */
void plan_keep_slots(struct plan *plan, const struct plan *before);
/* Handles a watch that has fired in the stopped thread. Returns true and sets *stop if that is a
 * stop to report. */
bool stepper_trap(struct stepper *stepper, const struct planned *fired, struct stepper_stop *stop);

#endif
