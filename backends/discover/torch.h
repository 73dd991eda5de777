/*
 * torch: the version of the torch library that a process has loaded, read from the file version.py
 * in torch's package, which is found through the mapped libraries, below /proc/PID/root.
 */
#ifndef BACKENDS_DISCOVER_TORCH_H
#define BACKENDS_DISCOVER_TORCH_H

#include <sys/types.h>

struct process;
struct procfs;

/* Returns a string to free(); NULL: torch is not loaded, or version.py has no version. */
char *torch_version(struct procfs *procfs, const struct process *process);

/*
 * collective_timeout: torch's default time-out of collectives for a process, guessed from the names
 * of the process's threads.
 */

/*
 * Returns torch's default time-out in seconds: 600, that of NCCL, if a thread's name contains
 * "nccl"; else 1800, that of other backends. Takes some microseconds per thread.
 */
double collective_timeout_seconds_of(pid_t pid);

#endif
