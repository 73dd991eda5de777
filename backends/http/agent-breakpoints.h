/*
 * agent-breakpoints: our list of breakpoints, and which exceptions stop, as requests of
 * DAP, which has one for each file, one for functions, one for data.
 */
#ifndef BACKENDS_HTTP_AGENT_BREAKPOINTS_H
#define BACKENDS_HTTP_AGENT_BREAKPOINTS_H

#include <jansson.h>

struct agent;
struct error;
struct message;

/* The request `setBreakpoints`. */
int agent_breakpoints_set(struct agent *agent, const struct message *request, struct error *error);
/* The request `setExceptionBreakpoints`. */
int agent_breakpoints_set_filters(struct agent *agent, const struct message *request,
				  struct error *error);
/* A new session is to have what the former had. */
void agent_breakpoints_restore(struct agent *agent);
/* Of that, which exceptions stop. */
void agent_breakpoints_restore_filters(struct agent *agent);

#endif
