/*
 * requests: the table of what can be asked of a node (docs/protocol.md).
 */
#ifndef BACKENDS_REQUESTS_H
#define BACKENDS_REQUESTS_H

#include "backends/backend.h"

struct message;
struct node;

/* Answers the request, now or later, exactly once. */
void request_handle(struct node *node, const struct message *request);

/* The same of one about a process, to the best connection that can, as kind;
 * nothing makes it wait any more. */
void request_send(struct node *node, enum request_kind kind, const struct message *request);

#endif
