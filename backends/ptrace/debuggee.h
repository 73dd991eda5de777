/*
 * debuggee: one process that the backend `ptrace`, as a debugger, stops and steps from outside.
 * struct debuggee joins the modules of this folder.
 *
 *	RUNNING -> STOPPING -> STOPPED -> RUNNING …
 *
 * STOPPING begins when a thread is trapped or `pause` is requested: all Python threads are
 * interrupted at once, and the loop waits for them to stop, for 0.25 s at most. Then the stop is
 * reported. At a resume, all threads get their watches before the first thread runs.
 *
 * One thread is shown to the user: the trapped thread, or the thread that the user selected. Only
 * one thread of an interpreter runs bytecode at a time, so a second thread rarely has a stop of its
 * own at the same time. Such a stop is kept, and reported when the shown thread is resumed.
 *
 * When the process runs without breakpoints and no thread steps, the connection closes itself.
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
	DEBUGGEE_STOPPING, /* threads were interrupted; some may still run */
	DEBUGGEE_STOPPED,
};

/* A thread that runs Python, or a new thread with watches that may run Python soon. */
struct debuggee_thread {
	struct debuggee *control;
	pid_t tid;
	pid_t inner;	 /* the thread's tid in the process's own pid namespace; 0: unknown */
	uint64_t tstate; /* address of the thread's PyThreadState; 0: none known */
	struct stepper *stepper;  /* NULL: no PyThreadState is known */
	struct plan plan;	  /* the watches that the thread needs */
	struct break_hit hit;	  /* breakpoints of the newest line event */
	char *change;		  /* "total: 3 -> 4": the newest write at which a data breakpoint
				   * stops; NULL: none */
	struct stop_place *place; /* where the thread has stopped; NULL: no stop of its own */
	uint64_t seen;		  /* the thread's PyThreadState in the newest list of thread
				   * states; 0: none */
	bool is_seen_main;	  /* `seen` belongs to the main interpreter */
	bool is_wanted;		  /* the thread was interrupted to stop with the process */
	bool is_lost;		  /* the stepper has lost the thread, and that was reported */
	size_t unset;		  /* number of breakpoints' watches that could not be set */
	size_t unset_most;	  /* greatest value of unset since all watches could be set */
	char *failure;		  /* why watches could not be set the last time; NULL: no failure */
	bool is_to_retry;	  /* setting the watches is tried again: the reason may be over
				   * soon */
	unsigned retries;	  /* attempts since the failure */
	bool is_planned;	  /* the thread was interrupted only to get new watches */
	double born_at;		  /* loop_now() when the thread was added */
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
	json_t *wanted; /* the array of the last `setBreakpoints`; NULL: none */
	struct planned *watch_requests;
	size_t watch_request_count;
	size_t data_count;     /* number of requests for data breakpoints, which follow those of
				* breaks */
	size_t guard_count;    /* number of optional requests, which come last */
	uint64_t revisions[3]; /* revisions of breaks and watched from which watch_requests was
				* made */
	struct debuggee_thread **threads;
	size_t thread_count;
	size_t thread_capacity;
	enum debuggee_phase phase;
	pid_t shown;		     /* tid of the shown thread; 0: none */
	bool is_namespaced;	     /* the process runs in another pid namespace, where its tids
				      * differ */
	bool is_alone;		     /* only the trapped thread stops */
	bool is_kept;		     /* the user has connected: the connection is not closed when
				      * idle */
	bool is_unset_new;	     /* watches could not be set, which is not reported yet */
	bool is_gone;		     /* the process has exited */
	struct loop_timer *deadline; /* ends DEBUGGEE_STOPPING; NULL: another phase */
	struct loop_timer *looking;  /* debuggee_keep_looking(); NULL: nothing to look for */
	struct loop_timer *leaving;  /* closes the connection; NULL: not due */
	unsigned exec_looks;	     /* attempts to find an interpreter since the last exec */
	/* Signals while the process is stopped. In a set of signals, bit N - 1 is signal N. */
	struct loop_timer *signals_look; /* checks for pending signals; NULL: not stopped */
	size_t signals_turn;		 /* index of the thread whose pending signals are read
					  * next */
	uint64_t delivered;		 /* set of signals delivered since the last resume */
	uint64_t signals_told;		 /* set of signals reported during the present stop */
	bool is_disarmed;		 /* breakpoints are off because the process was resumed
					  * to handle a signal */
};

/* debuggee.c */

/* Seizes the process (PTRACE_SEIZE). Returns NULL and sets error if the process cannot be traced or
 * read. */
struct debuggee *debuggee_new(struct node *node, const struct process *process, bool is_kept,
			      struct error *error);
/* Detaches from the process, which runs as before and without watches, and frees control. */
void debuggee_free(struct debuggee *control);
/* Sets up what depends on the current program; called at the start and after an exec. Returns -1
 * and sets error if no interpreter is found (yet). */
int debuggee_read_program(struct debuggee *control, struct error *error);
/* Has the connection closed in a later turn of the loop if the connection is not needed then. */
void debuggee_settle(struct debuggee *control);
/* Updates the bindings and times in control->debugger, which is about to be sent. */
void debuggee_refresh(struct debuggee *control);
/* Updates control->debugger and sends the event `debugger`, whatever the state is. */
void debuggee_tell_again(struct debuggee *control);
/* Sends text as an event `output`. breakpoint: id of the breakpoint that the text is about; 0:
 * none. */
void debuggee_say(struct debuggee *control, int breakpoint, const char *text);

/* Reports how many texts log points left out in seconds that were over before `now` (loop_now());
 * INFINITY: in all seconds. */
void debuggee_say_left_out(struct debuggee *control, double now);

/* Returns the thread with this tid; NULL: not in the list of threads. */
struct debuggee_thread *debuggee_find(struct debuggee *control, pid_t tid);
/* Updates the list of threads from the interpreters' thread states. Returns -1 if the thread states
 * cannot be read. */
int debuggee_look_at_threads(struct debuggee *control);
/* Adds a new thread, of which only the tid is known. */
struct debuggee_thread *debuggee_add_thread(struct debuggee *control, pid_t tid);
void debuggee_drop_thread(struct debuggee *control, pid_t tid);
void debuggee_drop_threads(struct debuggee *control);
/* Records where the thread has stopped. */
void debuggee_take_place(struct debuggee_thread *thread, const struct stepper_stop *stop);
/* Whether any thread has a command other than `continue`. */
bool debuggee_is_stepping(const struct debuggee *control);
/*
 * Finds the frame at `depth` of a stopped thread; depth 0 is the frame of the thread's stop.
 * Returns -1 if there is no such frame.
 */
int debuggee_frame(struct debuggee *control, const struct debuggee_thread *thread, int depth,
		   struct pyobject_frame *frame);

/* launched-programs.c */

/* To be called when the thread has stopped at PyEval_EvalCode(), before new code runs: binds
 * breakpoints in that code. */
void debuggee_starts(struct debuggee *control, pid_t tid);
/* Fills in the watch on PyEval_EvalCode(). Returns false if none is needed (no breakpoint is
 * pending) or the address is unknown. */
bool debuggee_start_watch(const struct debuggee *control, struct hardware_watch *watch);

/* hardware-slots.c */

/* Updates watch_requests from breaks and watched. Returns whether the watch requests have
 * changed. */
bool debuggee_watch_request(struct debuggee *control);
/* Whether a breakpoint or data breakpoint could stop the process. */
bool debuggee_has_watch_requests(const struct debuggee *control);
/* Sets the watches that the thread needs when it continues from its present position. */
void debuggee_arm(struct debuggee *control, struct debuggee_thread *thread);
/* Calls debuggee_arm() for all threads, except those that are stopped with the process, which get
 * their watches at the resume. A running thread that steps is interrupted first. */
void debuggee_arm_all(struct debuggee *control);
/* From the thread that uses the most slots: tells the breakpoints which watch requests have no
 * slot, and sets the number of free slots in control->debugger. */
void debuggee_weigh(struct debuggee *control);
/* Starts or ends the timer that looks for new threads, code and watch requests
 * ten times a second while there are breakpoints or steps. */
void debuggee_keep_looking(struct debuggee *control);

/* stop-report.c */

/* Interrupts all Python threads. tid: the thread to be shown; 0: the main thread. Returns -1 and
 * sets error if no thread runs Python. */
int debuggee_pause(struct debuggee *control, pid_t tid, struct error *error);
/* Whether the process is in DEBUGGEE_STOPPING because of `pause` alone: no thread has a stop of its
 * own yet. */
bool debuggee_is_pausing(const struct debuggee *control);
/* To be called when the thread has stopped at thread->place: interrupts the other threads. */
void debuggee_stop(struct debuggee *control, struct debuggee_thread *thread);
/* To be called when a thread has stopped or exited: reports the process's stop if no more threads
 * are waited for. */
void debuggee_check_standing(struct debuggee *control);
/* Resets the state of the stop: the process counts as running. */
void debuggee_forget_stop(struct debuggee *control);

/* resume.c */

/* Reads `threads` of a request: whether the other threads stop with the trapped thread. */
void debuggee_take_setting(struct debuggee *control, const struct message *request);
/* Returns the thread that a request names; NULL, with error: the thread is not stopped or runs no
 * Python. */
struct debuggee_thread *debuggee_asked(struct debuggee *control, const struct message *request,
				       struct error *error);
/* Sets the watches of all threads, then resumes all stopped threads. */
void debuggee_resume(struct debuggee *control);
/* Serves the requests continue, next, stepIn, stepOut and until. */
int debuggee_go(struct debuggee *control, enum request_kind kind, const struct message *request,
		struct error *error);

/* resume.c */

/*
 * If the process was sent a signal that it handles or that ends it: resumes all threads with
 * breakpoints off, or only reports the signal if the node is set to stop on signals. Returns
 * whether the process was resumed.
 */
bool debuggee_take_signals(struct debuggee *control);
/* Calls debuggee_take_signals() ten times a second until the process is resumed. */
void debuggee_look_for_signals(struct debuggee *control);
void debuggee_forget_signals(struct debuggee *control);

/* debugger-backend.c */

/* Sets the breakpoints in `wanted`. Returns -1 and sets error if the list is malformed. */
int debuggee_want(struct debuggee *control, struct error *error);
/* Whether setting this list would only delete or disable breakpoints. */
bool debuggee_only_clears(const struct debuggee *control, const json_t *list);
/* Serves the request setBreakpoints. */
int debuggee_set_breakpoints(struct debuggee *control, const struct message *request,
			     struct error *error);

/* peek.c: serves the request evaluate */
int debuggee_evaluate(struct debuggee *control, const struct message *request, struct error *error);

/* debugger-backend.c */

/* Whether the process can be stepped, not only stopped; if not, sets *reason. */
bool debuggee_can_step(const struct debuggee *control, struct reason *reason);
/* Whether a process that has no debugger could be stopped and stepped; if not, sets *reason. For
 * `doctor`. */
bool debuggee_probe(struct node *node, pid_t pid, struct reason *reason);

#endif
