/*
 * reader: the state that the backend `ptrace`, as a reader, keeps of one process between requests.
 */
#ifndef BACKENDS_PTRACE_READER_H
#define BACKENDS_PTRACE_READER_H

#include <stdbool.h>

#include "backends/backend.h"
#include "backends/cpython/cpython.h"
#include "protocol/sample.h"

struct c10d;
struct environment;
struct error;
struct memory;
struct message;
struct native_process;
struct pystack;
struct waiting;

struct ptrace_connection {
	struct connection base;
	struct memory *memory;
	struct memory *looking;	    /* used during one read of a thread (peek.h) */
	struct memory *environment; /* of program-environment.c, whose snapshot has other blocks */
	struct cpython python;
	struct pystack *pystack;
	struct c10d *c10d;	       /* NULL: collectives were not asked for yet */
	struct process_sample newest;  /* newest sample that was sent */
	struct native_process *native; /* NULL: no native frames yet */
	struct waiting *waiting;       /* request of stacks.c that is not answered yet; NULL:
					* none */
	bool has_internals;	       /* native frames include those of the interpreter itself */
	bool has_said_why;	       /* it was reported why there are no native frames */
};

/* Serves the request `sample` (stacks.c), now or later. Returns -1 and sets error if that is
 * impossible: the caller answers. */
int ptrace_sample(struct ptrace_connection *connection, bool is_exact,
		  const struct message *request, struct error *error);
/* Answers a waiting request before the connection closes. */
void ptrace_sampling_end(struct ptrace_connection *connection);

/* Serves the request `variables` (peek.c). Returns -1 and sets error if that is impossible: the
 * caller answers. */
int ptrace_variables(struct ptrace_connection *connection, const struct message *request,
		     struct error *error);

/*
 * Returns the address of the main interpreter, from the first sample or, before that, from
 * _PyRuntime; 0: unknown.
 */
uint64_t ptrace_main_interpreter(const struct ptrace_connection *connection);

/* Adds what the program knows of its rank (program-environment.c). */
void ptrace_environment(struct connection *connection, struct environment *environment);

#endif
