/*
 * backend: one kind of way to reach a process; connection: one such way to
 * one process. What a connection can do depends on the connection, so can()
 * says no with a reason and what would help.
 */
#ifndef BACKENDS_BACKEND_H
#define BACKENDS_BACKEND_H

#include <stdbool.h>
#include <sys/types.h>

struct error;
struct message;
struct node;
struct process;
struct process_sample;
struct stack_table;

enum request_kind {
	REQUEST_SAMPLE,	      /* stacks without stopping */
	REQUEST_SAMPLE_EXACT, /* stacks, the GIL holder held meanwhile */
	REQUEST_VARIABLES,
};

/* Why a connection cannot do something, and what would help ("" nothing). */
struct reason {
	char why[256];
	char fix[256];
};

/* Both as sentences. Always returns -1. */
int reason_explain(const struct reason *reason, struct error *error);

/* Each backend's connection begins with this. */
struct connection {
	const struct backend *backend;
	struct node *node;
	pid_t pid;
	char version[32]; /* of the Python in it, "3.11.7"; "" unknown */
};

struct backend {
	/* A connection to the process, or NULL and a sentence. */
	struct connection *(*open)(struct node *node,
				   const struct process *process,
				   struct error *error);
	bool (*can)(const struct connection *connection, enum request_kind kind,
		    struct reason *reason);
	/*
	 * Takes on a request of the pipe. It answers by node_respond() and
	 * node_emit(), now or later, exactly once. -1: it could not even be
	 * begun (the node then answers with the sentence).
	 */
	int (*send)(struct connection *connection, enum request_kind kind,
		    const struct message *request, struct error *error);
	/*
	 * Looks variables up in the environment the program has now (a rank
	 * made by multiprocessing sets RANK after its start). names ends in
	 * NULL; when the first is not there the others are not looked for.
	 */
	void (*environment)(struct connection *connection,
			    const char *const *names,
			    void (*found)(const char *name, const char *value,
					  void *data),
			    void *data);
	/* Leaves the process as it was found. */
	void (*close)(struct connection *connection);
};

extern const struct backend ptrace_backend;

#endif
