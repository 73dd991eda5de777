/*
 * stepper-private: shared by the files of the stepper: stepper.c has commands and
 * stops, trap-dispatch.c handles fired watches, event-synthesis.c makes trace
 * events from positions, slot-assignment.c chooses the watches, slot-multiplex.c
 * lets breakpoints share watches.
 *
 * One turn, with the thread in a ptrace-stop from trap to plan:
 *
 *	stepper_trap() --> events --> bdb --> stepper_aim() --> stepper_plan() --> run
 *	                               |           ^
 *	                               +-- stop    |
 *	        stepper_command() --> stepper_resume()
 *
 * Four independent states:
 *
 *	doing    the last command
 *	aim      which events that command needs. choose_aim() chooses the aim
 *		 anew at each turn, by bdb's rules and the newest frame;
 *		 slot-multiplex.c enters AIM_CALLED.
 *	course   how the followed frame (here) continues:
 *
 *			PLAIN ------ E, or B while raising -----> RAISING
 *			      <----- A, a command; B (AIM_RETURN); AIM_CALLED
 *
 *			PLAIN ------ B without a return (3.11 on), or R on
 *			             a generator's return ------> RETURNING
 *			      <----- A, a command, C at the caller, or the
 *			             generator was dropped
 *
 *		 RAISING: to a handler, or out of the frame. RETURNING occurs
 *		 with AIM_RETURN alone, and E does not end it.
 *		 The letters are the watches of slot-assignment.c.
 *	news     trap or command since the last plan:
 *
 *			NONE --> TRAP (aimed) --> NONE (plan)
 *			     --> COMMAND --> RESUME (aimed) --> NONE (plan)
 *
 * The booleans are no states. is_ahead and is_multiplexed describe the last plan.
 * The others mean that a trap is still to come, with any aim: is_loop_new (C at
 * the new loop), is_stepping_off (A), is_entering (C at the called frame).
 */
#ifndef BACKENDS_PTRACE_STEPPER_PRIVATE_H
#define BACKENDS_PTRACE_STEPPER_PRIVATE_H

#include "backends/cpython/pyframes.h"
#include "backends/ptrace/bdb.h"
#include "backends/ptrace/stepper.h"
#include "base/error.h"

/* Positions that are followed one by one before plan_ahead() is tried. */
#define WALK_LIMIT 12
/* Events of one trap: exception, line or call, return. */
#define EVENTS_MAXIMUM 4

/* A followed frame, as of the last trap in it. */
struct follow {
	uint64_t frame; /* 0: none */
	const struct bytecode *code;
	uint64_t previous; /* address of its caller's frame, or of a shim */
	uint64_t handled;  /* pythread_now.handled when the frame ran; 0: unknown */
	bool is_in_generator;
	int at; /* code unit of the instruction dispatched last; -1: none yet */
	/* A unit for which one of two watches has fired; the other is still to fire. -1: none. */
	int pointer_due; /* fetched; its pointer is not stored yet */
	int due_from;	 /* position of the pointer at that fetch */
	int fetch_due;	 /* pointer stored; perhaps not fetched yet (up to 3.10) */
	int raised_at;	 /* unit of a RERAISE that has set the pointer back; -1: none */
	int shown_line;	 /* of the last line event, or of at */
	bool is_unwound; /* an exception leaves the frame; its events were made */
	int store_due;	 /* unit fetched last, whose pointer is watched and not
			  * stored yet; -1: none */
};

struct event {
	struct stepper_stop stop;
	bool is_last; /* return event: the return ends the frame */
};

/* The events that the command needs. */
enum aim {
	AIM_NOTHING, /* breakpoints only */
	AIM_ALL,     /* each event of the thread */
	AIM_FRAME,   /* each event of one frame */
	AIM_RETURN,  /* one frame's end */
	AIM_CALLED,  /* the breakpoints of one frame, and its end (slot-multiplex.c) */
};

enum course {
	COURSE_PLAIN,
	COURSE_RAISING,
	COURSE_RETURNING,
};

enum news {
	NEWS_NONE,
	NEWS_TRAP,
	NEWS_COMMAND,
	NEWS_RESUME,
};

struct stepper {
	const struct cpython *python;
	struct memory *memory;
	struct bytecode_cache *codes;
	struct stepper_calls calls;
	struct pyframes frames;
	struct bdb bdb;
	enum request_kind doing;
	enum aim aim;
	enum course course;
	enum news news;
	struct follow here;
	struct follow other; /* frame of the current event, if not here */
	uint64_t ended;	     /* frame whose last return event was made; 0: none */
	uint64_t newest;     /* the thread's newest frame at the last stepper_aim() */
	uint64_t called;     /* the address of the called frame when aim is AIM_CALLED; 0: no called
				frame */
	/* While called is set, the frame of the command. Otherwise, until the next
	 * plan, the last followed frame before here. */
	struct follow waiting;
	struct event events[EVENTS_MAXIMUM];
	size_t event_count;
	struct event last;    /* of the last stop; at is STOP_AT_UNKNOWN: none */
	uint64_t loop;	      /* 3.11, 3.12: pythread_now.loop, on the C stack */
	bool is_loop_new;     /* loop has no newest frame yet */
	bool is_ahead;	      /* the aim needs no PLAN_POSITION: here.at is out of date */
	bool is_stepping_off; /* PLAN_POSITION is set for a breakpoint right after here.at */
	bool is_multiplexed;  /* breakpoints share watches (slot-multiplex.c) */
	bool is_entering;     /* the frame of a call that is to be followed is not linked yet */
	uint64_t bare;	  /* code whose breakpoints have their own watches all the same; 0: none */
	int stray_count;  /* consecutive traps without readable frames */
	int walked;	  /* positions followed one by one so far */
	int walk_limit;	  /* number of positions before plan_ahead() is tried */
	int walk_first;	  /* walk_limit of a new command */
	struct plan plan; /* the last plan */
	struct error lost;
};

/* event-synthesis.c */

/* Begins to follow a frame at its current position. -1: its code is unreadable. */
int event_synthesis_start(struct stepper *stepper, struct follow *follow,
			  const struct pyframe_now *frame);
/* Makes the events of the instruction at unit, which is about to run or has just begun. */
void event_synthesis_position(struct stepper *stepper, struct follow *follow, int unit);
/* Makes the events of a stored pointer: PLAN_POSITION has fired, the frame is at unit. */
void event_synthesis_pointer(struct stepper *stepper, struct follow *follow, int unit);
/* Makes a call event: a function or generator begins, or a generator is resumed. */
void event_synthesis_call(struct stepper *stepper, struct follow *follow);
/* Makes a return event: the frame is about to be unlinked, at unit. */
void event_synthesis_return(struct stepper *stepper, struct follow *follow, int unit, bool is_last);
void event_synthesis_unwinding(struct stepper *stepper, struct follow *follow);

/* Whether a generator's frame is still on the stack, as the generator is being made (3.11 on). */
bool event_synthesis_is_unborn(const struct stepper *stepper, const struct follow *follow);
/* Whether a line event may begin at the unit, on any path to it. */
bool event_synthesis_is_line_unit(const struct stepper *stepper, const struct follow *follow,
				  int unit);

/* slot-multiplex.c */

/*
 * Sets is_multiplexed, and if stepper_is_aimed() begins to follow a called frame to
 * its breakpoints.
 */
void slot_multiplex_begin(struct stepper *stepper,
			  const struct plan_watch_requests *watch_requests);
/* The watch to set for a watch request: its own, or the first unit of the function. */
struct planned slot_multiplex_stand_in(const struct stepper *stepper,
				       const struct plan_watch_requests *watch_requests,
				       const struct planned *watch_request);
/* How many watches the watch requests take, up to HARDWARE_WATCH_SLOTS. */
size_t slot_multiplex_count(const struct stepper *stepper,
			    const struct plan_watch_requests *watch_requests);
/*
 * An array by unit of here.code, to be freed by the caller: true for a breakpoint
 * without a watch of its own. NULL: there are none.
 */
bool *slot_multiplex_units(const struct stepper *stepper,
			   const struct plan_watch_requests *watch_requests);

/* stepper.c */

/* Ends the command: the thread runs until a breakpoint. */
void stepper_run_free(struct stepper *stepper);
/* The thread is lost and runs on; why, a complete sentence, is for stepper_lost(). */
void stepper_lose(struct stepper *stepper, const char *why);
/* Whether the frames were read since the last plan, so that here is up to date. */
bool stepper_is_aimed(const struct stepper *stepper);
/* Finds the aim, from the frames of the stopped thread. */
void stepper_aim(struct stepper *stepper, const struct pythread_now *now);
/* Takes events from the queue until one is a stop. True: *stop is that stop. */
bool stepper_happen(struct stepper *stepper, struct stepper_stop *stop);

#endif
