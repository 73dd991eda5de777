/*
 * injections: the request `inject`: the agent is put into a process that runs
 * already, and it is told where it listens.
 */
#ifndef BACKENDS_INJECT_INJECTIONS_H
#define BACKENDS_INJECT_INJECTIONS_H

struct injections;
struct message;
struct node;

/* Borrows the node for its life. */
struct injections *injections_new(struct node *node);
/* Takes back what is under way. NULL frees nothing. */
void injections_free(struct injections *injections);
/* Answers the request, later. */
void inject_request(struct node *node, const struct message *request);

#endif
