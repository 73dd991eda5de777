/*
 * inject: runs a Python script once in a running, unmodified CPython.
 *
 * The script is a file below the process's root, and runs in its own namespace:
 *
 * - in the main thread between two bytecodes, as a pending call: the thread is
 *   stopped for 1 or 2 ms, maps a page with a few instructions, and calls
 *   Py_AddPendingCall() as a signal handler may (remote-call.h);
 * - if the main thread waits in the kernel without the GIL, in a new thread: the
 *   main thread calls PyThread_start_new_thread() in the same way, and continues
 *   to wait. This also works for a rank that hangs, and for a thread that blocked
 *   before it reached its pending call.
 *
 * The file is removed when the script begins. If two threads begin the script, the
 * one that removes the file runs it.
 *
 * The page unmaps itself after the script, even if the node has exited. No library
 * is loaded, and no code of the program is overwritten. If this node is killed
 * during a call, the thread returns from the call by itself.
 */
#ifndef BACKENDS_INJECT_INJECT_H
#define BACKENDS_INJECT_INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cpython;
struct error;
struct freezer;
struct inject;
struct loop;
struct memory;
struct reason;

enum inject_way {
	INJECT_NONE, /* not begun */
	INJECT_BY_PENDING_CALL,
	INJECT_BY_THREAD,
};

/* The costs of an injection for the process. */
struct inject_cost {
	enum inject_way way;
	unsigned stops;	     /* ptrace-stops of the main thread */
	unsigned turns;	     /* resumes for remote calls (remote-call.h) */
	uint64_t longest_ns; /* the longest stop */
	uint64_t away_ns;    /* the longest time with changed registers */
};

#define INJECT_PATH_MAXIMUM 512

/*
 * Begins an injection; NULL: not possible, reason is set. done() is called once, from
 * the loop: reason NULL: the script runs, or has run; else: the script will never
 * run. The script must begin within limit_seconds. Free the result with
 * inject_free(), also from done(). holds takes a thread whose stop is still
 * pending; holds and loop are borrowed.
 */
struct inject *inject_new(struct loop *loop, struct freezer *holds, pid_t pid, const char *path,
			  double limit_seconds,
			  void (*done)(struct inject *inject, const struct reason *reason,
				       void *data),
			  void *data, struct reason *reason);
/*
 * Runs the script only in the main thread, even if that waits for long. Call it
 * right after inject_new(), before the loop runs.
 */
void inject_into_main(struct inject *inject);
/* A script that has not begun will never run. NULL is allowed. */
void inject_free(struct inject *inject);
/* For tests: passing() is called at each step (remote-call.h). Call it before the loop runs. */
void inject_watch(struct inject *inject, void (*passing)(const char *point, void *data),
		  void *data);
/* Copies the costs so far. */
void inject_cost(const struct inject *inject, struct inject_cost *cost);

/*
 * Whether a CPython of 3.14 or later permits remote debugging (PEP 768).
 *
 * PEP 768 is not used to run scripts: CPython would import what it needs with the
 * __import__ of the current frame, and print an error where the frame has none
 * (collections.namedtuple()). Moreover the eval breaker, whose bits CPython changes
 * at any time, would have to be written from outside.
 */

/* False: not permitted, or unknown; error is set. True before 3.14. */
bool pep768_is_allowed(struct memory *memory, const struct cpython *python, uint64_t interpreter,
		       struct error *error);

/*
 * Addresses of the functions that are called in a process.
 */

struct callees {
	/* In the interpreter: */
	uint64_t run;	       /* PyRun_SimpleString */
	uint64_t add_pending;  /* Py_AddPendingCall */
	uint64_t start_thread; /* PyThread_start_new_thread */
	uint64_t take_gil;     /* PyGILState_Ensure */
	uint64_t leave_gil;    /* PyGILState_Release */
	/* In the C library: */
	uint64_t unmap; /* munmap */
	uint64_t send;	/* raise */
};

/* Finds all of them. -1: one is not exported, error is set. */
int callees_find(struct callees *callees, struct memory *memory, const struct cpython *python,
		 struct error *error);

#endif
