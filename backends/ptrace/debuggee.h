/*
 * debuggee: one process that is stopped and stepped from outside: the backend
 * `ptrace` as a debugger. It ties the parts of this folder together.
 *
 *	RUNNING -> STOPPING -> STOPPED -> RUNNING …
 *
 * A thread that is trapped, or a person's `pause`, makes it STOPPING: the
 * Python threads are asked to stand, all at once, and are waited for by the
 * loop, for a quarter of a second at most. Then the stop is told. Going on,
 * each thread has its watches before the first one runs.
 *
 * One thread is shown: the one that trapped, or that the person looks at. As
 * only one thread of an interpreter runs bytecode at a time, another thread's
 * stop at the same time is rare; it is kept, and told when this one goes on.
 *
 * The connection ends by itself when the process runs and nothing is armed.
 */
#ifndef BACKENDS_PTRACE_DEBUGGEE_H
#define BACKENDS_PTRACE_DEBUGGEE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/cpython/cpython.h"
#include "backends/ptrace/breakpoint-table.h"
#include "backends/ptrace/stepper.h"
#include "backends/ptrace/stop-place.h"
#include "protocol/debugger.h"

struct bytecode_cache;
struct codes;
struct error;
struct loop_timer;
struct memory;
struct pyobject_frame;
struct tracee;
struct watched;

/* So often a program that replaced another is looked at for a Python. */
#define DEBUGGEE_EXEC_LOOKS 100

enum debuggee_phase {
	DEBUGGEE_RUNNING,
	DEBUGGEE_STOPPING, /* threads were asked to stand */
	DEBUGGEE_STOPPED,
};

/* A thread that runs Python, or one that may yet and has watches. */
struct debuggee_thread {
	struct debuggee *control;
	pid_t tid;
	pid_t inner;		  /* what the process calls it; 0: not known */
	uint64_t tstate;	  /* 0: it runs no Python, for all we know */
	struct stepper *stepper;  /* NULL: the same */
	struct plan plan;	  /* its watches */
	struct break_hit hit;	  /* of the newest line event that stops */
	char *change;		  /* of the newest write that stops; or NULL */
	struct stop_place *place; /* where it stopped; NULL: it did not */
	uint64_t seen;		  /* its state, as of the newest look; 0: none */
	bool is_seen_main;	  /* that is one of the main interpreter */
	bool is_wanted;		  /* it was asked to stand */
	bool is_lost;		  /* of sight, and that was told */
	size_t unset;		  /* watches of persons that failed */
	size_t unset_most;	  /* of them, ever */
	char *failure;		  /* why, the last time; NULL: none did */
	bool is_to_retry;	  /* that may be over in a moment, */
	unsigned retries;	  /* and was so at so many looks */
	bool is_planned;	  /* it stands only to be given new watches */
	double born_at;		  /* of one without Python */
};

struct debuggee {
	struct connection base;
	struct debugger debugger;
	struct tracee *tracee;
	struct memory *memory;
	struct cpython python;
	bool is_python; /* false: the program was just replaced (exec) */
	struct bytecode_cache *bytecodes;
	struct codes *codes;
	struct breaks *breaks;
	struct watched *watched;
	json_t *wanted; /* breakpoints, as they were asked for; NULL: none */
	struct planned *watch_requests;
	size_t watch_request_count;
	size_t data_count;     /* of them; behind those of breaks */
	size_t guard_count;    /* of them; the last */
	uint64_t revisions[3]; /* of breaks and watched, that these are of */
	struct debuggee_thread **threads;
	size_t thread_count;
	size_t thread_capacity;
	enum debuggee_phase phase;
	pid_t shown;		     /* the thread that a person looks at; 0: none */
	bool is_namespaced;	     /* its threads have other numbers for itself */
	bool is_alone;		     /* the other threads do not stop with it */
	bool is_kept;		     /* a person connected: it stays */
	bool is_unset_new;	     /* watches failed, which is still to be told */
	bool is_gone;		     /* the process has ended */
	struct loop_timer *deadline; /* of STOPPING; NULL */
	struct loop_timer *looking;  /* while something is armed; NULL */
	struct loop_timer *leaving;  /* NULL: nothing ends */
	unsigned exec_looks;	     /* for a Python in the new program, so far */
	/* signal-stop.c; sets as of pending-signals.h */
	struct loop_timer *signals_look; /* while it is stopped; NULL */
	size_t signals_turn;		 /* of the thread to be looked at */
	uint64_t delivered;		 /* since it was resumed last */
	uint64_t signals_told;		 /* that it stays stopped all the same */
	bool is_disarmed;		 /* nothing that a person set stops it: a signal
					  * was to be handled */
};

/* control.c */

/* NULL and why not. */
struct debuggee *debuggee_new(struct node *node, const struct process *process, bool is_kept,
			      struct error *error);
/* The process is as it was found, and runs. */
void debuggee_free(struct debuggee *control);
/* Makes the parts that belong to the program that it runs now; -1: there is
 * no Python, or not yet. */
int debuggee_read_program(struct debuggee *control, struct error *error);
/* Ends the connection in a later turn of the loop, if nothing holds it. */
void debuggee_settle(struct debuggee *control);
/* Brings the debugger's bindings and times up to date, to be told. */
void debuggee_refresh(struct debuggee *control);
/* Tells `debugger`, whatever the state is. */
void debuggee_tell_again(struct debuggee *control);
/* Sentences for the log, about this process. */
void debuggee_say(struct debuggee *control, int breakpoint, const char *text);

/* debuggee-threads.c */

/* What log points have left out before now; INFINITY: all of it. */
void debuggee_say_left_out(struct debuggee *control, double now);

/* Lends; NULL: it is none of those. */
struct debuggee_thread *debuggee_find(struct debuggee *control, pid_t tid);
/* Makes the list that of the thread states; -1: they cannot be read. */
int debuggee_look_at_threads(struct debuggee *control);
/* A thread of which nothing is known but that it was born. */
struct debuggee_thread *debuggee_add_thread(struct debuggee *control, pid_t tid);
void debuggee_drop_thread(struct debuggee *control, pid_t tid);
void debuggee_drop_threads(struct debuggee *control);
/* The thread has stopped there. */
void debuggee_take_place(struct debuggee_thread *thread, const struct stepper_stop *stop);
/* Whether any thread is about a command other than continue. */
bool debuggee_is_stepping(const struct debuggee *control);
/*
 * The frame at depth of a thread that stands, counted from where it stopped;
 * -1: there is none.
 */
int debuggee_frame(struct debuggee *control, const struct debuggee_thread *thread, int depth,
		   struct pyobject_frame *frame);

/* program-start.c */

/* A thread stands before code that was never run: breakpoints may be in it. */
void debuggee_starts(struct debuggee *control, pid_t tid);
/* The watch for that; false: it is not needed, or not possible. */
bool debuggee_start_watch(const struct debuggee *control, struct hardware_watch *watch);

/* hardware-slots.c */

/* Takes over the watches that a person set; true: it has changed. */
bool debuggee_watch_request(struct debuggee *control);
/* Whether anything that a person set could stop it. */
bool debuggee_has_watch_requests(const struct debuggee *control);
/* Sets the watches that the thread needs to continue from here. */
void debuggee_arm(struct debuggee *control, struct debuggee_thread *thread);
/* The same of all; those that run and step are made to stand for it, those
 * that stand in a stop get theirs when they go on. */
void debuggee_arm_all(struct debuggee *control);
/* Tells the breakpoints what found no room where there is least, and the
 * debugger how many slots are free there. */
void debuggee_weigh(struct debuggee *control);
/* Looks ten times a second while something is armed, or pending. */
void debuggee_keep_looking(struct debuggee *control);

/* stop-report.c */

/* Asks all Python threads to stand; tid is the one to be shown, 0: the main
 * one. -1 and why not. */
int debuggee_pause(struct debuggee *control, pid_t tid, struct error *error);
/* Its threads were asked to stand for no other reason, and that is not told. */
bool debuggee_is_pausing(const struct debuggee *control);
/* The thread has stopped at its place: so do the others. */
void debuggee_stop(struct debuggee *control, struct debuggee_thread *thread);
/* A thread has come to stand, or is no more: are they all there? */
void debuggee_check_standing(struct debuggee *control);
/* The process is not stopped any more. */
void debuggee_forget_stop(struct debuggee *control);

/* resume.c */

/* Who stops with the thread that stops, where the request says so. */
void debuggee_take_setting(struct debuggee *control, const struct message *request);
/* Lends the thread that a request is about; NULL: it does not stand. */
struct debuggee_thread *debuggee_asked(struct debuggee *control, const struct message *request,
				       struct error *error);
/* Each thread gets its watches, then all stopped ones resume. */
void debuggee_resume(struct debuggee *control);
/* The requests continue, next, stepIn, stepOut, until. */
int debuggee_go(struct debuggee *control, enum request_kind kind, const struct message *request,
		struct error *error);

/* signal-stop.c */

/*
 * Resumes it, all threads, without breakpoints, where it was sent a signal
 * that it handles or that ends it, unless the node is to leave it stopped:
 * then that is said. True: it was resumed.
 */
bool debuggee_take_signals(struct debuggee *control);
/* Does so several times a second, until it is resumed. */
void debuggee_look_for_signals(struct debuggee *control);
void debuggee_forget_signals(struct debuggee *control);

/* breakpoint-requests.c */

/* Sets what is wanted; -1: it is no such list. */
int debuggee_want(struct debuggee *control, struct error *error);
/* Whether the list has nothing that is not wanted already: less is left. */
bool debuggee_only_clears(const struct debuggee *control, const json_t *list);
/* The request setBreakpoints. */
int debuggee_set_breakpoints(struct debuggee *control, const struct message *request,
			     struct error *error);

/* evaluate.c: the request evaluate */
int debuggee_evaluate(struct debuggee *control, const struct message *request, struct error *error);

/* unsupported.c */

/* Why it cannot be stepped, though it can be stopped: false and the reason. */
bool debuggee_can_step(const struct debuggee *control, struct reason *reason);
/* The same of a process without a debugger; for `doctor`. */
bool debuggee_probe(struct node *node, pid_t pid, struct reason *reason);

#endif
