/*
 * doctor: which ways to a process are open, and what would open the others:
 * the answers of `probetui doctor`.
 */
#ifndef BACKENDS_DOCTOR_H
#define BACKENDS_DOCTOR_H

#include <jansson.h>
#include <sys/types.h>

struct node;

/* {"rank", "pid", "ways": [{"way", "ok", "why", "fix"}]} */
json_t *diagnose(struct node *node, pid_t pid);

#endif
