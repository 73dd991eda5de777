/*
 * diagnose: which ways to a process are open, and what would open the others:
 * the answers of `probetui doctor`.
 */
#ifndef BACKENDS_DIAGNOSE_H
#define BACKENDS_DIAGNOSE_H

#include <jansson.h>
#include <sys/types.h>

struct node;

/* {"rank", "pid", "ways": [{"way", "ok", "why", "fix"}]} */
json_t *diagnose(struct node *node, pid_t pid);

#endif
