/*
 * remote-syscall: makes a stopped thread of another process call rt_sigaction(2) for
 * SIGTRAP (tracee.h), between two stops of PTRACE_SYSCALL.
 *
 * (Not by single steps: the trap of a step is forced, and a forced SIGTRAP
 * resets an ignored SIGTRAP to its default action.)
 *
 * Meanwhile the thread's signals are blocked. Afterwards its registers and its
 * signal mask are restored, and it is in a new event-stop, from which an
 * interrupted system call begins again.
 *
 * If the tracer is killed in between, the thread ends the call and returns by
 * itself, as from a signal handler (arch.h). Only in a program without the code
 * for that return would the thread be lost.
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
	REMOTE_SYSCALL_ENTERS,	/* before the stop at the call's entry */
	REMOTE_SYSCALL_LEAVES,	/* before the stop at the call's exit */
	REMOTE_SYSCALL_SETTLES, /* before the event-stop */
};

struct remote_syscall {
	enum remote_syscall_phase phase;
	pid_t tid;
	struct arch_dump registers; /* to be restored, like the mask */
	uint64_t mask;
	uint64_t place; /* address of the old action in the process */
	struct arch_action old;
	int64_t result;
};

/*
 * Finds the code by which the process calls the kernel. -1: error says why there
 * is none. Reads some megabytes at most.
 */
int remote_syscall_find(pid_t pid, struct arch_places *places, struct error *error);
/*
 * Begins the call in a thread that is in an event-stop. -1: error says why not,
 * and the thread is stopped as before.
 */
int remote_syscall_begin(struct remote_syscall *remote, pid_t tid, const struct arch_places *places,
			 const struct arch_action *action, struct error *error);
/*
 * Takes the next status of the thread. True: the call is over (phase
 * REMOTE_SYSCALL_IDLE), the thread has stopped or ended (as the status says), and
 * remote_syscall_result() has the result.
 */
bool remote_syscall_changed(struct remote_syscall *remote, int status);
/* *old: the action before. -1: error says why the action was not changed. */
int remote_syscall_result(const struct remote_syscall *remote, struct arch_action *old,
			  struct error *error);

#endif
