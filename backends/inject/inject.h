/*
 * inject: runs a Python script once in a running, unmodified CPython.
 *
 * The script is a file below the process's root directory, and runs in a namespace of its own:
 *
 * - in the main thread between two bytecodes, as a pending call: the thread is stopped for 1 or 2
 *   ms, is made to map a page with a few instructions, and to call Py_AddPendingCall(), as a signal
 *   handler may (remote-call.h);
 * - if the main thread waits in the kernel without the GIL, in a new thread: the main thread is
 *   made to call PyThread_start_new_thread() in the same way, and then continues to wait. This also
 *   works for a rank that hangs, and for a main thread that has a pending call and blocks before it
 *   runs the call.
 *
 * The file is removed when the script begins. If both threads begin the script, only the thread
 * that succeeds in removing the file runs it.
 *
 * The page unmaps itself after the script, even if the node has exited. No library is loaded, and
 * no code of the program is overwritten. If this node is killed during the remote call, the thread
 * returns from the call by itself.
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
	unsigned stops;	     /* number of ptrace-stops of the main thread */
	unsigned turns;	     /* number of times that the main thread was resumed for remote calls
			      * (remote-call.h) */
	uint64_t longest_ns; /* the longest stop */
	uint64_t away_ns;    /* the longest time during which the registers were changed */
};

#define INJECT_PATH_MAXIMUM 512

/*
 * Begins an injection; returns NULL and sets reason if that is not possible. The loop calls done()
 * once. With reason NULL, the script runs or has run; else the script will never run, for instance
 * because it did not begin within limit_seconds. Free the result with inject_free(), which done()
 * may call. holds takes over a thread whose stop is still pending; holds and loop are borrowed.
 */
struct inject *inject_new(struct loop *loop, struct freezer *holds, pid_t pid, const char *path,
			  double limit_seconds,
			  void (*done)(struct inject *inject, const struct reason *reason,
				       void *data),
			  void *data, struct reason *reason);
/*
 * Has the script run only in the main thread, even if the main thread waits for long. To be called
 * right after inject_new(), before the loop runs.
 */
void inject_into_main(struct inject *inject);
/* Frees the injection; a script that has not begun will never run. NULL is allowed. */
void inject_free(struct inject *inject);
/* For tests: has passing() called at each step of a remote call. To be called before the loop
 * runs. */
void inject_watch(struct inject *inject, void (*passing)(const char *point, void *data),
		  void *data);
/* Copies the costs so far. */
void inject_cost(const struct inject *inject, struct inject_cost *cost);

/*
 * pep768: whether a CPython of 3.14 or later permits remote debugging (PEP 768).
 *
 * PEP 768 is not used to run scripts: CPython would import the modules that it needs with the
 * __import__ of the current frame, and print an error where the frame's builtins have no __import__
 * (collections.namedtuple()). Moreover the node would have to write the eval breaker, whose bits
 * CPython may change at the same time.
 */

/* Returns false and sets error if remote debugging is not permitted or the answer is unknown.
 * Before CPython 3.14, returns true. */
bool pep768_is_allowed(struct memory *memory, const struct cpython *python, uint64_t interpreter,
		       struct error *error);

/*
 * callees: addresses, in the process, of the functions that injection calls.
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

/* Finds all the functions. Returns 0, or -1 and sets error if one is not exported. */
int callees_find(struct callees *callees, struct memory *memory, const struct cpython *python,
		 struct error *error);

#endif
