/*
 * tensor-requests: the requests `tensor` and `parameters`. If the process is on this host and
 * readable, each request is first tried without running code in the process. If that does not
 * suffice, the request is sent to an agent in the process, if there is one and the client may run
 * code.
 */
#ifndef BACKENDS_TENSOR_TENSOR_REQUESTS_H
#define BACKENDS_TENSOR_TENSOR_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/message.h"

struct error;
struct expression_lookup;
struct found;
struct message;
struct node;
struct process;
struct ptrace_connection;
struct tensor;
struct tensor_asks;
struct tensor_result;

/* Serve the requests `tensor` and `parameters`, respectively; the answer may come later. */
void tensor_request(struct node *node, const struct process *process,
		    const struct message *request);
void tensor_parameters_request(struct node *node, const struct process *process,
			       const struct message *request);

/*
 * value_request: answers the request `tensor` without running code in the process.
 *
 * The value is found first; then threads read its elements, while the process runs. Afterwards the
 * tensor's description is reread. If the tensor has changed, value and elements are reread, a
 * limited number of times; a tensor that changes each time is reported as torn.
 */

enum value_request {
	VALUE_REQUEST_TAKEN,	/* this module answers the request, now or later */
	VALUE_REQUEST_FAILED,	/* *error is set */
	VALUE_REQUEST_TOO_MUCH, /* *error is set, but an agent could answer */
};

/*
 * Starts to answer the request. is_last: there is no agent, so unreadable elements are left out of
 * the answer; otherwise they lead to VALUE_REQUEST_TOO_MUCH.
 */
enum value_request value_request_begin(struct node *node, const struct process *process,
				       const struct message *request, bool is_last,
				       struct error *error);

/*
 * tensor_asks: the list of requests whose elements are being read. Each request is answered when
 * reading its elements ends or is cancelled, or when the node exits.
 */

/* What all requests in the list have; the struct of each kind of request begins with this
 * struct. */
struct tensor_ask {
	struct node *node;
	pid_t pid;
	uint64_t start_time; /* start time of the process; 0: unknown */
	struct message request;
	/* Cancels the work; the request is answered soon. */
	void (*cancel)(struct tensor_ask *ask);
	/* Cancels the work and frees the request, which was already answered. */
	void (*forget)(struct tensor_ask *ask);
	struct tensor_ask *next;
	struct tensor_ask *previous;
};

struct tensor_asks *tensor_asks_new(void);
/* Answers all requests with an error, and frees them. */
void tensor_asks_free(struct tensor_asks *asks);
/* Cancels all requests about a process. */
void tensor_asks_interrupt(struct tensor_asks *asks, pid_t pid);

/*
 * Copies the request and adds ask to the node's list. The caller sets cancel, forget and the
 * members after this struct.
 */
void tensor_ask_begin(struct tensor_ask *ask, struct node *node, const struct process *process,
		      const struct message *request);
/* Removes ask from the list and clears the members of struct tensor_ask; the caller may then free
 * ask. */
void tensor_ask_end(struct tensor_ask *ask);
/* Answers the request and flushes the pipe; for callbacks that are not called within the handling
 * of a request. */
void tensor_ask_respond(struct tensor_ask *ask, json_t *owned_body, const char *error);
/*
 * Finds the value now, and sets *reader to the connection that was used; NULL: none. Returns 0, or
 * -1 and sets error; found->needs_code is then true if only an agent can read the value.
 */
int tensor_ask_look(struct tensor_ask *ask, const struct expression_lookup *finding,
		    struct found *found, struct ptrace_connection **reader, struct error *error);
/* Moves statistics, histogram and hashes from *result to *told. */
void tensor_ask_take(struct tensor *told, struct tensor_result *result);
/* Whether the process is running, as far as the node knows: no debugger has stopped it. */
bool tensor_ask_is_live(struct tensor_ask *ask);
/*
 * Returns a connection that reads the request's process. Returns NULL and sets error if the process
 * has ended or cannot be read.
 */
struct ptrace_connection *tensor_ask_reader(struct tensor_ask *ask, struct error *error);

#endif
