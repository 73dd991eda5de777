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

/* Serve the requests `tensor` and `parameters`, respectively. Return -1 and set error if the
 * request was not started. */
int agent_tensors_ask(struct agent *agent, const struct message *request, struct error *error);
int agent_tensors_list(struct agent *agent, const struct message *request, struct error *error);
/* Whether agent-tensors.c has made the request, so that the request can be cancelled. */
bool agent_tensors_asks(const struct agent_request *query);

#endif
