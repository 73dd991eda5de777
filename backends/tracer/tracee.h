/*
 * tracee: a process that this node traces, with all its threads, and the hardware
 * watches of each thread. All ptrace(2) of such processes is in tracee*.c and
 * ptrace-ops.h.
 *
 * Threads are seized (PTRACE_SEIZE), never attached to: no thread stops by
 * itself, no signal is sent. Between watches the process runs at full speed. A
 * thread that was stopped stays stopped until tracee_resume().
 *
 * From the first watch on the process ignores SIGTRAP (remote-syscall.h): a trap that no
 * tracer takes, because the node was killed, is then harmless. tracee_free()
 * puts the disposition back. A child that the process forks meanwhile gets the
 * disposition back before the child runs, and so does a new program (execve).
 * Other signals are delivered unchanged; to a stopped thread, once it resumes.
 *
 * Callbacks come from the loop, and from within tracee_spin(). The result of a
 * callback says whether the thread resumes.
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
	TRACEE_STAY, /* stopped, until tracee_resume() */
};

struct tracee_calls {
	/* A watch of the thread, which is stopped, has fired. slot: 0 to 3. */
	enum tracee_next (*trapped)(struct tracee *tracee, pid_t tid, int slot, void *data);
	/*
	 * tracee_interrupt() has stopped the thread. Not called when trapped()
	 * has returned TRACEE_STAY meanwhile.
	 */
	void (*stopped)(struct tracee *tracee, pid_t tid, void *data);
	/* A new thread, stopped and without watches. */
	enum tracee_next (*born)(struct tracee *tracee, pid_t tid, void *data);
	/* The thread has exited. */
	void (*ended)(struct tracee *tracee, pid_t tid, void *data);
	/* execve(2): no watches, one thread, which is stopped. */
	enum tracee_next (*execed)(struct tracee *tracee, void *data);
	/*
	 * A child, stopped before it runs: for tracee_adopt(). NULL, or not
	 * adopted: the child is detached from.
	 */
	void (*forked)(struct tracee *tracee, pid_t child, void *data);
	/* The process has exited; the last call. tracee_free() is due, now or later. */
	void (*gone)(struct tracee *tracee, void *data);
	/* For tests, else NULL: tracee has come to that point. */
	void (*passing)(const char *point, void *data);
	bool is_late;  /* for tests: no remote call returns in time */
	bool is_hasty; /* for tests: detaching waits for no thread to stop */
	void *data;
};

/*
 * Seizes all threads of the process. NULL, and the reason and what would help
 * (another tracer, no permission, no perf, a handler for SIGTRAP …). waits is
 * borrowed for its life.
 */
struct tracee *tracee_new(struct waits *waits, pid_t pid, const struct tracee_calls *calls,
			  struct reason *reason);
/*
 * Detaches from the process, which runs as before: watches closed, traps
 * drained, disposition of SIGTRAP put back, pending signals delivered. That
 * takes some milliseconds, and a second at most: a thread that does not stop in
 * time (uninterruptible sleep) is detached from later. From within a callback
 * all of that follows the callback, and no other is called. NULL: does nothing.
 */
void tracee_free(struct tracee *tracee);

/*
 * Before waits_free(): waits, a second at most, for threads that are still to be
 * detached from, as long as a process would keep SIGTRAP ignored.
 */
void tracee_finish(struct waits *waits);

/*
 * To be called within forked() alone: makes the child a tracee of its own, which
 * the caller owns; the child is resumed when forked() returns.
 */
struct tracee *tracee_adopt(struct tracee *tracee, pid_t child, const struct tracee_calls *calls);
/* Replaces the callbacks; may be called from within one of them. */
void tracee_set_calls(struct tracee *tracee, const struct tracee_calls *calls);
/* The tracee that has this thread; NULL: none, or it is being detached from. */
struct tracee *tracee_find(struct waits *waits, pid_t tid);

/*
 * The thread, or child, is traced by this node and not in a group-stop
 * (SIGSTOP): state t in /proc is then the work of this node.
 */
bool tracee_is_ours(const struct waits *waits, pid_t tid);

pid_t tracee_pid(const struct tracee *tracee);
size_t tracee_thread_count(const struct tracee *tracee);
/* Tid of thread number i; 0: there are no more. */
pid_t tracee_thread(const struct tracee *tracee, size_t i);
bool tracee_is_stopped(const struct tracee *tracee, pid_t tid);
/* loop_now() of the stop; 0: the thread runs. */
double tracee_since(const struct tracee *tracee, pid_t tid);
/* Registers of a stopped thread. 0, or -1. */
int tracee_registers(const struct tracee *tracee, pid_t tid, struct registers *registers);

/* PTRACE_INTERRUPT; stopped() is called once the thread has stopped. */
void tracee_interrupt(struct tracee *tracee, pid_t tid);
/* Resumes a stopped thread; for a running thread, cancels tracee_interrupt(). */
void tracee_resume(struct tracee *tracee, pid_t tid);
/*
 * Signals (bit N - 1 for signal N) that the threads took since the last call.
 * Each is delivered, also while other threads are stopped.
 */
uint64_t tracee_take_signals(struct tracee *tracee);
/*
 * Polls for events without the loop, for this time at most: a step is made of
 * several traps some ten microseconds apart. Returns earlier if none of the
 * tracee's threads was trapped in the last quarter of this time.
 */
void tracee_spin(struct tracee *tracee, uint64_t nanoseconds);

/*
 * Makes these the watches of a thread, stopped or not; slots[i].access is
 * HARDWARE_WATCH_NONE where there is to be none. Slots that are the same stay as they
 * are. The first watch of a process makes the process ignore SIGTRAP: one of its
 * threads is stopped for some 0.3 ms. Of two watches that fire at the same
 * instruction one is reported. -1: not all are set.
 */
int tracee_watch(struct tracee *tracee, pid_t tid,
		 const struct hardware_watch slots[HARDWARE_WATCH_SLOTS], struct error *error);
/*
 * The last tracee_watch() of the thread has failed for a reason that may be over
 * soon: the thread blocked SIGTRAP, as it does while it makes a child or a
 * thread, or no thread could be stopped. The caller may try again.
 */
bool tracee_may_watch_soon(const struct tracee *tracee, pid_t tid);
/*
 * A thread that blocks SIGTRAP gets watches all the same while it is stopped
 * within fork(2) or clone(2), or is new. To be called now and then: -1, and the
 * watches are removed, if the thread runs and still blocks SIGTRAP.
 */
int tracee_prove(struct tracee *tracee, pid_t tid, struct error *error);
/* Whether the thread has a watch in that slot. */
bool tracee_is_watched(const struct tracee *tracee, pid_t tid, int slot);

/*
 * For freezer.h: stops a thread within 50 ms, without a callback, so that its
 * stack can be read; tracee_release() resumes it. -1: the thread did not stop.
 */
int tracee_hold(struct tracee *tracee, pid_t tid, struct error *error);
void tracee_release(struct tracee *tracee, pid_t tid);

/* Cost so far, for tests and `doctor`. */
struct tracee_counts {
	uint64_t traps;	     /* watches that fired */
	uint64_t changes;    /* watches set or changed */
	uint64_t interrupts; /* stops by tracee_interrupt() */
	uint64_t remote_calls;
};
void tracee_counts(const struct tracee *tracee, struct tracee_counts *counts);

#endif
