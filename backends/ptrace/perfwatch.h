/*
 * perfwatch: hardware watches on a thread of another process, set through
 * perf_event_open(2) with sigtrap (Linux 5.13), which live and die with us.
 */
#ifndef BACKENDS_PTRACE_PERFWATCH_H
#define BACKENDS_PTRACE_PERFWATCH_H

#include <stdbool.h>
#include <sys/types.h>

struct reason;

/*
 * Whether watches can be set: one is made, disabled, on the main thread of the
 * process and closed at once, so nothing ever stops there. False: the reason.
 */
bool perfwatch_probe(pid_t pid, struct reason *reason);

#endif
