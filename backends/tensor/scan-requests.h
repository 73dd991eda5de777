/*
 * scan-requests: the requests whose elements are being read, until each is answered:
 * by who reads, by a cancel, or because the node leaves.
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

/* Each kind of them begins with this. */
struct tensor_ask {
	struct node *node;
	pid_t pid;
	uint64_t start_time; /* of the process; 0: not known */
	struct message request;
	/* Its work ends soon, and then it is answered. */
	void (*cancel)(struct tensor_ask *ask);
	/* Ends its work and frees it: it was answered. */
	void (*forget)(struct tensor_ask *ask);
	struct tensor_ask *next;
	struct tensor_ask *previous;
};

struct tensor_asks *tensor_asks_new(void);
/* Answers all. */
void tensor_asks_free(struct tensor_asks *asks);
/* What is read of a process is to end. */
void tensor_asks_interrupt(struct tensor_asks *asks, pid_t pid);

/* Copies the request and begins to keep it; the rest is the caller's. */
void tensor_ask_begin(struct tensor_ask *ask, struct node *node, const struct process *process,
		      const struct message *request);
/* Takes it out again and clears what is here; it may be freed then. */
void tensor_ask_end(struct tensor_ask *ask);
/* Outside of a request's handling: the answer is written at once. */
void tensor_ask_respond(struct tensor_ask *ask, json_t *owned_body, const char *error);
/*
 * Looks at it now, with needs_code where it is not read from outside at all;
 * *reader (or NULL) is what has read it.
 */
int tensor_ask_look(struct tensor_ask *ask, const struct expression_lookup *finding,
		    struct found *found, struct ptrace_connection **reader, struct error *error);
/* Statistics, histogram and hashes that were read go over to what is told. */
void tensor_ask_take(struct tensor *told, struct tensor_result *result);
/* Whether the process runs, for all that is known. */
bool tensor_ask_is_live(struct tensor_ask *ask);
/* What reads the same process now; NULL and a sentence: it is gone. */
struct ptrace_connection *tensor_ask_reader(struct tensor_ask *ask, struct error *error);

#endif
