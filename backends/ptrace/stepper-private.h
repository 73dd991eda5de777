/*
 * stepper-private: what the parts of the stepper share. stepper.c has commands
 * and stops, trap-dispatch.c the meaning of each watch, event-synthesis.c makes trace events out
 * of positions, slot-assignment.c chooses the watches, slot-multiplex.c makes room for
 * breakpoints.
 *
 * One turn, with the thread in a ptrace-stop from trap to plan:
 *
 *	stepper_trap() --> events --> bdb --> stepper_aim() --> stepper_plan() --> run
 *	                               |           ^
 *	                               +-- stop    |
 *	        stepper_command() --> stepper_resume()
 *
 * Four states stand beside each other:
 *
 *	doing    the last command
 *	aim      which events that command needs. choose_aim() chooses the aim
 *		 anew at each turn, by bdb's rules and the newest frame;
 *		 slot-multiplex.c enters AIM_CALLED.
 *	course   where the followed frame (here) is going:
 *
 *			PLAIN ------ E, or B while raising -----> RAISING
 *			      <----- A, a command; B (AIM_RETURN); AIM_CALLED
 *
 *			PLAIN ------ B without a return (3.11 on), or R on
 *			             a generator's return ------> RETURNING
 *			      <----- A, a command, C at the caller, or the
 *			             generator was dropped
 *
 *		 RAISING: to a handler, or out. RETURNING is of AIM_RETURN, and
 *		 stays where E fires.
 *		 The letters are the watches of slot-assignment.c.
 *	news     trap or command since the last plan:
 *
 *			NONE --> TRAP (aimed) --> NONE (plan)
 *			     --> COMMAND --> RESUME (aimed) --> NONE (plan)
 *
 * Booleans are facts. Of the last plan: is_ahead, is_multiplexed. A trap that is
 * still to come, with any aim: is_loop_new (C at the new loop), is_stepping_off
 * (A), is_entering (C at the called frame).
 */
#ifndef BACKENDS_PTRACE_STEPPER_PRIVATE_H
#define BACKENDS_PTRACE_STEPPER_PRIVATE_H

#include "backends/cpython/pyframes.h"
#include "backends/ptrace/bdb.h"
#include "backends/ptrace/stepper.h"
#include "base/error.h"

/* Positions that are walked through before it looks ahead. */
#define WALK_LIMIT 12
/* From one trap: exception, line or call, return. */
#define EVENTS_MAXIMUM 4

/* A frame that is followed, as the last trap in the frame has shown it. */
struct follow {
	uint64_t frame; /* 0: none */
	const struct bytecode *code;
	uint64_t previous; /* the frame that it goes back to, or a shim */
	uint64_t handled;  /* of pythread_now, when it ran; 0: not known */
	bool is_in_generator;
	int at; /* the instruction dispatched last; -1: none yet */
	/* One of two watches has fired for a dispatch; the other is still to fire. -1: no. */
	int pointer_due; /* fetched, then stored */
	int due_from;	 /* where the pointer was when it was fetched */
	int fetch_due;	 /* stored, then fetched, perhaps (up to 3.10) */
	int raised_at;	 /* a RERAISE that has put the pointer back; -1 */
	int shown_line;	 /* of the last line event, or of at */
	bool is_unwound; /* an exception leaves the frame, and it was told */
	int store_due;	 /* unit fetched last, whose pointer is watched and not
			  * stored yet; -1 */
};

struct event {
	struct stepper_stop stop;
	bool is_last; /* of a return: the frame ends */
};

/* What it takes to see what the command is about. */
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
	struct follow other; /* of the event that happens, if not here */
	uint64_t ended;	     /* a frame whose last return was told; 0 */
	uint64_t newest;     /* the frame that ran when it was last aimed */
	uint64_t called;     /* the address of the called frame when aim is AIM_CALLED; 0: no called
				frame */
	/* here of the command, while there is called; until the next plan what
	 * was here before. */
	struct follow waiting;
	struct event events[EVENTS_MAXIMUM];
	size_t event_count;
	struct event last;    /* of the stop; at is UNKNOWN: none */
	uint64_t loop;	      /* 3.11, 3.12: the evaluation loop */
	bool is_loop_new;     /* loop has no newest frame yet */
	bool is_ahead;	      /* the aim needs no PLAN_POSITION: here.at is out of date */
	bool is_stepping_off; /* PLAN_POSITION, for a unit right behind here.at */
	bool is_multiplexed;  /* breakpoints find no room otherwise (slot-multiplex.c) */
	bool is_entering;     /* the frame of a call that is to be followed is not linked yet */
	uint64_t bare;	      /* code whose own units are watched all the same */
	int stray_count;      /* traps without readable frames, one after another */
	int walked;	      /* positions since the last stop */
	int walk_limit;	      /* after so many positions plan_ahead() */
	int walk_first;	      /* walk_limit of a new command */
	struct plan plan;     /* the last one */
	struct error lost;
};

/* event-synthesis.c */

/* Follows a frame from where it is. -1: its code makes no sense. */
int event_synthesis_start(struct stepper *stepper, struct follow *follow,
			  const struct pyframe_now *frame);
/* The instruction at unit is about to run, or has just begun. */
void event_synthesis_position(struct stepper *stepper, struct follow *follow, int unit);
/* The frame's pointer is now there (by PLAN_POSITION). */
void event_synthesis_pointer(struct stepper *stepper, struct follow *follow, int unit);
/* A function or generator begins or continues whose RESUME does not say so. */
void event_synthesis_call(struct stepper *stepper, struct follow *follow);
/* The frame is about to be unlinked, at unit. */
void event_synthesis_return(struct stepper *stepper, struct follow *follow, int unit, bool is_last);
void event_synthesis_unwinding(struct stepper *stepper, struct follow *follow);

/* Whether it is a generator's that is still being made, on the stack (3.11). */
bool event_synthesis_is_unborn(const struct stepper *stepper, const struct follow *follow);
/* Whether a line event may begin at the unit, on any way to it. */
bool event_synthesis_is_line_unit(const struct stepper *stepper, const struct follow *follow,
				  int unit);

/* slot-multiplex.c */

/*
 * Sets is_multiplexed, and if stepper_is_aimed() begins to follow a called frame to
 * its breakpoints.
 */
void slot_multiplex_begin(struct stepper *stepper,
			  const struct plan_watch_requests *watch_requests);
/* What to watch for the sake of a watch request. */
struct planned slot_multiplex_stand_in(const struct stepper *stepper,
				       const struct plan_watch_requests *watch_requests,
				       const struct planned *watch_request);
/* How many watches the watch requests take, up to HARDWARE_WATCH_SLOTS. */
size_t slot_multiplex_count(const struct stepper *stepper,
			    const struct plan_watch_requests *watch_requests);
/*
 * Of each unit of here.code: whether there is a breakpoint that has no watch
 * of its own. NULL: there are none; else to be freed.
 */
bool *slot_multiplex_units(const struct stepper *stepper,
			   const struct plan_watch_requests *watch_requests);

/* stepper.c */

/* There is nothing left to step for. */
void stepper_run_free(struct stepper *stepper);
/* It runs on; why is a complete sentence. */
void stepper_lose(struct stepper *stepper, const char *why);
/* The frames have been read since the last plan: what is known of here is current. */
bool stepper_is_aimed(const struct stepper *stepper);
/* Finds the aim, from the frames of the stopped thread. */
void stepper_aim(struct stepper *stepper, const struct pythread_now *now);
/* Lets events happen until one is a stop. */
bool stepper_happen(struct stepper *stepper, struct stepper_stop *stop);

#endif
