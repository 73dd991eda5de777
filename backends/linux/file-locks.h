/*
 * file-locks: which process holds the lock of a file that another one waits for, as /proc/locks
 * says: flock(2), and locks of fcntl(2) by POSIX.
 */
#ifndef BACKENDS_LINUX_FILE_LOCKS_H
#define BACKENDS_LINUX_FILE_LOCKS_H

#include <stdio.h>
#include <sys/types.h>

/* Returns the process that holds what the process waits for; 0: unknown, or none. */
pid_t file_locks_holder(pid_t waiter);
/* The same, read from a file with lines as those of /proc/locks. */
pid_t file_locks_find(FILE *file, pid_t waiter);

#endif
