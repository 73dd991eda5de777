/*
 * scan-requests: the requests whose elements are being read. Each request is answered when its
 * reading ends or is cancelled, or when the node exits.
 */
#ifndef BACKENDS_TENSOR_SCAN_REQUESTS_H
#define BACKENDS_TENSOR_SCAN_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/message.h"

struct error;
struct expression_lookup;
struct found;
struct node;
struct process;
struct ptrace_connection;
struct tensor;
struct tensor_asks;
struct tensor_result;

/* The first member of each kind of request. */
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
 * Copies the request and adds ask to the node's list; cancel, forget and further members are the
 * caller's.
 */
void tensor_ask_begin(struct tensor_ask *ask, struct node *node, const struct process *process,
		      const struct message *request);
/* Removes ask from the list and clears this struct's members; the caller may then free ask. */
void tensor_ask_end(struct tensor_ask *ask);
/* Sends the response at once, for callers outside of the handling of a request. */
void tensor_ask_respond(struct tensor_ask *ask, json_t *owned_body, const char *error);
/*
 * Finds the value now; *reader is the connection that was used, or NULL. Returns 0, or -1 with
 * *error set; found->needs_code: only an agent can read the process.
 */
int tensor_ask_look(struct tensor_ask *ask, const struct expression_lookup *finding,
		    struct found *found, struct ptrace_connection **reader, struct error *error);
/* Moves statistics, histogram and hashes from the result to told. */
void tensor_ask_take(struct tensor *told, struct tensor_result *result);
/* Whether the process runs, as far as the node knows: no debugger has stopped it. */
bool tensor_ask_is_live(struct tensor_ask *ask);
/*
 * Returns a connection that reads the same process; NULL with *error set: the process has ended, or
 * cannot be read.
 */
struct ptrace_connection *tensor_ask_reader(struct tensor_ask *ask, struct error *error);

#endif
