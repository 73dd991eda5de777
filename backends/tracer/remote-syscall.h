/*
 * remote-syscall: makes a stopped thread of another process call rt_sigaction(2) for
 * SIGTRAP (tracee.h), between two stops of PTRACE_SYSCALL.
 *
 * (Not by single steps: the trap of a step is forced, and a forced SIGTRAP
 * resets an ignored SIGTRAP to its default action.)
 *
 * During the call the thread's signals are blocked. Afterwards its registers and its signal mask
 * are restored, and the thread is in a new event-stop, from which an interrupted system call is
 * restarted.
 *
 * If the tracer is killed during the call, the thread completes the call and returns by itself, as
 * from a signal handler (arch.h). Only in a program that lacks the code for that return, the thread
 * could not return to its own code.
 */
#ifndef BACKENDS_TRACER_REMOTE_SYSCALL_H
#define BACKENDS_TRACER_REMOTE_SYSCALL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/tracer/arch.h"

struct error;

enum remote_syscall_phase {
	REMOTE_SYSCALL_IDLE,
	REMOTE_SYSCALL_ENTERS,	/* waits for the stop at the call's entry */
	REMOTE_SYSCALL_LEAVES,	/* waits for the stop at the call's exit */
	REMOTE_SYSCALL_SETTLES, /* waits for the event-stop */
};

struct remote_syscall {
	enum remote_syscall_phase phase;
	pid_t tid;
	struct arch_dump registers; /* to be restored */
	uint64_t mask;		    /* to be restored */
	uint64_t place; /* address in the process where the kernel stores the old action */
	struct arch_action old;
	int64_t result;
};

/*
 * Finds the code by which the process calls the kernel. Returns -1 and sets error if there is none.
 * Reads some megabytes at most.
 */
int remote_syscall_find(pid_t pid, struct arch_places *places, struct error *error);
/*
 * Begins the call in a thread that is in an event-stop. On failure, returns -1 and sets error, and
 * the thread is stopped as before.
 */
int remote_syscall_begin(struct remote_syscall *remote, pid_t tid, const struct arch_places *places,
			 const struct arch_action *action, struct error *error);
/*
 * Handles the next status of the thread. Returns whether the call is over: then phase is
 * REMOTE_SYSCALL_IDLE, the thread has stopped or exited (according to the status), and
 * remote_syscall_result() returns the result.
 */
bool remote_syscall_changed(struct remote_syscall *remote, int status);
/* Sets *old to the previous action. Returns -1 and sets error if the action was not changed. */
int remote_syscall_result(const struct remote_syscall *remote, struct arch_action *old,
			  struct error *error);

#endif
