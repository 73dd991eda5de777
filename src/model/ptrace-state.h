/*
 * ptrace-state: ranks that a node stops with ptrace, without a debugger in the process.
 * The node attaches at the first request to pause the rank or to set a breakpoint, and
 * detaches by itself when the rank runs and no breakpoint is set in it.
 */
#ifndef MODEL_PTRACE_STATE_H
#define MODEL_PTRACE_STATE_H

#include <stdbool.h>

struct debugger;
struct rank;

/* True if the node is attached to the rank with ptrace, running or stopped. */
bool ptrace_state_is(const struct rank *rank);
/* ptrace_state_is() for a debugger's state. */
bool ptrace_state_is_debugger(const struct debugger *debugger);
/* True if no debugger is connected, so that the node can attach. */
bool ptrace_state_is_free(const struct rank *rank);

#endif
