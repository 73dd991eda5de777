/*
 * torch: the version of torch that a process has loaded, read from version.py
 * beside the mapped libraries, below the process's root.
 */
#ifndef BACKENDS_DISCOVER_TORCH_H
#define BACKENDS_DISCOVER_TORCH_H

#include <sys/types.h>

struct process;
struct procfs;

/* Returns a string to free(); NULL: torch is not loaded, or version.py has no version. */
char *torch_version(struct procfs *procfs, const struct process *process);

/*
 * Torch's default time-out of collectives for a process, guessed
 * from outside by the names of its threads.
 */

/*
 * Returns seconds: torch's default for NCCL (600) if a thread's name contains
 * "nccl", else for other backends (1800). Takes some microseconds per thread.
 */
double collective_timeout_seconds_of(pid_t pid);

#endif
