/*
 * collective-deadline: when the collectives that a process has in flight time out, read
 * from outside.
 *
 * A C++ condition variable with a limit waits in futex(2) (FUTEX_WAIT_BITSET),
 * whose fourth argument points to an absolute time on CLOCK_MONOTONIC or
 * CLOCK_REALTIME. So the threads that carry out gloo's collectives wait
 * (pt_gloo_runloop), and the main thread in gloo's send and recv. A thread that
 * a tracer has stopped and resumed meanwhile waits in restart_syscall(2). NCCL's limits
 * are kept in its watchdog thread and are in no system call.
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
	double at;    /* on the clock of loop_now() */
	bool is_main; /* the main thread, which may wait for something else */
};

struct deadlines {
	struct collective_deadline waits[DEADLINES_MAXIMUM];
	size_t count;
	bool has_gloo; /* threads of gloo were seen */
	bool has_nccl;
};

/* A line of /proc/PID/task/TID/syscall: is it a wait in futex(2) until a time,
 * begun or restarted, and where is that time. */
bool collective_deadline_parse(const char *line, uint64_t *address, bool *is_realtime);
/* Reads the deadlines of a process's threads; a thread that cannot be read is
 * left out, and so is a wait that ends within a tenth of a second, which may be
 * for the GIL. Takes some microseconds a thread. */
void deadlines_read(struct deadlines *deadlines, pid_t pid);
/* Seconds until the first of gloo's threads times out; -1: none waits. */
double deadlines_left(const struct deadlines *deadlines, double now);

#endif
