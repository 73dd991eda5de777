/*
 * hold: a thread of another process held still for some microseconds. The
 * only file that traces (PTRACE_SEIZE and PTRACE_INTERRUPT: a tracer that is
 * killed leaves the thread running, no signal is sent).
 */
#ifndef BACKENDS_PTRACE_HOLD_H
#define BACKENDS_PTRACE_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct hold {
	pid_t tid;
	int signal; /* one that arrived meanwhile: delivered at release */
	uint64_t began_ns;
};

/*
 * Stops tid and waits until it stands, 50 ms at most. -1 and a sentence; when
 * hold->tid is set even so, the thread is still to be let go: hold_settle().
 */
int hold_begin(struct hold *hold, pid_t tid, struct error *error);
/* Lets it go on and detaches; returns how long it was held. */
uint64_t hold_end(struct hold *hold);
/* Lets go of a thread that stood too late; false: it still does not stand. */
bool hold_settle(struct hold *hold);
/* What ptrace would answer for this process: 0, or an errno value. */
int hold_probe(pid_t pid);

#endif
