/*
 * agent-stacks: stacks of a process that is on another machine, or that cannot be
 * read from outside, as its agent tells them.
 */
#ifndef BACKENDS_HTTP_AGENT_STACKS_H
#define BACKENDS_HTTP_AGENT_STACKS_H

#include <jansson.h>

struct agent;
struct error;
struct message;

/* The request `sample` to one process. */
int agent_stacks_send(struct agent *agent, const struct message *request, struct error *error);

#endif
