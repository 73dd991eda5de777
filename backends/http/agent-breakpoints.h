/*
 * agent-breakpoints: sends the list of breakpoints and the exception filters as DAP
 * requests: one for each file, one for functions, one for data.
 */
#ifndef BACKENDS_HTTP_AGENT_BREAKPOINTS_H
#define BACKENDS_HTTP_AGENT_BREAKPOINTS_H

#include <jansson.h>

struct agent;
struct error;
struct message;

/* Serves the request `setBreakpoints`. -1: not started, error is set. */
int agent_breakpoints_set(struct agent *agent, const struct message *request, struct error *error);
/* Serves the request `setExceptionBreakpoints`. -1: not started, error is set. */
int agent_breakpoints_set_filters(struct agent *agent, const struct message *request,
				  struct error *error);
/* Sends the breakpoints and filters of the former session to a new session. */
void agent_breakpoints_restore(struct agent *agent);
/* Sends only the exception filters. */
void agent_breakpoints_restore_filters(struct agent *agent);

#endif
