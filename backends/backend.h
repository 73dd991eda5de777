/*
 * backend: one kind of way to reach a process; connection: one such way to
 * one process. A process may have several connections, one a backend.
 *
 * What a connection can do depends on the connection and on what the process
 * does now, so can() says no with a reason and what would help. A request goes
 * to the first connection that can; the order of backends is connections.c's.
 */
#ifndef BACKENDS_BACKEND_H
#define BACKENDS_BACKEND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/reason.h"
#include "protocol/request-kind.h"

struct debugger;
struct error;
struct message;
struct node;
struct process;
struct process_sample;
struct stack_table;
struct target;

/* That no thread has stopped. Always returns false. */
bool reason_is_running(struct reason *reason);

/* The columns of requests.def. */
enum backend_kind {
	BACKEND_READER,
	BACKEND_TRACER,
	BACKEND_AGENT,
	BACKEND_PDB,
	BACKEND_KIND_COUNT,
};

/* The cells of requests.def, explained there, in the order of what they need. */
enum capability {
	CAPABILITY_ALWAYS,
	CAPABILITY_FROZEN,
	CAPABILITY_CONNECTED,
	CAPABILITY_OPENED,
	CAPABILITY_DEBUGGING,
	CAPABILITY_FOLLOWED,
	CAPABILITY_STOPPED,
	CAPABILITY_STEPPED,
	CAPABILITY_NO_FIRST, /* from here on: refused in every state */
#define REFUSAL(name, ...) CAPABILITY_NO_##name,
#include "protocol/requests.def"
};

enum capability backend_capability(enum backend_kind backend, enum request_kind kind);
/* Whether the capability is a refusal, which then is the reason. */
bool reason_refuse(struct reason *reason, enum capability capability);
/* Whether a connection is opened for the request where there is none; not for
 * an empty list of breakpoints. */
bool request_opens(enum backend_kind backend, enum request_kind kind,
		   const struct message *request);
/* Whether the list of breakpoints is empty. */
bool request_clears_breakpoints(const struct message *request);

/* Each backend's connection begins with this. */
struct connection {
	const struct backend *backend;
	struct node *node;
	pid_t pid;
	char version[32]; /* of the Python in it, "3.11.7"; "" unknown */
};

struct backend {
	const char *name; /* "ptrace" */
	const char *help; /* a few words: what it is */
	/*
	 * A connection to the process, or NULL and a sentence. target is what
	 * the person named; NULL: the backend finds its way by the process
	 * alone, without touching it in a way that it could notice (a backend
	 * that cannot do that says so). What its debugger() has then is told
	 * by who opens it; later changes it tells by node_emit_debugger().
	 */
	struct connection *(*open)(struct node *node, const struct process *process,
				   const struct target *target, struct error *error);
	/*
	 * Whether it is opened, by the process alone, for such a request where
	 * no debugger of ours is. NULL: never.
	 */
	bool (*opens_for)(const struct process *process, enum request_kind kind,
			  const struct message *request);
	/*
	 * Whether it is opened, by the process alone, while processes are
	 * followed: to hear of what happens in it; in the place of the
	 * connection that there is, unless that is NULL. NULL: never.
	 */
	bool (*attends)(const struct process *process, const struct connection *connection);
	/* connection_can() with a reason that is not NULL, and empty. */
	bool (*can)(const struct connection *connection, enum request_kind kind,
		    const struct message *request, struct reason *reason);
	/*
	 * Takes on a request of the pipe. It answers by node_respond() and
	 * node_emit(), now or later, exactly once. -1: it could not even be
	 * begun (the node then answers with the sentence).
	 */
	int (*send)(struct connection *connection, enum request_kind kind,
		    const struct message *request, struct error *error);
	/*
	 * Interrupts the running evaluation; its requests are then answered. NULL: the backend
	 * cannot interrupt.
	 */
	void (*interrupt)(struct connection *connection);
	/*
	 * Looks variables up in the environment the program has now (a rank
	 * made by multiprocessing sets RANK after its start). names ends in
	 * NULL; when the first is not there the others are not looked for.
	 * NULL: it cannot.
	 */
	void (*environment)(struct connection *connection, const char *const *names,
			    void (*found)(const char *name, const char *value, void *data),
			    void *data);
	/*
	 * Puts what it knows better into a sample that another connection
	 * took, or that is empty: the stack of the thread that it holds, whose
	 * native stack goes. Nothing of the table of stacks is kept for the
	 * next call: it may be another. NULL: nothing.
	 */
	void (*amend)(struct connection *connection, struct process_sample *sample);
	/* Lends what is told of its debugger; the member NULL: it is none. */
	const struct debugger *(*debugger)(const struct connection *connection);
	/*
	 * Leaves the process as it was found: nothing of ours stays in it, and
	 * it does not wait for us. Does not wait either (linger.h); answers
	 * what it has begun.
	 */
	void (*close)(struct connection *connection);
};

/*
 * Whether the connection can serve the request now. request: for the thread and
 * the frame in the arguments; NULL: for any. reason may be NULL.
 */
bool connection_can(const struct connection *connection, enum request_kind kind,
		    const struct message *request, struct reason *reason);

extern const struct backend ptrace_backend;
extern const struct backend pdb_backend;
extern const struct backend control_backend;
extern const struct backend http_backend;

#endif
