/*
 * tensors: what a value is and what is in a tensor, asked of the agent, where
 * it takes code, or a device, to tell.
 */
#ifndef BACKENDS_HTTP_TENSORS_H
#define BACKENDS_HTTP_TENSORS_H

#include <stdbool.h>

struct agent;
struct error;
struct inquiry;
struct message;

/* The requests `tensor` and `parameters`. */
int tensors_ask(struct agent *agent, const struct message *request, struct error *error);
int tensors_list(struct agent *agent, const struct message *request, struct error *error);
/* Whether an inquiry is one of these: it can be cancelled. */
bool tensors_asks(const struct inquiry *inquiry);

#endif
