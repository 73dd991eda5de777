/*
 * agent-tensors: asks the agent for values and tensors that can be read only by running
 * code in the process, or on a device.
 */
#ifndef BACKENDS_HTTP_AGENT_TENSORS_H
#define BACKENDS_HTTP_AGENT_TENSORS_H

#include <stdbool.h>

struct agent;
struct error;
struct agent_request;
struct message;

/* Serve the requests `tensor` and `parameters`. -1: not started, error is set. */
int agent_tensors_ask(struct agent *agent, const struct message *request, struct error *error);
int agent_tensors_list(struct agent *agent, const struct message *request, struct error *error);
/* Whether the request is one of agent-tensors.c, which can be cancelled. */
bool agent_tensors_asks(const struct agent_request *query);

#endif
