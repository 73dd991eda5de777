/*
 * collective-timeout: for how long the peers of a process wait for it in a collective
 * before a time-out ends the job, as far as the process shows from outside.
 */
#ifndef BACKENDS_DISCOVER_COLLECTIVE_TIMEOUT_H
#define BACKENDS_DISCOVER_COLLECTIVE_TIMEOUT_H

#include <sys/types.h>

/*
 * torch's default for NCCL where one of its threads has that in its name,
 * else for all others. Takes some microseconds a thread.
 */
double collective_timeout_seconds_of(pid_t pid);

#endif
