/*
 * ptrace-state: ranks that a node stops from outside. It needs no debugger in the
 * process for that: it attaches when it is first asked to pause a rank or to
 * set breakpoints there, and leaves it again, by itself, once the rank runs
 * and nothing is to stop it.
 */
#ifndef MODEL_PTRACE_STATE_H
#define MODEL_PTRACE_STATE_H

#include <stdbool.h>

struct debugger;
struct rank;

/* The node has attached to it; it runs, or stands. */
bool ptrace_state_is(const struct rank *rank);
/* The same of what was told of a debugger. */
bool ptrace_state_is_debugger(const struct debugger *debugger);
/* No debugger has it: the node may be asked to attach. */
bool ptrace_state_is_free(const struct rank *rank);

#endif
