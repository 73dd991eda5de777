/*
 * tracee-private: what the files of tracee share.
 *
 * tracee.c is what is asked of it, tracee-attach.c how its threads become
 * ours, tracee-events.c what they say, tracee-disposition.c what SIGTRAP does,
 * tracee-leave.c how it is left.
 */
#ifndef BACKENDS_CONTROL_TRACEE_PRIVATE_H
#define BACKENDS_CONTROL_TRACEE_PRIVATE_H

#include <sys/ptrace.h>

#include "backends/control/remote.h"
#include "backends/control/restart.h"
#include "backends/control/slots.h"
#include "backends/control/tracee.h"

struct loop_timer;
struct waits;

enum thread_state {
	THREAD_STARTS, /* traced from its birth; its first stop is to come */
	THREAD_RUNS,
	THREAD_LISTENS, /* stopped, as its process is (SIGSTOP) */
	THREAD_TRAPPED, /* while it is asked what becomes of it */
	THREAD_PARKS,	/* on its way from there to where it may stay */
	THREAD_STANDS,
	THREAD_CALLS, /* remote.h is at work, and late */
	THREAD_LOST,  /* ended as the first of its process, which lives on */
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
	enum thread_state state;
	bool is_child;	       /* a process that it forked, not a thread */
	bool is_to_put_back;   /* of a child: SIGTRAP is */
	bool was_told;	       /* of a child: forked() was called */
	bool is_wanted;	       /* stood() is to be called */
	bool is_in_group_stop; /* of its process, while it stands */
	bool has_execed;       /* until it stands */
	bool is_forced;	       /* SLOTS_FORCED, until it stands */
	int forced_slot;       /* that fired then; or -1 */
	double since;
	double trapped; /* when it was trapped last; 0: never */
	struct slots slots;
	struct remote *remote; /* NULL: none is under way */
	enum call_aim aim;     /* of that */
	int held;	       /* the status that tracee_hold() took, if is_held */
	bool is_held;
	siginfo_t *own_trap;	/* see thread_take_own_trap(); NULL: none */
	struct restart restart; /* of the system call that a stop ended */
	bool is_spared;		/* not stopped to be left: see tracee-leave.c */
	uint64_t mask;		/* of its signals, if is_masked */
	bool is_masked;
	bool is_unproven; /* it blocked SIGTRAP when its watches were set */
	bool is_passing;  /* see tracee_may_watch_soon() */
	bool is_born;	  /* just now: the C library has blocked all its signals */
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
	struct arch_places places; /* remote_find(); 0: not looked for */
	enum disposition disposition;
	struct arch_action old; /* what was, when it is ignored */
	uint64_t signals;	/* for tracee_take_signals() */
	double hopeless;	/* no thread is awaited for that until then */
	int depth;		/* in how many of our functions we are */
	bool is_leaving;	/* tracee_free() was called: no callback */
	bool has_begun_to_leave;
	struct loop_timer *sparing; /* looks after spared threads; or NULL */
	struct tracee_counts counts;
};

/* tracee.c */
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
/* It has come to an event stop, or to the stop of a signal. */
void thread_stood(struct thread *thread, int status);
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
/* Finds it, too, when it was held by holds.h while all others were seized. */
struct thread *thread_seek(struct tracee *tracee, pid_t tid);

/* tracee-events.c: what waits.h calls. */
void thread_changed(pid_t tid, int status, void *data);
/* The same, by who waits for the thread himself; it may be freed. */
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

/* tracee-leave.c */
/* tracee_free(), when no function of ours is under way; and for late ones. */
void tracee_leave(struct tracee *tracee);
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
