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
#define CONTROL_EXEC_LOOKS 100

enum control_phase {
	CONTROL_RUNNING,
	CONTROL_STOPPING, /* threads were asked to stand */
	CONTROL_STOPPED,
};

/* A thread that runs Python, or one that may yet and has watches. */
struct control_thread {
	struct control *control;
	pid_t tid;
	pid_t inner;		 /* what the process calls it; 0: not known */
	uint64_t tstate;	 /* 0: it runs no Python, for all we know */
	struct stepper *stepper; /* NULL: the same */
	struct plan plan;	 /* its watches */
	struct break_hit hit;	 /* of the newest line event that stops */
	char *change;		 /* of the newest write that stops; or NULL */
	struct place *place;	 /* where it stopped; NULL: it did not */
	uint64_t seen;		 /* its state, as of the newest look; 0: none */
	bool is_seen_main;	 /* that is one of the main interpreter */
	bool is_wanted;		 /* it was asked to stand */
	bool is_lost;		 /* of sight, and that was told */
	size_t unset;		 /* watches of persons that failed */
	size_t unset_most;	 /* of them, ever */
	char *failure;		 /* why, the last time; NULL: none did */
	bool is_to_retry;	 /* that may be over in a moment, */
	unsigned retries;	 /* and was so at so many looks */
	bool is_planned;	 /* it stands only to be given new watches */
	double born_at;		 /* of one without Python */
};

struct control {
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
	struct planned *wishes;
	size_t wish_count;
	size_t data_count;     /* of them; behind those of breaks */
	size_t guard_count;    /* of them; the last */
	uint64_t revisions[3]; /* of breaks and watched, that these are of */
	struct control_thread **threads;
	size_t thread_count;
	size_t thread_capacity;
	enum control_phase phase;
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
	bool is_disarmed;		 /* nothing of what persons wish stops it: a signal
					  * was to be handled */
};

/* control.c */

/* NULL and why not. */
struct control *control_new(struct node *node, const struct process *process, bool is_kept,
			    struct error *error);
/* The process is as it was found, and runs. */
void control_free(struct control *control);
/* Makes the parts that belong to the program that it runs now; -1: there is
 * no Python, or not yet. */
int control_read_program(struct control *control, struct error *error);
/* Ends the connection in a later turn of the loop, if nothing holds it. */
void control_settle(struct control *control);
/* Brings the debugger's bindings and times up to date, to be told. */
void control_refresh(struct control *control);
/* Tells `debugger`, whatever the state is. */
void control_tell_again(struct control *control);
/* Sentences for the log, about this process. */
void control_say(struct control *control, int breakpoint, const char *text);

/* debuggee-threads.c */

/* What log points have left out before now; INFINITY: all of it. */
void control_say_left_out(struct control *control, double now);

/* Lends; NULL: it is none of those. */
struct control_thread *control_find(struct control *control, pid_t tid);
/* Makes the list that of the thread states; -1: they cannot be read. */
int control_look_at_threads(struct control *control);
/* A thread of which nothing is known but that it was born. */
struct control_thread *control_add_thread(struct control *control, pid_t tid);
void control_drop_thread(struct control *control, pid_t tid);
void control_drop_threads(struct control *control);
/* The thread has stopped there. */
void control_take_place(struct control_thread *thread, const struct stepper_stop *stop);
/* Whether any thread is about a command other than continue. */
bool control_is_stepping(const struct control *control);
/*
 * The frame at depth of a thread that stands, counted from where it stopped;
 * -1: there is none.
 */
int control_frame(struct control *control, const struct control_thread *thread, int depth,
		  struct pyobject_frame *frame);

/* program-start.c */

/* A thread stands before code that was never run: breakpoints may be in it. */
void control_starts(struct control *control, pid_t tid);
/* The watch for that; false: it is not needed, or not possible. */
bool control_start_watch(const struct control *control, struct watch *watch);

/* slot-arming.c */

/* Takes over what persons wish; true: it has changed. */
bool control_wish(struct control *control);
/* Whether anything that a person wishes could stop it. */
bool control_has_wishes(const struct control *control);
/* Sets the watches that the thread needs to continue from here. */
void control_arm(struct control *control, struct control_thread *thread);
/* The same of all; those that run and step are made to stand for it, those
 * that stand in a stop get theirs when they go on. */
void control_arm_all(struct control *control);
/* Tells the breakpoints what found no room where there is least, and the
 * debugger how many slots are free there. */
void control_weigh(struct control *control);
/* Looks ten times a second while something is armed, or pending. */
void control_keep_looking(struct control *control);

/* stop-report.c */

/* Asks all Python threads to stand; tid is the one to be shown, 0: the main
 * one. -1 and why not. */
int control_pause(struct control *control, pid_t tid, struct error *error);
/* Its threads were asked to stand for no other reason, and that is not told. */
bool control_is_pausing(const struct control *control);
/* The thread has stopped at its place: so do the others. */
void control_stop(struct control *control, struct control_thread *thread);
/* A thread has come to stand, or is no more: are they all there? */
void control_check_standing(struct control *control);
/* The process is not stopped any more. */
void control_forget_stop(struct control *control);

/* resume.c */

/* Who stops with the thread that stops, where the request says so. */
void control_take_setting(struct control *control, const struct message *request);
/* Lends the thread that a request is about; NULL: it does not stand. */
struct control_thread *control_asked(struct control *control, const struct message *request,
				     struct error *error);
/* Each thread gets its watches, then all stopped ones resume. */
void control_resume(struct control *control);
/* The requests continue, next, stepIn, stepOut, until. */
int control_go(struct control *control, enum request_kind kind, const struct message *request,
	       struct error *error);

/* signal-stop.c */

/*
 * Resumes it, all threads, without breakpoints, where it was sent a signal
 * that it handles or that ends it, unless the node is to leave it stopped:
 * then that is said. True: it was resumed.
 */
bool control_take_signals(struct control *control);
/* Does so several times a second, until it is resumed. */
void control_look_for_signals(struct control *control);
void control_forget_signals(struct control *control);

/* breakpoint-requests.c */

/* Sets what is wanted; -1: it is no such list. */
int control_want(struct control *control, struct error *error);
/* Whether the list has nothing that is not wanted already: less is left. */
bool control_only_clears(const struct control *control, const json_t *list);
/* The request setBreakpoints. */
int control_set_breakpoints(struct control *control, const struct message *request,
			    struct error *error);

/* evaluate.c: the request evaluate */
int control_evaluate(struct control *control, const struct message *request, struct error *error);

/* unsupported.c */

/* Why it cannot be stepped, though it can be stopped: false and the reason. */
bool control_can_step(const struct control *control, struct reason *reason);
/* The same of a process without a debugger; for `doctor`. */
bool control_probe(struct node *node, pid_t pid, struct reason *reason);

#endif
