/*
 * requests: the table of the requests that a node serves (docs/protocol.md).
 */
#ifndef BACKENDS_REQUESTS_H
#define BACKENDS_REQUESTS_H

#include "backends/backend.h"

struct message;
struct node;

/* Answers the request, now or later, exactly once. */
void request_handle(struct node *node, const struct message *request);

/* Sends a request about a process, as `kind`, to the best connection that can serve
 * it, past the stop gate. Answers the request if no connection can. */
void request_send(struct node *node, enum request_kind kind, const struct message *request);

#endif
