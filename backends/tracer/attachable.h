/*
 * attachable: whether a process may be stopped from outside, and if not, why
 * and what else would do.
 */
#ifndef BACKENDS_TRACER_ATTACHABLE_H
#define BACKENDS_TRACER_ATTACHABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct reason;

/*
 * Nothing is done to the process, and it does not stop, but a watch, switched
 * off, is made and closed. False: the reason.
 */
bool attachable(pid_t pid, struct reason *reason);
/* The same for one call by one of its threads (remote-syscall.h), without watches. */
bool attachable_for_call(pid_t pid, struct reason *reason);
/* A number (in that base) of /proc/TID/status. False: it is not there. */
bool attachable_status(pid_t tid, const char *key, int base, int64_t *value);
/* Whether this process is its tracer. */
bool attachable_is_ours(pid_t tid);

#endif
