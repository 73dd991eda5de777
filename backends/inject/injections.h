/*
 * injections: serves the request `inject`: starts an agent in a running process, and answers with
 * the addresses at which the agent listens.
 */
#ifndef BACKENDS_INJECT_INJECTIONS_H
#define BACKENDS_INJECT_INJECTIONS_H

struct injections;
struct message;
struct node;

/* The node must outlive the result. */
struct injections *injections_new(struct node *node);
/* Withdraws the pending injections and answers their requests. NULL is allowed. */
void injections_free(struct injections *injections);
/* Serves the request `inject`; the answer may come later. */
void inject_request(struct node *node, const struct message *request);

#endif
