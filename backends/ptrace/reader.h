/*
 * reader: the state of one process between requests to the backend `ptrace`,
 * which reads the process.
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
	struct memory *looking; /* for one look at a thread (peek.h) */
	struct cpython python;
	struct pystack *pystack;
	struct process_sample newest;  /* newest sample that was sent */
	struct native_process *native; /* NULL: no native frames yet */
	struct waiting *waiting;       /* stacks.c: request not answered yet; NULL: none */
	bool has_internals;	       /* native frames include the interpreter's own */
	bool has_said_why;	       /* reported why there are no native frames */
};

/* The request `sample` (stacks.c). 0: answered now or later; -1: error says why not. */
int ptrace_sample(struct ptrace_connection *connection, bool is_exact,
		  const struct message *request, struct error *error);
/* Answers a waiting request before the connection closes. */
void ptrace_sampling_end(struct ptrace_connection *connection);

/* The request `variables` (peek.c). 0: answered; -1: error says why not. */
int ptrace_variables(struct ptrace_connection *connection, const struct message *request,
		     struct error *error);

#endif
