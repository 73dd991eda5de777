/*
 * tracee-private: the declarations that the files of tracee share. tracee.c has the caller's
 * requests, tracee-attach.c has PTRACE_SEIZE and PTRACE_DETACH, tracee-events.c handles the
 * statuses of wait4(2), tracee-disposition.c changes the disposition of SIGTRAP.
 *
 * States of a thread, in the terms of ptrace(2):
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
 * At a signal, a syscall-stop, a new thread or child, and an exec the state does not change: the
 * thread is resumed. At an event-stop, the first condition in this list that holds decides
 * (tracee_events_take_stop()):
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
 * The booleans in this list stand for work that is due at the next event-stop; several of them can
 * be true together. The other booleans of struct thread are facts that hold in several states:
 * about a child (is_child, is_sigtrap_ignored, was_reported), the process's job control
 * (is_in_group_stop), the signal mask (is_masked), the call stack (is_born).
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
	TRACEE_FROZEN,	/* stopped by tracee_hold() */
	TRACEE_IN_CALL,
	TRACEE_EXITED,
};

/* Whether the thread's watches can stop the thread. */
enum watchable {
	WATCHABLE,
	WATCHABLE_UNPROVEN, /* SIGTRAP was blocked when the watches were set */
	WATCHABLE_SOON,	    /* setting watches has failed; see tracee_may_watch_soon() */
};

/* Values of thread.forced other than slots. */
#define FORCED_NOT (-2)
#define FORCED_UNKNOWN (-1)

/* How far tracee_free() has got. */
enum detaching {
	DETACHING_NOT,
	DETACHING_DUE,	 /* waits until no function of tracee is running; from now on no callback
			  * is called */
	DETACHING_BEGUN, /* watches closed, threads interrupted */
};

/* The disposition of SIGTRAP in the process. */
enum disposition {
	DISPOSITION_ITS_OWN,
	DISPOSITION_IGNORED, /* set by this node */
};

/* The purpose of a remote call of rt_sigaction(2). */
enum call_aim {
	CALL_IGNORES,	    /* has the process ignore SIGTRAP from now on */
	CALL_IGNORES_AGAIN, /* has it ignore SIGTRAP again after a forced debug exception */
	CALL_PUTS_BACK,	    /* restores the action before CALL_IGNORES */
	CALL_GIVES_BACK,    /* restores an action that the program has set itself */
};

struct thread {
	struct tracee *tracee;
	pid_t tid;
	enum tracee_state state;
	bool is_child;		 /* a forked process, not a thread */
	bool is_sigtrap_ignored; /* child: has inherited the ignored SIGTRAP, which must be
				  * undone */
	bool was_reported;	 /* child: forked() was called */
	bool is_stop_due;	 /* stopped() is to be called */
	bool is_exec_due;	 /* execed() is to be called */
	/*
	 * After a debug exception that names no watch (DEBUG_REGISTERS_FORCED): slot of the only
	 * possible watch, or FORCED_UNKNOWN; else FORCED_NOT.
	 */
	int forced;
	siginfo_t *own_trap;	 /* the program's own SIGTRAP, to be sent again; NULL: none */
	bool is_in_group_stop;	 /* the last event-stop was a group-stop */
	double since;		 /* loop_now() of the thread's stop */
	double trapped;		 /* loop_now() of the thread's last trap; 0: never */
	struct debug_registers slots;
	enum watchable watchable;
	bool is_born;			/* within born(): the C library has blocked all signals */
	struct remote_syscall *remote;	/* NULL: none is under way */
	enum call_aim aim;		/* purpose of `remote` */
	int status;			/* TRACEE_FROZEN: status of the stop, not handled yet */
	struct syscall_restart restart; /* restarts the system call that a stop has ended */
	uint64_t mask;			/* signal mask to be restored, if is_masked */
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
	struct arch_places places; /* result of remote_syscall_find(); 0: not searched yet */
	enum disposition disposition;
	struct arch_action old; /* SIGTRAP's action before it was ignored */
	uint64_t signals;	/* set of signals for tracee_take_signals() */
	double hopeless;	/* until this loop_now(), remote calls fail at once: no thread
				 * could be stopped */
	int depth;		/* number of nested running functions of tracee; detaching waits
				 * for 0 */
	enum detaching detaching;
	struct loop_timer *sparing; /* periodic check of spared threads (tracee-attach.c); NULL:
				     * none */
	struct tracee_counts counts;
};

/* tracee.c */
bool tracee_is_detaching(const struct tracee *tracee);
struct thread *thread_add(struct tracee *tracee, pid_t tid, bool is_child);
/* Removes the thread from its tracee and frees it. */
void thread_remove(struct thread *thread);
/* Whether tid is a thread of process pid. */
bool thread_is_of(pid_t pid, pid_t tid);
struct thread *thread_find(const struct tracee *tracee, pid_t tid);
/* Moves the thread, or child, to the threads of another tracee. */
void thread_move(struct thread *thread, struct tracee *to);
/* PTRACE_INTERRUPT, for a running or listening thread. */
void thread_interrupt(struct thread *thread);
/* To be called in an event-stop or signal-delivery-stop: prepares the restart of the system
 * call. */
void thread_note_stop(struct thread *thread, int status);
/* Resumes a stopped thread and delivers this signal (0: none); if a stop is due, the thread runs
 * only to its event-stop. */
void thread_go(struct thread *thread, int signal_number);
/* Resumes a thread from a syscall-stop, perhaps of a system call that is being restarted. */
void thread_go_from_call(struct thread *thread);
/* Resumes a stopped thread; if it is in a group-stop, calls PTRACE_LISTEN instead. */
void thread_release(struct thread *thread);
/* Whether the thread is exiting or sleeps uninterruptibly (state D). */
bool thread_is_stuck(const struct thread *thread);
/* Interrupts the thread and waits until it has stopped, without calling stopped(). Returns false if
 * the thread has not stopped in that time. */
bool thread_settle(struct thread *thread, uint64_t nanoseconds);
void tracee_pass(const struct tracee *tracee, const char *point);
/* Notes the signal in a status, for tracee_take_signals(). To be called with each status of a
 * thread. */
void thread_note_signal(struct thread *thread, int status);

/* tracee-attach.c */
/* Finds a thread. A thread that the freezer held while the other threads were seized is seized
 * now. */
struct thread *thread_seek(struct tracee *tracee, pid_t tid);

/* tracee-events.c: callback of waits.h. */
void thread_changed(pid_t tid, int status, void *data);
/*
 * Like thread_changed(), for a caller that has itself waited for the thread's status. The call may
 * free the thread.
 */
void thread_take(struct thread *thread, int status);
/* Adds the new thread or child that an event of its parent reports. */
void thread_take_new(struct thread *parent, int event);

/* tracee-disposition.c */
/*
 * Makes the process ignore SIGTRAP, by a remote call in a thread that is stopped already, else
 * preferably in `preferred`. If no thread has stopped in time, further calls fail at once for a
 * while, because this function is called for each thread of the process.
 */
int tracee_ignore(struct tracee *tracee, struct thread *preferred, struct error *error);
/* Restores SIGTRAP's action by a remote call in this stopped thread or child. */
void thread_put_back(struct thread *thread);
/* After the kernel has reset SIGTRAP to its default action: makes the process ignore SIGTRAP again,
 * by a remote call in this stopped thread. */
void thread_ignore_again(struct thread *thread);
/* Restores SIGTRAP's action in a new program, after an exec. */
void thread_put_back_execed(struct thread *thread);
/* Completes a remote call that was late. Returns false if another call is under way. */
bool thread_finish_call(struct thread *thread);
/* Handles a SIGTRAP that no watch has caused: gives the signal the effect that it would have
 * without the node. */
void thread_take_own_trap(struct thread *thread, siginfo_t *info);
/* The second part of thread_take_own_trap(), once the thread has stopped. */
void thread_send_own_trap(struct thread *thread);

/* tracee-attach.c: PTRACE_DETACH */
/* Does the work of tracee_free() when depth is 0; called again for each thread that stops late. */
void tracee_detach(struct tracee *tracee);
/* To be called at the end of a function that has raised depth; it may free the tracee. */
void tracee_step_out(struct tracee *tracee);
/* For waits_free(): frees the thread; if it is the tracee's last thread, frees the tracee, too. */
void thread_end(struct thread *thread);
/* Detaches from a stopped thread and frees it. */
void thread_leave(struct thread *thread);
void tracee_destroy(struct tracee *tracee);
/* For waits_on_stranger(): detaches from a child that its killed parent did not report. */
void tracee_take_stranger(struct waits *waits, pid_t tid, int status);

#endif
