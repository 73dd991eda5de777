/*
 * agent-breakpoints: sends the list of breakpoints and the exception filters as DAP
 * requests: one for each file, one for functions, one for data.
 */
#ifndef BACKENDS_HTTP_AGENT_BREAKPOINTS_H
#define BACKENDS_HTTP_AGENT_BREAKPOINTS_H

#include <jansson.h>

struct agent;
struct breakpoint_binding;
struct debugger;
struct error;
struct message;

/* Serves the request `setBreakpoints`. Returns 0, or -1 and sets error if it was not started. */
int agent_breakpoints_set(struct agent *agent, const struct message *request, struct error *error);
/* Serves the request `setExceptionBreakpoints`. Returns 0, or -1 and sets error if it was not
 * started. */
int agent_breakpoints_set_filters(struct agent *agent, const struct message *request,
				  struct error *error);
/* Sends the breakpoints and filters of the former session to a new session. */
void agent_breakpoints_restore(struct agent *agent);
/* Sends only the exception filters of the former session to a new session. */
void agent_breakpoints_restore_filters(struct agent *agent);

/*
 * agent_bindings: the state of the requested breakpoints as reported by the agent, in
 * debugger->bindings.
 */

/* Makes a binding for each breakpoint of the list; a breakpoint of the previous list keeps its
 * hits. */
void agent_bindings_begin(struct debugger *debugger, const json_t *list);
/* Returns NULL if no breakpoint has the id. */
struct breakpoint_binding *agent_bindings_find(struct debugger *debugger, int id);
/* Counts a hit of the breakpoint. */
void agent_bindings_count_hit(struct agent *agent, int id);
/* Handles the agent's event `breakpoint`. */
void agent_bindings_take(struct agent *agent, const json_t *body);
/* Updates a binding from DAP's Breakpoint. */
void agent_bindings_update(struct breakpoint_binding *binding, const json_t *told);
/* Marks the breakpoint as not set. */
void agent_bindings_refuse(struct breakpoint_binding *binding, const char *why);

#endif
