/*
 * connect-requests: the requests `connect` and `detach`: a debugger that a person has
 * named, and the process that it belongs to.
 *
 * The owner of the debugger's socket becomes a rank, if it is none yet. One
 * that is not on this machine gets a stand-in: a rank with a number that no
 * process has (connections.h), of which only that debugger is asked.
 */
#ifndef BACKENDS_CONNECT_REQUESTS_H
#define BACKENDS_CONNECT_REQUESTS_H

struct message;
struct node;

/* Both answer the request. */
void connect_request(struct node *node, const struct message *request);
void detach_request(struct node *node, const struct message *request);

#endif
