/*
 * tensor-requests: the requests `tensor` and `parameters`. Each is looked at from
 * outside first, where the process is here and can be read; what cannot be
 * told so goes to an agent in it, if there is one and may be asked.
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
