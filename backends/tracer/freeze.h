/*
 * freeze: a thread of another process held still for some microseconds. The
 * only file that traces (PTRACE_SEIZE and PTRACE_INTERRUPT: a tracer that is
 * killed leaves the thread running, no signal is sent).
 */
#ifndef BACKENDS_TRACER_FREEZE_H
#define BACKENDS_TRACER_FREEZE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/tracer/syscall-restart.h"

struct error;
struct registers;

struct freeze {
	pid_t pid;
	pid_t tid;			/* 0: nothing is held */
	int signal;			/* one that arrived meanwhile: delivered at release */
	uint64_t began_ns;		/* it did not stand yet */
	int policy;			/* ours, before it began */
	bool is_first;			/* before all others' threads, until it ends */
	int niceness;			/* as far as that is not so: ours, before */
	struct syscall_restart restart; /* of the system call that it ended */
	bool is_asleep;			/* not begun: where nobody wakes it, just now */
};

/*
 * Stops thread tid of process pid and waits until it stands, 50 ms at most.
 * -1 and a sentence; when hold->tid is set even so, the thread is still to be
 * let go: freeze_settle(). A thread of another process is never touched.
 */
int freeze_begin(struct freeze *hold, pid_t pid, pid_t tid, struct error *error);
/* The registers of a thread that stands. 0, or -1. */
int freeze_registers(const struct freeze *hold, struct registers *registers);
/* For how long it has stood, in nanoseconds; it may be a little less. */
uint64_t freeze_elapsed(const struct freeze *hold);
/*
 * Lets a thread that stands go on and detaches; returns how long it was held.
 * When hold->tid is set afterwards, the thread was killed meanwhile and its
 * parent waits for freeze_settle().
 */
uint64_t freeze_end(struct freeze *hold);
/*
 * Lets go of a thread that stood too late, or gives a dead one back to its
 * parent; false: it neither stands nor has ended.
 */
bool freeze_settle(struct freeze *hold);
/* What ptrace would answer for this process: 0, or an errno value. */
int freeze_probe(pid_t pid);

#endif
