/*
 * connection: what is kept of one process between requests of backend
 * `ptrace`.
 */
#ifndef BACKENDS_PTRACE_CONNECTION_H
#define BACKENDS_PTRACE_CONNECTION_H

#include <stdbool.h>

#include "backends/backend.h"
#include "backends/ptrace/cpython.h"
#include "protocol/sample.h"

struct error;
struct memory;
struct message;
struct pystack;

struct ptrace_connection {
	struct connection base;
	struct memory *memory;
	struct cpython python;
	struct pystack *pystack;
	struct process_sample newest; /* of those that were sent */
};

/* The request `variables` (variables.c); answers it, or -1 and why not. */
int ptrace_variables(struct ptrace_connection *connection,
		     const struct message *request, struct error *error);

#endif
