/*
 * debuggee: one process that the backend `ptrace`, as a debugger, stops and
 * steps from outside. It joins the parts of this folder.
 *
 *	RUNNING -> STOPPING -> STOPPED -> RUNNING …
 *
 * A trapped thread or the request `pause` begins STOPPING: all Python threads
 * are interrupted at once, and the loop waits for them to stop, for 0.25 s at
 * most. Then the stop is reported. On a resume each thread gets its watches
 * before the first thread runs.
 *
 * One thread is shown: the trapped thread, or the thread that the user
 * selected. Only one thread of an interpreter runs bytecode at a time, so it
 * is rare that a second thread has a stop at the same time; that stop is kept,
 * and reported when the shown thread is resumed.
 *
 * The connection closes itself when the process runs without breakpoints or
 * steps.
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
#include "backends/ptrace/stop-report.h"
#include "protocol/debugger.h"

struct bytecode_cache;
struct codes;
struct error;
struct loop_timer;
struct memory;
struct pyobject_frame;
struct tracee;
struct watched;

/* Attempts to find an interpreter in the new program after an exec. */
#define DEBUGGEE_EXEC_LOOKS 100

enum debuggee_phase {
	DEBUGGEE_RUNNING,
	DEBUGGEE_STOPPING, /* threads were interrupted */
	DEBUGGEE_STOPPED,
};

/* A thread that runs Python, or a new thread with watches that may run Python soon. */
struct debuggee_thread {
	struct debuggee *control;
	pid_t tid;
	pid_t inner;	 /* its tid in the process's own pid namespace; 0: unknown */
	uint64_t tstate; /* address of its PyThreadState; 0: it runs no Python, as far as known */
	struct stepper *stepper;  /* NULL: it runs no Python, as far as known */
	struct plan plan;	  /* its watches */
	struct break_hit hit;	  /* breakpoints of the newest line event */
	char *change;		  /* text of the newest write that stops; NULL: none */
	struct stop_place *place; /* where it has stopped; NULL: it has no stop */
	uint64_t seen;		  /* its PyThreadState in the newest list of threads; 0: none */
	bool is_seen_main;	  /* `seen` belongs to the main interpreter */
	bool is_wanted;		  /* it is to stop with the process */
	bool is_lost;		  /* the stepper has lost track of it, and that was reported */
	size_t unset;		  /* watches of breakpoints that could not be set */
	size_t unset_most;	  /* greatest unset since all were set */
	char *failure;		  /* why setting failed last; NULL: it has not failed */
	bool is_to_retry;	  /* the failure may be over soon */
	unsigned retries;	  /* attempts since that failure */
	bool is_planned;	  /* interrupted only to get new watches */
	double born_at;		  /* loop_now() when it was added */
};

struct debuggee {
	struct connection base;
	struct debugger debugger;
	struct tracee *tracee;
	struct memory *memory;
	struct cpython python;
	bool is_python; /* false: no interpreter found yet after an exec */
	struct bytecode_cache *bytecodes;
	struct codes *codes;
	struct breaks *breaks;
	struct watched *watched;
	json_t *wanted; /* requested breakpoints, an array; NULL: none */
	struct planned *watch_requests;
	size_t watch_request_count;
	size_t data_count;     /* data breakpoints' requests, after those of breaks */
	size_t guard_count;    /* optional requests, the last ones */
	uint64_t revisions[3]; /* of breaks and watched when watch_requests was made */
	struct debuggee_thread **threads;
	size_t thread_count;
	size_t thread_capacity;
	enum debuggee_phase phase;
	pid_t shown;		     /* tid of the shown thread; 0: none */
	bool is_namespaced;	     /* it runs in another pid namespace: its tids differ */
	bool is_alone;		     /* only the trapped thread stops */
	bool is_kept;		     /* the user connected: not closed when idle */
	bool is_unset_new;	     /* watches failed, not reported yet */
	bool is_gone;		     /* the process has exited */
	struct loop_timer *deadline; /* of STOPPING; NULL: another phase */
	struct loop_timer *looking;  /* periodic look; NULL: nothing to look for */
	struct loop_timer *leaving;  /* closes the connection; NULL: not due */
	unsigned exec_looks;	     /* attempts to find an interpreter since the exec */
	/* In a set of signals, bit N - 1 is signal N. */
	struct loop_timer *signals_look; /* periodic look at pending signals; NULL: not stopped */
	size_t signals_turn;		 /* index of the thread to be read next */
	uint64_t delivered;		 /* signals delivered since the last resume */
	uint64_t signals_told;		 /* signals reported while it stays stopped */
	bool is_disarmed;		 /* breakpoints are off since it was resumed
					  * to handle a signal */
};

/* debuggee.c */

/* Seizes the process (PTRACE_SEIZE). NULL: error says why it cannot be traced or read. */
struct debuggee *debuggee_new(struct node *node, const struct process *process, bool is_kept,
			      struct error *error);
/* Detaches; the process runs as before, without watches. */
void debuggee_free(struct debuggee *control);
/* Sets up the parts that belong to the current program, at the start and after
 * an exec; -1: no interpreter is found, or not yet. */
int debuggee_read_program(struct debuggee *control, struct error *error);
/* Closes the connection in a later turn of the loop, if it is not needed then. */
void debuggee_settle(struct debuggee *control);
/* Updates the debugger's bindings and times before it is sent. */
void debuggee_refresh(struct debuggee *control);
/* Updates the debugger and sends the event `debugger`, in any state. */
void debuggee_tell_again(struct debuggee *control);
/* Sends text as an event `output`. breakpoint: id of the breakpoint concerned; 0: none. */
void debuggee_say(struct debuggee *control, int breakpoint, const char *text);


/* Reports how many texts log points left out before now (loop_now()); INFINITY: all. */
void debuggee_say_left_out(struct debuggee *control, double now);

/* NULL: no thread in the list has this tid. */
struct debuggee_thread *debuggee_find(struct debuggee *control, pid_t tid);
/* Updates the list from the interpreters' thread states; -1: they cannot be read. */
int debuggee_look_at_threads(struct debuggee *control);
/* Adds a new thread, of which only the tid is known. */
struct debuggee_thread *debuggee_add_thread(struct debuggee *control, pid_t tid);
void debuggee_drop_thread(struct debuggee *control, pid_t tid);
void debuggee_drop_threads(struct debuggee *control);
/* Records where the thread has stopped. */
void debuggee_take_place(struct debuggee_thread *thread, const struct stepper_stop *stop);
/* Whether the command of any thread is other than continue. */
bool debuggee_is_stepping(const struct debuggee *control);
/*
 * Finds the frame at depth of a stopped thread; depth 0 is the frame of its
 * stop. -1: there is none.
 */
int debuggee_frame(struct debuggee *control, const struct debuggee_thread *thread, int depth,
		   struct pyobject_frame *frame);

/* launched-programs.c */

/* The thread has stopped at PyEval_EvalCode(), before new code runs: binds breakpoints in it. */
void debuggee_starts(struct debuggee *control, pid_t tid);
/* The watch on PyEval_EvalCode(); false: no breakpoint is pending, or no address is known. */
bool debuggee_start_watch(const struct debuggee *control, struct hardware_watch *watch);

/* hardware-slots.c */

/* Updates watch_requests from breaks and watched; true: they have changed. */
bool debuggee_watch_request(struct debuggee *control);
/* Whether a breakpoint or data breakpoint could stop the process. */
bool debuggee_has_watch_requests(const struct debuggee *control);
/* Sets the watches that the thread needs to continue from here. */
void debuggee_arm(struct debuggee *control, struct debuggee_thread *thread);
/* Calls debuggee_arm() for all threads. A running thread that steps is
 * interrupted first; a thread stopped with the process is left for the resume. */
void debuggee_arm_all(struct debuggee *control);
/* Reports the fullest thread: the watch requests without a slot to the
 * breakpoints, the number of free slots to the debugger. */
void debuggee_weigh(struct debuggee *control);
/* Starts or ends the timer that looks for new threads, code and watch requests
 * ten times a second while there are breakpoints or steps. */
void debuggee_keep_looking(struct debuggee *control);

/* stop-report.c */

/* Interrupts all Python threads; tid is the thread to be shown, 0: the main
 * thread. -1: no thread runs Python. */
int debuggee_pause(struct debuggee *control, pid_t tid, struct error *error);
/* Whether STOPPING is due to `pause` alone: no thread has a stop of its own yet. */
bool debuggee_is_pausing(const struct debuggee *control);
/* The thread has stopped at its place: interrupts the other threads. */
void debuggee_stop(struct debuggee *control, struct debuggee_thread *thread);
/* To be called when a thread has stopped or exited: reports a stop that is complete. */
void debuggee_check_standing(struct debuggee *control);
/* Resets what is known of the stop: the process counts as running. */
void debuggee_forget_stop(struct debuggee *control);

/* resume.c */

/* Reads `threads` of a request: whether the other threads stop with the trapped thread. */
void debuggee_take_setting(struct debuggee *control, const struct message *request);
/* Returns the thread that a request names; NULL: it is not stopped or runs no Python. */
struct debuggee_thread *debuggee_asked(struct debuggee *control, const struct message *request,
				       struct error *error);
/* Each thread gets its watches, then all stopped ones resume. */
void debuggee_resume(struct debuggee *control);
/* The requests continue, next, stepIn, stepOut, until. */
int debuggee_go(struct debuggee *control, enum request_kind kind, const struct message *request,
		struct error *error);

/* resume.c */

/*
 * Resumes all threads, with breakpoints off, if the process was sent a signal
 * that it handles or that ends it. If the node is set to stop on signals, only
 * reports the signal. True: the process was resumed.
 */
bool debuggee_take_signals(struct debuggee *control);
/* Calls debuggee_take_signals() ten times a second until the process is resumed. */
void debuggee_look_for_signals(struct debuggee *control);
void debuggee_forget_signals(struct debuggee *control);

/* debugger-backend.c */

/* Sets the breakpoints in `wanted`; -1: the list is malformed. */
int debuggee_want(struct debuggee *control, struct error *error);
/* Whether the list does nothing but delete or disable breakpoints. */
bool debuggee_only_clears(const struct debuggee *control, const json_t *list);
/* The request setBreakpoints. */
int debuggee_set_breakpoints(struct debuggee *control, const struct message *request,
			     struct error *error);

/* peek.c: the request evaluate */
int debuggee_evaluate(struct debuggee *control, const struct message *request, struct error *error);

/* debugger-backend.c */

/* Whether the process can be stepped and not only stopped; false: reason says why not. */
bool debuggee_can_step(const struct debuggee *control, struct reason *reason);
/* Whether a process without a debugger could be stopped and stepped; for `doctor`. */
bool debuggee_probe(struct node *node, pid_t pid, struct reason *reason);

#endif
