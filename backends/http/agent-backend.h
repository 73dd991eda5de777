/*
 * agent-backend: samples from the agent, for a process on another machine or one whose
 * memory cannot be read.
 */
#ifndef BACKENDS_HTTP_AGENT_BACKEND_H
#define BACKENDS_HTTP_AGENT_BACKEND_H

#include <jansson.h>

struct agent;
struct error;
struct message;

/* Serves the request `sample` for one process. */
int agent_stacks_send(struct agent *agent, const struct message *request, struct error *error);

#endif
