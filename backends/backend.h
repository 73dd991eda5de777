/*
 * backend: one kind of access to a process (ptrace, pdb, the agent's HTTP);
 * connection: an open access to one process. A process may have several
 * connections, at most one per backend.
 *
 * The requests that a connection can serve depend on the process's state, so
 * can() refuses with a reason and a remedy. A request goes to the first
 * connection that can serve it; connections.c has the order of backends.
 */
#ifndef BACKENDS_BACKEND_H
#define BACKENDS_BACKEND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "protocol/message.h"

struct debugger;
struct error;
struct message;
struct node;
struct process;
struct process_sample;
struct stack_table;
struct target;

/* Sets the reason "the process is running". Always returns false. */
bool reason_is_running(struct reason *reason);

/* The columns of requests.def: who may serve a request. */
enum backend_kind {
	BACKEND_READER,
	BACKEND_TRACER,
	BACKEND_AGENT,
	BACKEND_PDB,
	BACKEND_KIND_COUNT,
};

/* The cells of requests.def, which explains them: what a connection needs for a request. */
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

/* Returns the cell of requests.def. */
enum capability backend_capability(enum backend_kind backend, enum request_kind kind);
/* Returns true and sets the reason if the capability is a refusal. */
bool reason_refuse(struct reason *reason, enum capability capability);
/* Whether the request opens a connection where there is none; an empty list of
 * breakpoints never does. */
bool request_opens(enum backend_kind backend, enum request_kind kind,
		   const struct message *request);
/* Whether the request has a list of breakpoints, and the list is empty. */
bool request_clears_breakpoints(const struct message *request);

/* The first member of each backend's own connection type. */
struct connection {
	const struct backend *backend;
	struct node *node;
	pid_t pid;
	char version[32]; /* of the process's Python, "3.11.7"; "": unknown */
};

struct backend {
	const char *name; /* "ptrace" */
	const char *help; /* a description in a few words */
	/*
	 * Opens a connection to the process; NULL: failed, error is set. target
	 * is the user's; NULL: the pid is enough, and the process is not
	 * affected (a backend that needs a target fails). The caller reports
	 * the first state of debugger(); the connection reports changes with
	 * node_emit_debugger().
	 */
	struct connection *(*open)(struct node *node, const struct process *process,
				   const struct target *target, struct error *error);
	/*
	 * Whether the request opens a connection without a target, while this
	 * node has no debugger in the process. NULL: never.
	 */
	bool (*opens_for)(const struct process *process, enum request_kind kind,
			  const struct message *request);
	/*
	 * Whether a connection is opened without a target, to receive events,
	 * while the node follows processes. connection: the current one, which
	 * is closed first; NULL: none. NULL function: never.
	 */
	bool (*attends)(const struct process *process, const struct connection *connection);
	/* Implements connection_can(); reason is not NULL and is empty. */
	bool (*can)(const struct connection *connection, enum request_kind kind,
		    const struct message *request, struct reason *reason);
	/*
	 * Starts to serve a request of the pipe. The backend answers exactly
	 * once with node_respond(), now or later. -1: the request was not
	 * started, and the node answers with error.
	 */
	int (*send)(struct connection *connection, enum request_kind kind,
		    const struct message *request, struct error *error);
	/*
	 * Interrupts the running evaluation; its requests are then answered. NULL: the backend
	 * cannot interrupt.
	 */
	void (*interrupt)(struct connection *connection);
	/*
	 * Looks variables up in os.environ as it is now (a rank made by
	 * multiprocessing sets RANK after its start). names ends with NULL; if
	 * the first name is not set, the others are not looked up. NULL
	 * function: the backend cannot read os.environ.
	 */
	void (*environment)(struct connection *connection, const char *const *names,
			    void (*found)(const char *name, const char *value, void *data),
			    void *data);
	/*
	 * Replaces the stack of the thread that this connection has stopped, in
	 * a sample of another connection or an empty one; the thread's native
	 * stack is removed. Must not keep pointers into the table of stacks: the
	 * next call may have a new table. NULL function: replaces nothing.
	 */
	void (*amend)(struct connection *connection, struct process_sample *sample);
	/* Returns the debugger's state. NULL function: the backend is no debugger. */
	const struct debugger *(*debugger)(const struct connection *connection);
	/*
	 * Detaches and frees the connection: removes its breakpoints and resumes
	 * the process. Answers the requests that were started. Never blocks: the
	 * last bytes of a socket are sent later (linger.h).
	 */
	void (*close)(struct connection *connection);
};

/*
 * Whether the connection can serve the request now, for the thread and the frame
 * in the request's arguments; request NULL: for any. reason may be NULL.
 */
bool connection_can(const struct connection *connection, enum request_kind kind,
		    const struct message *request, struct reason *reason);

extern const struct backend ptrace_backend;
extern const struct backend pdb_backend;
extern const struct backend control_backend;
extern const struct backend http_backend;

#endif
