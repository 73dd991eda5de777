/*
 * connect-requests: the requests `connect` and `detach`, for a debugger that the
 * user has named.
 *
 * The process that owns the debugger's socket becomes a rank. If that process is
 * on another machine, a stand-in becomes the rank: an entry with a pid that no
 * process can have (PROCESS_FIRST_STANDIN), which only the debugger can serve.
 */
#ifndef BACKENDS_CONNECT_REQUESTS_H
#define BACKENDS_CONNECT_REQUESTS_H

struct message;
struct node;

/* Both serve the request of their name, and answer it at once. */
void connect_request(struct node *node, const struct message *request);
void detach_request(struct node *node, const struct message *request);

#endif
