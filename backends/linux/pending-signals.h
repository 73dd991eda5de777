/*
 * pending-signals: the signals that are pending for a process, and their effects there.
 * A set has bit N - 1 for signal N, as /proc/PID/status has it. kill(2) of a
 * process whose threads are all ptrace-stopped wakes none of them and gives
 * the tracer no stop: the signal is pending until one of them is resumed.
 */
#ifndef BACKENDS_LINUX_PENDING_SIGNALS_H
#define BACKENDS_LINUX_PENDING_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;
struct procfs;

/* Sets of signals of a thread; shared, ignored and caught are those of its process. */
struct pending_signals {
	uint64_t pending; /* to the thread */
	uint64_t shared;  /* to the process: any thread may take them */
	uint64_t blocked;
	uint64_t ignored;
	uint64_t caught;
};

/* False: there is no such thread, and signals is all zero. */
bool pending_signals_read(struct pending_signals *signals, struct procfs *procfs, pid_t tid);
/* Reads the sets from the text of /proc/TID/status. */
void pending_signals_parse(struct pending_signals *signals, const char *status);
/*
 * The signals of a set that the process handles, or that would end the process.
 * SIGCHLD, SIGCONT, SIGURG and SIGWINCH do nothing by default, so their
 * handlers may wait: no scheduler sends one before SIGKILL. SIGTRAP is the
 * tracer's.
 */
uint64_t pending_signals_that_count(const struct pending_signals *signals, uint64_t set);
/* Appends "SIGTERM, SIGUSR1". */
void pending_signals_append(struct buffer *out, uint64_t set);

#endif
