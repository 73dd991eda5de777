/*
 * doctor: checks which kinds of access to a process work (reading, ptrace, pdb, agent, ...), why
 * the others do not, and what would make them work; `probetui doctor` prints the result.
 */
#ifndef BACKENDS_DOCTOR_H
#define BACKENDS_DOCTOR_H

#include <jansson.h>
#include <sys/types.h>

struct node;

/* Returns {"rank", "pid", "ways": [{"way", "ok", "optional", "why", "fix"}]}; "rank" is null
 * for a process that is no rank. */
json_t *diagnose(struct node *node, pid_t pid);

#endif
