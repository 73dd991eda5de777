/*
 * agent-tensors: what a value is and what is in a tensor, asked of the agent, where
 * it takes code, or a device, to tell.
 */
#ifndef BACKENDS_HTTP_AGENT_TENSORS_H
#define BACKENDS_HTTP_AGENT_TENSORS_H

#include <stdbool.h>

struct agent;
struct error;
struct agent_request;
struct message;

/* The requests `tensor` and `parameters`. */
int agent_tensors_ask(struct agent *agent, const struct message *request, struct error *error);
int agent_tensors_list(struct agent *agent, const struct message *request, struct error *error);
/* A request of agent-tensors.c, which can be cancelled. */
bool agent_tensors_asks(const struct agent_request *query);

#endif
