/*
 * diagnose: which ways to a process are open, and what would open the others:
 * the answers of `probetui doctor`.
 */
#ifndef BACKENDS_DIAGNOSE_H
#define BACKENDS_DIAGNOSE_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

struct node;
struct procfs;
struct reason;

/* {"rank", "pid", "ways": [{"way", "ok", "why", "fix"}]} */
json_t *diagnose(struct node *node, pid_t pid);
/*
 * Tries to read the process's memory as ptrace rights go: 0, or -1 and why
 * not with what would help.
 */
int diagnose_read(struct procfs *procfs, pid_t pid, struct reason *reason);

#endif
