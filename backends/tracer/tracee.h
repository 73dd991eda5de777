/*
 * tracee: a process that this node traces, with all its threads, and the hardware watches of each
 * thread. All ptrace(2) calls for such processes are in tracee*.c and ptrace-ops.h.
 *
 * Threads are seized (PTRACE_SEIZE), not attached to (PTRACE_ATTACH): seizing stops no thread and
 * sends no signal. Between traps the process runs at full speed. A thread that was stopped stays
 * stopped until tracee_resume().
 *
 * From the first watch on the process ignores SIGTRAP (remote-syscall.h): a trap that no tracer
 * takes, because the node was killed, is then harmless. tracee_free() restores the disposition. In
 * a child that the process forks, the disposition is restored before the child runs, and likewise
 * in a new program after execve(2). Other signals are delivered unchanged; a stopped thread gets
 * them when it is resumed.
 *
 * Callbacks are called from the loop and from within tracee_spin(). A callback's result decides
 * whether the thread is resumed.
 */
#ifndef BACKENDS_TRACER_TRACEE_H
#define BACKENDS_TRACER_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/tracer/debug-registers.h"

struct error;
struct reason;
struct registers;
struct tracee;
struct waits;

enum tracee_next {
	TRACEE_RESUME,
	TRACEE_STAY, /* the thread stays stopped until tracee_resume() */
};

struct tracee_calls {
	/* A watch has fired and stopped the thread. slot: 0 to 3, the watch. */
	enum tracee_next (*trapped)(struct tracee *tracee, pid_t tid, int slot, void *data);
	/*
	 * tracee_interrupt() has stopped the thread. Not called if trapped() has returned
	 * TRACEE_STAY in the meantime.
	 */
	void (*stopped)(struct tracee *tracee, pid_t tid, void *data);
	/* The process has a new thread, which is stopped and has no watches. */
	enum tracee_next (*born)(struct tracee *tracee, pid_t tid, void *data);
	/* The thread has exited. */
	void (*ended)(struct tracee *tracee, pid_t tid, void *data);
	/* The process has called execve(2): it has one thread, which is stopped, and no watches. */
	enum tracee_next (*execed)(struct tracee *tracee, void *data);
	/*
	 * The process has forked a child, which is stopped before it runs. The callback may call
	 * tracee_adopt(); if it does not, or is NULL, the node detaches from the child.
	 */
	void (*forked)(struct tracee *tracee, pid_t child, void *data);
	/* The process has exited. This is the last callback; the caller must call tracee_free(),
	 * now or later. */
	void (*gone)(struct tracee *tracee, void *data);
	/* For tests, else NULL: tracee has reached the named point. */
	void (*passing)(const char *point, void *data);
	bool is_late;  /* for tests: no remote call returns in time */
	bool is_hasty; /* for tests: detaching waits for no thread to stop */
	void *data;
};

/*
 * Seizes all threads of the process. On failure (another tracer, no permission, no perf, a handler
 * for SIGTRAP …) returns NULL and sets *reason, with a remedy. waits is borrowed until the tracee
 * is freed.
 */
struct tracee *tracee_new(struct waits *waits, pid_t pid, const struct tracee_calls *calls,
			  struct reason *reason);
/*
 * Detaches from the process, which runs as before: closes the watches, drains the traps, restores
 * the disposition of SIGTRAP, delivers pending signals. That takes some milliseconds, a second at
 * most; threads that do not stop in time (uninterruptible sleep) are detached from later. If called
 * within a callback, all of that happens after the callback, and no other callback is called. NULL:
 * does nothing.
 */
void tracee_free(struct tracee *tracee);

/*
 * To be called before waits_free(). While a process would otherwise keep SIGTRAP ignored, waits for
 * threads that are still to be detached from, for a second at most.
 */
void tracee_finish(struct waits *waits);

/*
 * To be called only within forked(): returns a new tracee for the child, owned by the caller. The
 * child is resumed when forked() returns.
 */
struct tracee *tracee_adopt(struct tracee *tracee, pid_t child, const struct tracee_calls *calls);
/* Replaces the callbacks; may be called within a callback. */
void tracee_set_calls(struct tracee *tracee, const struct tracee_calls *calls);
/* Returns the tracee that has this thread; NULL: no tracee has it, or the tracee is being
 * detached. */
struct tracee *tracee_find(struct waits *waits, pid_t tid);

/*
 * Whether the thread, or child, is traced by this node and not in a group-stop (SIGSTOP): the state
 * t in /proc then means that this node has stopped the thread.
 */
bool tracee_is_ours(const struct waits *waits, pid_t tid);

pid_t tracee_pid(const struct tracee *tracee);
size_t tracee_thread_count(const struct tracee *tracee);
/* Returns the tid of thread number i; 0: there are fewer threads. */
pid_t tracee_thread(const struct tracee *tracee, size_t i);
bool tracee_is_stopped(const struct tracee *tracee, pid_t tid);
/* Returns loop_now() of the thread's stop; 0: the thread is running. */
double tracee_since(const struct tracee *tracee, pid_t tid);
/* Reads the registers of a stopped thread. Returns 0, or -1 on failure. */
int tracee_registers(const struct tracee *tracee, pid_t tid, struct registers *registers);

/* PTRACE_INTERRUPT; stopped() is called once the thread has stopped. */
void tracee_interrupt(struct tracee *tracee, pid_t tid);
/* Resumes a stopped thread; for a running thread, cancels tracee_interrupt(). */
void tracee_resume(struct tracee *tracee, pid_t tid);
/*
 * Returns the set of signals (bit N - 1 for signal N) that the threads have received since the last
 * call. Signals are delivered even while other threads are stopped.
 */
uint64_t tracee_take_signals(struct tracee *tracee);
/*
 * Polls for events without returning to the loop, for this time at most: a step consists of several
 * traps that are only some ten microseconds apart. Returns earlier if none of the tracee's threads
 * was trapped in the last quarter of this time.
 */
void tracee_spin(struct tracee *tracee, uint64_t nanoseconds);

/*
 * Sets the watches of a thread, which may be running; slots[i].access HARDWARE_WATCH_NONE: no watch
 * in slot i. Unchanged slots are left alone. The first watch of a process makes the process ignore
 * SIGTRAP, for which one of its threads is stopped for some 0.3 ms. Of two watches that fire at the
 * same instruction, only one is reported. Returns -1 and sets error if not all watches could be
 * set.
 */
int tracee_watch(struct tracee *tracee, pid_t tid,
		 const struct hardware_watch slots[HARDWARE_WATCH_SLOTS], struct error *error);
/*
 * Whether the last tracee_watch() of the thread has failed for a reason that may be over soon, so
 * that the caller may try again: the thread blocked SIGTRAP, as it does while it creates a child or
 * a thread, or no thread could be stopped.
 */
bool tracee_may_watch_soon(const struct tracee *tracee, pid_t tid);
/*
 * A thread that blocks SIGTRAP can be given watches while it is stopped within fork(2) or clone(2),
 * or is new. This function is to be called now and then: if the thread runs and still blocks
 * SIGTRAP, removes its watches, sets error and returns -1.
 */
int tracee_prove(struct tracee *tracee, pid_t tid, struct error *error);
/* Whether the thread has a watch in that slot. */
bool tracee_is_watched(const struct tracee *tracee, pid_t tid, int slot);

/*
 * For freezer.h: stops a thread within 50 ms, without a callback, so that its stack can be read;
 * tracee_release() resumes it. Returns -1 and sets error if the thread did not stop in time.
 */
int tracee_hold(struct tracee *tracee, pid_t tid, struct error *error);
void tracee_release(struct tracee *tracee, pid_t tid);

/* The costs so far, for tests and `doctor`. */
struct tracee_counts {
	uint64_t traps;	     /* number of watches that fired */
	uint64_t changes;    /* number of watches set or changed */
	uint64_t interrupts; /* number of stops by tracee_interrupt() */
	uint64_t remote_calls;
};
void tracee_counts(const struct tracee *tracee, struct tracee_counts *counts);

#endif
