/*
 * stepper: one thread of Python as a trace function would see it, made from
 * watches (backends/tracer/hardware-watch.h); and pdb's rules (bdb.h) about where that
 * stops.
 *
 * Nothing runs in the process for it. Between traps the thread runs at full
 * speed; a trap costs some ten microseconds. The stepper says which watches
 * it needs now (a plan), is told which one fired while the thread stands, and
 * says whether this is a stop for a person.
 *
 * A frame is its address. What is read of the process is checked; a thread
 * that is lost sight of (its frames make no sense) just runs on, until a
 * breakpoint is hit, and the stepper says so.
 */
#ifndef BACKENDS_PTRACE_STEPPER_H
#define BACKENDS_PTRACE_STEPPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/tracer/hardware-watch.h"
#include "protocol/debugger.h"
#include "protocol/request-kind.h"

struct bytecode;
struct bytecode_cache;
struct cpython;
struct error;
struct memory;
struct stepper;

/* Whose watch it is; those above are the stepper's own affair. */
enum plan_kind {
	PLAN_POSITION,	 /* A: the frame's instruction pointer */
	PLAN_LEAVING,	 /* B: touched as the frame is left */
	PLAN_NEWEST,	 /* C: the thread's newest frame */
	PLAN_LOOP,	 /* D: its evaluation loop (3.11, 3.12) */
	PLAN_HANDLERS,	 /* E: the code's table of handlers is looked at */
	PLAN_UNIT,	 /* R: a unit is dispatched */
	PLAN_BREAKPOINT, /* R: a unit where a person wants to stop */
	PLAN_ENTRY,	 /* R: a function begins that has several of those */
	PLAN_DATA,	 /* a variable or address that a person watches */
	PLAN_START,	 /* code is about to run for the first time: nothing of
			  * a stepper's */
};

struct planned {
	struct hardware_watch watch;
	enum plan_kind kind;
	uint64_t code; /* of PLAN_BREAKPOINT, PLAN_ENTRY: the unit's code object */
	int id;	       /* of PLAN_DATA: whose; else the stepper's */
};

struct plan {
	struct planned slots[HARDWARE_WATCH_SLOTS];
	size_t missing; /* watches of persons that found no room */
};

/* What the person wants, in the order of importance. */
struct plan_watch_requests {
	const struct planned *items; /* PLAN_BREAKPOINT, PLAN_DATA */
	size_t count;
};

struct stepper_stop {
	enum stop_event at;
	enum stop_reason reason; /* STEP, BREAKPOINT or DATA_BREAKPOINT */
	uint64_t frame;
	const struct bytecode *code; /* lent by the cache */
	int line;		     /* that a trace function would see */
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
	 * A line event at a line where there is a breakpoint, perhaps: does it
	 * stop here? Asked once an event. (Conditions, counts: breakpoint-table.h.)
	 */
	bool (*is_break)(const struct bytecode *code, int line, uint64_t frame, void *data);
	/* A watched variable or address was written: does it stop, and for
	 * which of those that watch it? */
	bool (*is_data)(int *id, uint64_t frame, void *data);
	void *data;
};

/* tstate: address of the thread's PyThreadState. All are borrowed. */
struct stepper *stepper_new(struct memory *memory, const struct cpython *python,
			    struct bytecode_cache *codes, uint64_t tstate,
			    const struct stepper_calls *calls);
void stepper_free(struct stepper *stepper);
/* Whether it holds this code, which the cache lent it. */
bool stepper_holds(const struct stepper *stepper, const struct bytecode *code);
uint64_t stepper_thread(const struct stepper *stepper);

/*
 * Takes a command while the thread stands: REQUEST_CONTINUE, _NEXT, _STEP_IN,
 * _STEP_OUT or _UNTIL. frame: the one that the command is about, 0: the newest;
 * line: of REQUEST_UNTIL, 0: one greater than the current.
 * -1 and a sentence: it cannot be done (frames unreadable, frame gone,
 * traced from within); the thread's command is then REQUEST_CONTINUE.
 */
int stepper_command(struct stepper *stepper, enum request_kind command, uint64_t frame, int line,
		    struct error *error);
/* What it does now. */
enum request_kind stepper_doing(const struct stepper *stepper);
/* Why it lost sight of its thread, which just runs on; NULL: it did not. */
const char *stepper_lost(const struct stepper *stepper);
/*
 * The thread is about to go on (after stepper_command(), or as it was):
 * events that came together with the last stop happen first. True: one of
 * them is a stop, and the thread stays.
 */
bool stepper_resume(struct stepper *stepper, struct stepper_stop *stop);
/*
 * The thread was made to stand by something else than its watches (a pause,
 * another thread's stop): where it is. at is STOP_AT_UNKNOWN; a stop that was
 * just about to be reported is, once the thread goes on.
 */
int stepper_where(struct stepper *stepper, struct stepper_stop *stop, struct error *error);
/*
 * The watches it needs to go on from here. The thread may run meanwhile, if
 * only the watch requests have changed: frames are read only while it stands.
 */
void stepper_plan(struct stepper *stepper, const struct plan_watch_requests *watch_requests,
		  struct plan *plan);
/*
 * The plan could not be set. False: it has nothing that can be spared; else the
 * next one does without the watch of the frame's position by which a breakpoint
 * right behind the last stop is not missed, nor told twice.
 */
bool stepper_spare_position(struct stepper *stepper);
/*
 * Watches that go on stay in the slots they had before: moving one costs, and
 * a trap that is on its way names no more than its slot.
 */
void plan_keep_slots(struct plan *plan, const struct plan *before);
/* That one has fired; true: this is a stop, and what it is. */
bool stepper_trap(struct stepper *stepper, const struct planned *fired, struct stepper_stop *stop);

#endif
