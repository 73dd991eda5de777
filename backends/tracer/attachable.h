/*
 * attachable: whether a process may be stopped from outside, and if not, the
 * reason and an alternative.
 */
#ifndef BACKENDS_TRACER_ATTACHABLE_H
#define BACKENDS_TRACER_ATTACHABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct reason;

/*
 * Whether the process can be traced and watched; if not, sets *reason. The process is not stopped;
 * a disabled watch is opened in the process and closed again.
 */
bool attachable(pid_t pid, struct reason *reason);
/* Whether a thread of the process can be made to make a call (remote-syscall.h), for which no watch
 * is needed; if not, sets *reason. */
bool attachable_for_call(pid_t pid, struct reason *reason);
/* Reads a number in base `base` from /proc/TID/status. Returns false if no line has this key. */
bool attachable_status(pid_t tid, const char *key, int base, int64_t *value);
/* Whether the calling process traces thread tid. */
bool attachable_is_ours(pid_t tid);

#endif
