/*
 * collective-deadline: when the collectives that a process has in flight time out, read
 * from outside.
 *
 * A C++ condition variable with a time-out waits in futex(2) (FUTEX_WAIT_BITSET),
 * whose fourth argument points to an absolute time on CLOCK_MONOTONIC or
 * CLOCK_REALTIME. The threads that carry out gloo's collectives
 * (pt_gloo_runloop) wait in this call, and so does the main thread in gloo's
 * send and recv. A thread that a tracer has stopped and resumed meanwhile waits
 * in restart_syscall(2). NCCL's watchdog thread keeps NCCL's time-outs in its
 * memory: no system call shows them.
 */
#ifndef BACKENDS_COLLECTIVE_DEADLINE_H
#define BACKENDS_COLLECTIVE_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEADLINES_MAXIMUM 64

struct collective_deadline {
	pid_t tid;
	double at;    /* the deadline, seconds on the clock of loop_now() */
	bool is_main; /* the main thread, which may wait for something else */
};

struct deadlines {
	struct collective_deadline waits[DEADLINES_MAXIMUM];
	size_t count;
	bool has_gloo; /* a thread has the name of gloo's workers */
	bool has_nccl;
};

/* Parses a line of /proc/PID/task/TID/syscall. True: the thread is in a futex(2),
 * begun or restarted, with a deadline at *address of the process (a timespec). */
bool collective_deadline_parse(const char *line, uint64_t *address, bool *is_realtime);
/* Reads the deadlines of a process's threads. Left out: threads that cannot be
 * read, and waits that end within 0.1 s, which may be for the GIL. Takes some
 * microseconds per thread. */
void deadlines_read(struct deadlines *deadlines, pid_t pid);
/* Returns the seconds until the first of gloo's threads times out; -1: none waits. */
double deadlines_left(const struct deadlines *deadlines, double now);

#endif
