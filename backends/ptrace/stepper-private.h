/*
 * stepper-private: the declarations that the files of the stepper share. stepper.c has commands and
 * stops, trap-dispatch.c handles fired watches, event-synthesis.c makes trace events from
 * positions, slot-assignment.c chooses the watches, slot-multiplex.c lets breakpoints share
 * watches.
 *
 * One turn (the thread is in a ptrace-stop from the trap to the plan):
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
 *		 at each turn, by bdb's rules and the newest frame;
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
 * The booleans are not part of these states. is_ahead and is_multiplexed describe the last plan.
 * The other booleans mean that a trap is still to come, whatever the aim is: is_loop_new (C at the
 * new loop), is_stepping_off (A), is_entering (C at the called frame).
 */
#ifndef BACKENDS_PTRACE_STEPPER_PRIVATE_H
#define BACKENDS_PTRACE_STEPPER_PRIVATE_H

#include "backends/cpython/pyframes.h"
#include "backends/ptrace/bdb.h"
#include "backends/ptrace/stepper.h"
#include "base/error.h"

/* Positions of a frame that are followed one by one before plan_ahead() is tried. */
#define WALK_LIMIT 12
/* Events of one trap, at most: exception, line or call, return. */
#define EVENTS_MAXIMUM 4

/* A followed frame, as of the last trap in it. */
struct follow {
	uint64_t frame; /* 0: none */
	const struct bytecode *code;
	uint64_t previous; /* address of the caller's frame, or of a shim (pyframes.h) */
	uint64_t handled;  /* address of the handled exception's _PyErr_StackItem at the last trap
			    * in the frame (pythread_now.handled); 0: unknown */
	bool is_in_generator;
	int at; /* code unit of the instruction dispatched last; -1: none yet */
	/* Units for which one of two watches has fired and the other is still to fire; -1: none. */
	int pointer_due; /* unit that was fetched; the instruction pointer is not stored yet */
	int due_from;	 /* position of the instruction pointer at that fetch */
	int fetch_due;	 /* unit whose pointer was stored, but that is perhaps not fetched yet
			  * (up to 3.10) */
	int raised_at;	 /* unit of a RERAISE that has set the instruction pointer back; -1: none */
	int shown_line;	 /* line of the last line event, or line of `at` */
	bool is_unwound; /* an exception leaves the frame, and the events of that were made */
	int store_due;	 /* last fetched unit, while a watch waits for its pointer to be stored;
			  * -1: none */
};

struct event {
	struct stepper_stop stop;
	bool is_last; /* for a return event: the return ends the frame */
};

/* The events that the command needs. */
enum aim {
	AIM_NOTHING, /* breakpoints only */
	AIM_ALL,     /* all events of the thread */
	AIM_FRAME,   /* all events of one frame */
	AIM_RETURN,  /* the end of one frame */
	AIM_CALLED,  /* breakpoints of one called frame, and the end of that frame
		      * (slot-multiplex.c) */
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
	struct follow other; /* frame of the current event, if that is not `here` */
	uint64_t ended;	     /* frame whose final return event was made; 0: none */
	uint64_t newest;     /* the thread's newest frame at the last stepper_aim() */
	uint64_t called;     /* AIM_CALLED: address of the called frame; 0: no called frame */
	/* While `called` is not 0: the frame that the command is about. Else, until the next plan:
	 * the frame that was followed before `here`. */
	struct follow waiting;
	struct event events[EVENTS_MAXIMUM];
	size_t event_count;
	struct event last;    /* event of the last stop; stop.at STOP_AT_UNKNOWN: none */
	uint64_t loop;	      /* 3.11, 3.12: pythread_now.loop, an address on the C stack */
	bool is_loop_new;     /* the evaluation loop at `loop` has no newest frame yet */
	bool is_ahead;	      /* the last plan has no PLAN_POSITION, so here.at is out of date */
	bool is_stepping_off; /* PLAN_POSITION is needed because of a breakpoint right after
			       * here.at */
	bool is_multiplexed;  /* breakpoints share watches (slot-multiplex.c) */
	bool is_entering;     /* a called frame that is to be followed is not linked into the
			       * stack yet */
	uint64_t bare;	      /* code whose breakpoints have their own watches in spite of
			       * is_multiplexed; 0: none */
	int stray_count;      /* consecutive traps without readable frames */
	int walked;	      /* positions followed one by one so far */
	int walk_limit;	      /* positions to follow one by one before plan_ahead() is tried */
	int walk_first;	      /* initial walk_limit of a new command */
	struct plan plan;     /* the last plan */
	struct error lost;
};

/* event-synthesis.c */

/* Begins to follow a frame at the frame's current position. Returns -1 if the frame's code is
 * unreadable. */
int event_synthesis_start(struct stepper *stepper, struct follow *follow,
			  const struct pyframe_now *frame);
/*
 * Makes the events of the instruction at unit, which is about to run or has just begun. If a return
 * was only fetched (pointer_due), its return event is left to PLAN_POSITION or PLAN_LEAVING: the
 * instruction before may store its result after that fetch.
 */
void event_synthesis_position(struct stepper *stepper, struct follow *follow, int unit);
/* Makes the events of a stored instruction pointer: PLAN_POSITION has fired, and the frame is at
 * unit. */
void event_synthesis_pointer(struct stepper *stepper, struct follow *follow, int unit);
/* Makes a call event: a function or generator begins, or a generator is resumed. */
void event_synthesis_call(struct stepper *stepper, struct follow *follow);
/* Makes a return event: the frame is at unit and is about to be unlinked. is_last: the return ends
 * the frame. */
void event_synthesis_return(struct stepper *stepper, struct follow *follow, int unit, bool is_last);
void event_synthesis_unwinding(struct stepper *stepper, struct follow *follow);

/* Whether the frame is that of a generator object that is just being made, so that the frame is
 * still on the thread's stack (3.11 on). */
bool event_synthesis_is_unborn(const struct stepper *stepper, const struct follow *follow);
/* Whether a line event may begin at the unit, on any path to the unit. */
bool event_synthesis_is_line_unit(const struct stepper *stepper, const struct follow *follow,
				  int unit);

/* slot-multiplex.c */

/*
 * Sets is_multiplexed. If stepper_is_aimed(), also begins to follow a called frame to its
 * breakpoints.
 */
void slot_multiplex_begin(struct stepper *stepper,
			  const struct plan_watch_requests *watch_requests);
/* Returns the watch to set for a watch request: the requested watch, or that of the function's
 * first unit. */
struct planned slot_multiplex_stand_in(const struct stepper *stepper,
				       const struct plan_watch_requests *watch_requests,
				       const struct planned *watch_request);
/* Returns how many watches the watch requests need; HARDWARE_WATCH_SLOTS: that many or more. */
size_t slot_multiplex_count(const struct stepper *stepper,
			    const struct plan_watch_requests *watch_requests);
/*
 * Returns an array with one element per unit of here.code, to be freed by the caller: true if the
 * unit has a breakpoint without a watch of its own. NULL: there is no such unit.
 */
bool *slot_multiplex_units(const struct stepper *stepper,
			   const struct plan_watch_requests *watch_requests);

/* stepper.c */

/* Ends the command: the thread will run until a breakpoint. */
void stepper_run_free(struct stepper *stepper);
/* The stepper has lost the thread: the thread continues to run. why: a complete sentence, which
 * stepper_lost() returns. */
void stepper_lose(struct stepper *stepper, const char *why);
/* Whether the frames were read since the last plan, so that `here` is up to date. */
bool stepper_is_aimed(const struct stepper *stepper);
/* Chooses the aim by the frames of the stopped thread. */
void stepper_aim(struct stepper *stepper, const struct pythread_now *now);
/* Takes events from the queue until one of them is a stop: returns true and sets *stop. Returns
 * false if none is. */
bool stepper_happen(struct stepper *stepper, struct stepper_stop *stop);

#endif
