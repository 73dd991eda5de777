/*
 * tensor-requests: the requests `tensor` and `parameters`. Each is first tried without running code
 * in the process, if the process is on this host and readable. What cannot be read so is sent to an
 * agent in the process, if there is one and the client may run code.
 */
#ifndef BACKENDS_TENSOR_TENSOR_REQUESTS_H
#define BACKENDS_TENSOR_TENSOR_REQUESTS_H

struct message;
struct node;
struct process;

/* Both answer the request, now or later. */
void tensor_request(struct node *node, const struct process *process,
		    const struct message *request);
void tensor_parameters_request(struct node *node, const struct process *process,
			       const struct message *request);

#endif
