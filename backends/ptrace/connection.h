/*
 * connection: what is kept of one process between requests of backend
 * `ptrace`.
 */
#ifndef BACKENDS_PTRACE_CONNECTION_H
#define BACKENDS_PTRACE_CONNECTION_H

#include <stdbool.h>

#include "backends/backend.h"
#include "backends/ptrace/cpython.h"
#include "backends/ptrace/hold.h"
#include "protocol/sample.h"

struct error;
struct loop_timer;
struct memory;
struct message;
struct pystack;

struct ptrace_connection {
	struct connection base;
	struct memory *memory;
	struct cpython python;
	struct pystack *pystack;
	uint64_t epoch;		      /* of the newest sample that was sent */
	struct process_sample newest; /* that sample */
	int statm_fd;
	struct hold late;	       /* a hold that could not be ended yet */
	struct loop_timer *late_timer; /* NULL: there is none */
};

/* The request `variables` (variables.c); answers it, or -1 and why not. */
int ptrace_variables(struct ptrace_connection *connection,
		     const struct message *request, struct error *error);

#endif
