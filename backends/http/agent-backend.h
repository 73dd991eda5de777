/*
 * agent-backend: takes samples through the agent, for a process that is on another machine or whose
 * memory cannot be read.
 */
#ifndef BACKENDS_HTTP_AGENT_BACKEND_H
#define BACKENDS_HTTP_AGENT_BACKEND_H

#include <jansson.h>

struct agent;
struct error;
struct message;

/* Serves the request `sample` for one process. Returns -1 and sets error if the request was not
 * started. */
int agent_stacks_send(struct agent *agent, const struct message *request, struct error *error);

#endif
