/*
 * tracee-private: what the files of tracee share. tracee.c has the requests of
 * the caller, tracee-attach.c PTRACE_SEIZE, tracee-events.c the statuses of
 * wait4(2), tracee-disposition.c the disposition of SIGTRAP, tracee-detach.c
 * PTRACE_DETACH.
 *
 * States of a thread, by the words of ptrace(2):
 *
 *	    PTRACE_SEIZE                  SIGTRAP of a watch
 *	         |              +-------------------------------> TRAPPED
 *	         v              |          PTRACE_CONT             |  |
 *	FROZEN <--> RUNNING ----+ <--------------------------------+  | TRACEE_STAY:
 *	  hold      |  ^                                              | PTRACE_INTERRUPT,
 *	 event-stop |  | PTRACE_CONT                                  | PTRACE_CONT
 *	            v  |            event-stop                        v
 *	NEW -----> STOPPED <----------------------------------- INTERRUPTED
 *	 first     | ^  | ^
 *	 event-    | |  | | event-stop
 *	 stop      | |  v |
 *	           | |  LISTENING    PTRACE_LISTEN, where the stop is a group-stop
 *	           v |
 *	          IN_CALL            remote call that is late; back to RUNNING
 *
 *	each state --> EXITED (first thread of a process that lives on), or gone
 *
 * A signal, a system call's stop, a new thread or child, and an exec leave the
 * state as it is: the thread is resumed. An event-stop means the first of these
 * that holds (take_stop() in tracee-events.c):
 *
 *	is_child                 forked(), then detach
 *	own_trap                 send SIGTRAP again, resume
 *	forced, and RUNNING      ignore SIGTRAP again, then trapped()
 *	INTERRUPTED              stay: trapped() has been called
 *	NEW                      born()
 *	is_exec_due              execed()
 *	is_stop_due              stopped()
 *	else                     resume
 *
 * Those booleans are work that is due at the next event-stop; any of them can
 * be due together. The others are facts that hold in several states: of a child
 * (is_child, is_sigtrap_ignored, was_reported), of the process's job control
 * (is_in_group_stop), of the signal mask (is_masked), of the call stack
 * (is_born).
 */
#ifndef BACKENDS_TRACER_TRACEE_PRIVATE_H
#define BACKENDS_TRACER_TRACEE_PRIVATE_H

#include <sys/ptrace.h>

#include "backends/tracer/debug-registers.h"
#include "backends/tracer/remote-syscall.h"
#include "backends/tracer/syscall-restart.h"
#include "backends/tracer/tracee.h"

struct loop_timer;
struct waits;

enum tracee_state {
	TRACEE_NEW,
	TRACEE_RUNNING,
	TRACEE_LISTENING,
	TRACEE_TRAPPED, /* in signal-delivery-stop, within trapped() */
	TRACEE_INTERRUPTED,
	TRACEE_STOPPED, /* in an event-stop */
	TRACEE_FROZEN,	/* in a stop that tracee_hold() took */
	TRACEE_IN_CALL,
	TRACEE_EXITED,
};

/* Whether watches stop the thread. */
enum watchable {
	WATCHABLE,
	WATCHABLE_UNPROVEN, /* SIGTRAP was blocked when the watches were set */
	WATCHABLE_SOON,	    /* refused; see tracee_may_watch_soon() */
};

/* thread.forced, where it is no slot. */
#define FORCED_NOT (-2)
#define FORCED_UNKNOWN (-1)

/* How far tracee_free() has got. */
enum detaching {
	DETACHING_NOT,
	DETACHING_DUE,	 /* when no function of tracee is under way; no callback from now on */
	DETACHING_BEGUN, /* watches closed, threads interrupted */
};

/* What SIGTRAP does in the process. */
enum disposition {
	DISPOSITION_ITS_OWN,
	DISPOSITION_IGNORED, /* by us */
};

/* What a call in the process is for. */
enum call_aim {
	CALL_IGNORES,	    /* SIGTRAP, from now on */
	CALL_IGNORES_AGAIN, /* after a debug exception that was forced */
	CALL_PUTS_BACK,	    /* what was before that */
	CALL_GIVES_BACK,    /* what the program has set itself */
};

struct thread {
	struct tracee *tracee;
	pid_t tid;
	enum tracee_state state;
	bool is_child;		 /* a process that it forked, not a thread */
	bool is_sigtrap_ignored; /* of a child: by us, to be put back */
	bool was_reported;	 /* of a child: forked() was called */
	bool is_stop_due;	 /* stopped() is to be called */
	bool is_exec_due;	 /* execed() is */
	int forced;		 /* DEBUG_REGISTERS_FORCED: the slot, or FORCED_UNKNOWN */
	siginfo_t *own_trap;	 /* see thread_take_own_trap(); NULL: none */
	bool is_in_group_stop;	 /* the last event-stop was a group-stop */
	double since;
	double trapped; /* when it was trapped last; 0: never */
	struct debug_registers slots;
	enum watchable watchable;
	bool is_born;			/* within born(): the C library has blocked all signals */
	struct remote_syscall *remote;	/* NULL: none is under way */
	enum call_aim aim;		/* of that */
	int status;			/* FROZEN: of the stop, not taken yet */
	struct syscall_restart restart; /* of the system call that a stop ended */
	uint64_t mask;			/* of its signals, if is_masked */
	bool is_masked;
};

struct tracee {
	struct waits *waits;
	pid_t pid;
	struct tracee_calls calls;
	struct thread **threads;
	size_t thread_count;
	size_t thread_capacity;
	struct thread **children;
	size_t child_count;
	size_t child_capacity;
	struct arch_places places; /* remote_syscall_find(); 0: not looked for */
	enum disposition disposition;
	struct arch_action old; /* what was, when it is ignored */
	uint64_t signals;	/* for tracee_take_signals() */
	double hopeless;	/* no thread is awaited for that until then */
	int depth;		/* in how many of our functions we are */
	enum detaching detaching;
	struct loop_timer *sparing; /* looks after spared threads; or NULL */
	struct tracee_counts counts;
};

/* tracee.c */
bool tracee_is_detaching(const struct tracee *tracee);
struct thread *thread_add(struct tracee *tracee, pid_t tid, bool is_child);
/* Forgets it. */
void thread_remove(struct thread *thread);
/* Whether the process has such a thread. */
bool thread_is_of(pid_t pid, pid_t tid);
struct thread *thread_find(const struct tracee *tracee, pid_t tid);
/* Forgotten by its tracee, it is a thread of that one. */
void thread_move(struct thread *thread, struct tracee *to);
/* Interrupts one that runs, or listens; all interrupts are this. */
void thread_interrupt(struct thread *thread);
/* The thread has come to an event stop, or to the stop of a signal. */
void thread_note_stop(struct thread *thread, int status);
/* Resumes a stopped thread, with that signal, to its event stop if wanted. */
void thread_go(struct thread *thread, int signal_number);
/* The same from a stop at a system call, which may be one begun again. */
void thread_go_from_call(struct thread *thread);
/* Lets one that stands run, or listen while its process is stopped. */
void thread_release(struct thread *thread);
/* It ends, or sleeps uninterruptibly (state D). */
bool thread_is_stuck(const struct thread *thread);
/* Waits for a thread to stand; it is wanted only for this. False: not so. */
bool thread_settle(struct thread *thread, uint64_t nanoseconds);
void tracee_pass(const struct tracee *tracee, const char *point);
/* For tracee_take_signals(): each status of a thread goes through here. */
void thread_note_signal(struct thread *thread, int status);

/* tracee-attach.c */
/* Finds it, too, when it was held by freezer.h while all others were seized. */
struct thread *thread_seek(struct tracee *tracee, pid_t tid);

/* tracee-events.c: what waits.h calls. */
void thread_changed(pid_t tid, int status, void *data);
/*
 * Like thread_changed(), for a caller that waited for the thread itself; the call may free the
 * thread.
 */
void thread_take(struct thread *thread, int status);
/* A new thread, or a child, as the status of its parent says. */
void thread_take_new(struct thread *parent, int event);

/* tracee-disposition.c */
/*
 * SIGTRAP is to be ignored from now on; by which of its threads, if any. Where
 * none came to stand it fails at once for a moment: it is asked for each thread.
 */
int tracee_ignore(struct tracee *tracee, struct thread *preferred, struct error *error);
/* SIGTRAP is put back by a thread, or child, that stands. */
void thread_put_back(struct thread *thread);
/* It stands: SIGTRAP, which the kernel has made deadly, is ignored again. */
void thread_ignore_again(struct thread *thread);
/* The same in a new program. */
void thread_put_back_execed(struct thread *thread);
/* The remote call that came late is over. False: it takes another. */
bool thread_finish_call(struct thread *thread);
/* A SIGTRAP that no watch made: it does what it would have done. */
void thread_take_own_trap(struct thread *thread, siginfo_t *info);
/* Continues with that when the thread has stopped. */
void thread_send_own_trap(struct thread *thread);

/* tracee-detach.c */
/* tracee_free(), when no function of ours is under way; and for late ones. */
void tracee_detach(struct tracee *tracee);
/* A function that has made depth greater ends; it may free the tracee. */
void tracee_step_out(struct tracee *tracee);
/* waits_free() */
void thread_end(struct thread *thread);
/* Leaves one that stands. It is freed. */
void thread_leave(struct thread *thread);
void tracee_destroy(struct tracee *tracee);
/* See waits_on_stranger(). */
void tracee_take_stranger(struct waits *waits, pid_t tid, int status);

#endif
