/*
 * collective-timeout: torch's default time-out of collectives for a process, guessed
 * from outside by the names of its threads.
 */
#ifndef BACKENDS_DISCOVER_COLLECTIVE_TIMEOUT_H
#define BACKENDS_DISCOVER_COLLECTIVE_TIMEOUT_H

#include <sys/types.h>

/*
 * Returns seconds: torch's default for NCCL (600) if a thread's name contains
 * "nccl", else for other backends (1800). Takes some microseconds per thread.
 */
double collective_timeout_seconds_of(pid_t pid);

#endif
