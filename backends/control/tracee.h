/*
 * tracee: a process whose threads are ours to stop, and the watches that are
 * set on them. All ptrace(2) of controlled processes is here and in remote.
 *
 * Threads are seized (PTRACE_SEIZE), never attached to: nothing stops by
 * itself, no signal is sent. Between watches the process runs at full speed.
 * A thread that has come to stand stays so until tracee_resume().
 *
 * From its first watch on the process ignores SIGTRAP (remote.h), so that a
 * trap that nobody takes any more, because we were killed, harms nobody. What
 * the disposition was is remembered and put back by tracee_free(). A child
 * that it forks meanwhile gets its own put back before it runs, and so does
 * a program that it becomes. Signals of its own go through us to it
 * unchanged, also while it stands: they wait.
 *
 * Callbacks come from the loop (and from within tracee_spin()); each says
 * what becomes of the thread.
 */
#ifndef BACKENDS_CONTROL_TRACEE_H
#define BACKENDS_CONTROL_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/control/watch.h"

struct error;
struct reason;
struct registers;
struct tracee;
struct waits;

enum tracee_next {
	TRACEE_GOES_ON,
	TRACEE_STAYS, /* until tracee_resume() */
};

struct tracee_calls {
	/* A watch of the thread has fired; it stands. slot: 0 to 3. */
	enum tracee_next (*trapped)(struct tracee *tracee, pid_t tid, int slot, void *data);
	/*
	 * It stands because of tracee_interrupt(). Not called when trapped()
	 * made it stay meanwhile.
	 */
	void (*stood)(struct tracee *tracee, pid_t tid, void *data);
	/* A new thread; it stands and has no watches. */
	enum tracee_next (*born)(struct tracee *tracee, pid_t tid, void *data);
	/* The thread is no more. */
	void (*ended)(struct tracee *tracee, pid_t tid, void *data);
	/* It runs another program now: no watches, one thread, which stands. */
	enum tracee_next (*execed)(struct tracee *tracee, void *data);
	/*
	 * A process that it forked stands, before it runs: for
	 * tracee_adopt(). NULL, or not adopted: it is left.
	 */
	void (*forked)(struct tracee *tracee, pid_t child, void *data);
	/* All of it is no more; the last call. Free it, now or later. */
	void (*gone)(struct tracee *tracee, void *data);
	/* For tests, else NULL: it has come to this point of its work. */
	void (*passing)(const char *point, void *data);
	bool is_late;  /* for tests: no call in the process is back in time */
	bool is_hasty; /* for tests: leaving waits for no thread to stand */
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
 * Leaves the process as it was found, and running: watches gone, traps
 * drained, SIGTRAP as it was, signals that waited delivered, detached. That
 * takes some milliseconds, and a second at most: a thread that does not come to
 * stand in time (it sleeps where the kernel lets nobody wake it) is left
 * later, by itself. From within one of the calls it is done after that, and
 * no other is called. NULL frees nothing.
 */
void tracee_free(struct tracee *tracee);

/*
 * Before waits_free(): waits for threads that are still to be left, a second
 * at most, as long as a process would be left with SIGTRAP ignored.
 */
void tracee_finish(struct waits *waits);

/*
 * Within forked() alone: the child becomes a tracee of its own, the caller's,
 * whose calls are these; it goes on when forked() returns.
 */
struct tracee *tracee_adopt(struct tracee *tracee, pid_t child, const struct tracee_calls *calls);
/* Others are told from now on, or even by the call that is under way. */
void tracee_set_calls(struct tracee *tracee, const struct tracee_calls *calls);
/* Lends the one that this thread is of, if any. */
struct tracee *tracee_find(struct waits *waits, pid_t tid);

/*
 * Whether a thread, or a child that is still to be left, is one that we trace
 * and that no signal (SIGSTOP) has stopped: what /proc says of it while it
 * stands is our doing.
 */
bool tracee_is_ours(const struct waits *waits, pid_t tid);

pid_t tracee_pid(const struct tracee *tracee);
size_t tracee_thread_count(const struct tracee *tracee);
/* Number i of its threads, 0: there are no more. */
pid_t tracee_thread(const struct tracee *tracee, size_t i);
bool tracee_stands(const struct tracee *tracee, pid_t tid);
/* When it came to stand (loop_now()); 0: it runs. */
double tracee_since(const struct tracee *tracee, pid_t tid);
/* The registers of a thread that stands. 0, or -1. */
int tracee_registers(const struct tracee *tracee, pid_t tid, struct registers *registers);

/* Asks the thread to stand; stood() is called once it does. */
void tracee_interrupt(struct tracee *tracee, pid_t tid);
/*
 * Lets one that stands go on; takes back the interrupt of one that does not
 * stand yet.
 */
void tracee_resume(struct tracee *tracee, pid_t tid);
/*
 * Those (bit N - 1 for signal N) that its threads took since the last call.
 * Each is delivered, whatever becomes of the stop of the others.
 */
uint64_t tracee_take_signals(struct tracee *tracee);
/*
 * Looks for events for so many nanoseconds at most, before the loop does: a
 * step is made of several traps some ten microseconds apart. Returns when
 * none of the tracee's threads was trapped in the last quarter of that.
 */
void tracee_spin(struct tracee *tracee, uint64_t nanoseconds);

/*
 * Makes these the watches of a thread, stopped or not; slots[i].access is
 * WATCH_NONE where there is to be none. Slots that are the same stay as they
 * are. The first watch of a process makes it ignore SIGTRAP, which takes one
 * of its threads to stand for some 0.3 ms. Of two watches that the same
 * instruction sets off one is told of. -1 and a sentence: not all are set.
 */
int tracee_watch(struct tracee *tracee, pid_t tid, const struct watch slots[WATCH_SLOTS],
		 struct error *error);
/*
 * Whether tracee_watch() refused the thread last for what may be over in a
 * moment: it blocked SIGTRAP, as it does while it makes a child or a thread,
 * or no thread came to stand. It is for the caller to try again.
 */
bool tracee_may_watch_soon(const struct tracee *tracee, pid_t tid);
/*
 * A thread that blocks SIGTRAP gets its watches all the same while it stands
 * where it makes a child or a thread, or is born. To be called now and then:
 * -1 and the sentence, if it runs and blocks SIGTRAP still. It has no watches
 * then.
 */
int tracee_prove(struct tracee *tracee, pid_t tid, struct error *error);
/* Whether the thread has a watch in that slot. */
bool tracee_is_watched(const struct tracee *tracee, pid_t tid, int slot);

/*
 * For holds.h: makes a thread stand, 50 ms at most, for a look at it, and lets
 * it go on (or come to what it was about to). Nobody is told of it. -1 and a
 * sentence: it does not stand.
 */
int tracee_hold(struct tracee *tracee, pid_t tid, struct error *error);
void tracee_release(struct tracee *tracee, pid_t tid);

/* What it has cost so far, for tests and `doctor`. */
struct tracee_counts {
	uint64_t traps;	     /* watches that fired */
	uint64_t changes;    /* watches set or changed */
	uint64_t interrupts; /* threads made to stand */
	uint64_t remote_calls;
};
void tracee_counts(const struct tracee *tracee, struct tracee_counts *counts);

#endif
