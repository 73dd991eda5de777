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

/* Sends a request about a process, as `kind`, to the best connection that can serve it. The stop
 * gate (stop-gate.h) does not delay it. Answers with an error if no connection can serve the
 * request. */
void request_send(struct node *node, enum request_kind kind, const struct message *request);

/*
 * The requests `connect` and `detach`: for a debugger whose address the user has given.
 *
 * The process that owns the debugger's socket becomes a rank. If that process is
 * on another machine, a stand-in becomes the rank: an entry with a pid that no
 * process can have (PROCESS_FIRST_STANDIN), which only the debugger can serve.
 */

/* Serve the requests `connect` and `detach`, respectively, and answer at once. */
void connect_request(struct node *node, const struct message *request);
void detach_request(struct node *node, const struct message *request);
/*
 * Disconnects the debuggers of this node from all processes, which resume; but not a debugger that
 * cannot leave without harm, such as a pdb in a step.
 */
void detach_all(struct node *node);

#endif
