/*
 * remote-syscall: a system call by a thread of another process that stands, between
 * two stops of PTRACE_SYSCALL: rt_sigaction(2) for SIGTRAP (tracee.h).
 *
 * (Not by single steps: the trap of a step is forced, and a forced SIGTRAP
 * makes an ignored one deadly again.)
 *
 * Meanwhile the thread's signals are blocked. Afterwards its registers and its
 * mask are what they were, and it stands in a new event stop, from which a
 * system call that it was in is begun again.
 *
 * Who is killed in between leaves a thread that calls, and then comes back by
 * itself as from a signal (arch.h). Only where the program has no code to do
 * so would it be lost.
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
	REMOTE_SYSCALL_ENTERS,	/* it is to come to the call */
	REMOTE_SYSCALL_LEAVES,	/* it is to come back */
	REMOTE_SYSCALL_SETTLES, /* it is to come to its event stop */
};

struct remote_syscall {
	enum remote_syscall_phase phase;
	pid_t tid;
	struct arch_dump registers; /* to be put back, and so is the mask */
	uint64_t mask;
	uint64_t place; /* of the action that was */
	struct arch_action old;
	int64_t result;
};

/*
 * Where the process calls the kernel. -1 and a sentence: nowhere. It reads
 * some megabytes at most.
 */
int remote_syscall_find(pid_t pid, struct arch_places *places, struct error *error);
/*
 * Begins it in a thread that is in an event stop. -1 and a sentence: it stands
 * as before.
 */
int remote_syscall_begin(struct remote_syscall *remote, pid_t tid, const struct arch_places *places,
			 const struct arch_action *action, struct error *error);
/*
 * Takes the next status of the thread. True: it is over (phase REMOTE_SYSCALL_IDLE),
 * the thread stands, or has ended (as the status says), and remote_syscall_result()
 * says how it went.
 */
bool remote_syscall_changed(struct remote_syscall *remote, int status);
/* The action that was. -1 and a sentence: nothing was changed. */
int remote_syscall_result(const struct remote_syscall *remote, struct arch_action *old,
			  struct error *error);

#endif
