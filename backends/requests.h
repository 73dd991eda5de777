/*
 * requests: the table of what can be asked of a node (doc/protocol.md).
 */
#ifndef BACKENDS_REQUESTS_H
#define BACKENDS_REQUESTS_H

struct message;
struct node;

/* Answers the request, now or later, exactly once. */
void request_handle(struct node *node, const struct message *request);

#endif
