/*
 * value-request: the request `tensor`, answered without running code in the process.
 *
 * The value is found first; then threads read its elements, while the process runs. Afterwards the
 * tensor's description is read again: if the tensor has changed, value and elements are read again,
 * up to a limit; a tensor that still changes is reported as torn.
 */
#ifndef BACKENDS_TENSOR_VALUE_REQUEST_H
#define BACKENDS_TENSOR_VALUE_REQUEST_H

#include <stdbool.h>

struct error;
struct message;
struct node;
struct process;

enum value_request {
	VALUE_REQUEST_TAKEN,	/* the request is answered, now or later */
	VALUE_REQUEST_FAILED,	/* *error is set */
	VALUE_REQUEST_TOO_MUCH, /* *error is set; an agent could answer */
};

/*
 * Starts to answer the request. is_last: there is no agent, so unreadable elements are left out of
 * the answer, instead of VALUE_REQUEST_TOO_MUCH.
 */
enum value_request value_request_begin(struct node *node, const struct process *process,
				       const struct message *request, bool is_last,
				       struct error *error);

#endif
