/*
 * reader: what is kept of one process between requests of backend
 * `ptrace`.
 */
#ifndef BACKENDS_PTRACE_READER_H
#define BACKENDS_PTRACE_READER_H

#include <stdbool.h>

#include "backends/backend.h"
#include "backends/cpython/cpython.h"
#include "protocol/sample.h"

struct error;
struct memory;
struct message;
struct native_process;
struct pystack;
struct waiting;

struct ptrace_connection {
	struct connection base;
	struct memory *memory;
	struct memory *looking; /* for what one look at a thread reads */
	struct cpython python;
	struct pystack *pystack;
	struct process_sample newest;  /* of those that were sent */
	struct native_process *native; /* NULL: no native frames yet */
	struct waiting *waiting;       /* stacks.c: not sent yet; or NULL */
	bool has_internals;	       /* native frames with all there are */
	bool has_said_why;	       /* native frames cannot be had */
};

/* The request `sample` (stacks.c); answers it, or -1 and why not. */
int ptrace_sample(struct ptrace_connection *connection, bool is_exact,
		  const struct message *request, struct error *error);
/* Answers what is not answered yet, before the connection closes. */
void ptrace_sampling_end(struct ptrace_connection *connection);

/* The request `variables` (variables.c); answers it, or -1 and why not. */
int ptrace_variables(struct ptrace_connection *connection, const struct message *request,
		     struct error *error);

#endif
