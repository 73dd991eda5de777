/*
 * backend: one kind of access to a process (ptrace, pdb, the agent's HTTP);
 * connection: an open access to one process. A process may have several
 * connections, at most one per backend.
 *
 * The requests that a connection can serve depend on the process's state, so can() refuses a
 * request with a reason and a remedy. A request goes to the first connection that can serve it;
 * connections.c has the order of backends.
 */
#ifndef BACKENDS_BACKEND_H
#define BACKENDS_BACKEND_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "protocol/message.h"

struct debugger;
struct environment;
struct error;
struct message;
struct node;
struct process;
struct process_sample;
struct stack_table;
struct target;

/* Sets the reason "the process is running". Always returns false. */
bool reason_is_running(struct reason *reason);

/* The columns of requests.def: the backends that may serve a request. */
enum backend_kind {
	BACKEND_READER,
	BACKEND_TRACER,
	BACKEND_AGENT,
	BACKEND_PDB,
	BACKEND_KIND_COUNT,
};

/* The cells of requests.def: what a connection needs for a request. requests.def explains each. */
enum capability {
	CAPABILITY_ALWAYS,
	CAPABILITY_FROZEN,
	CAPABILITY_CONNECTED,
	CAPABILITY_OPENED,
	CAPABILITY_DEBUGGING,
	CAPABILITY_FOLLOWED,
	CAPABILITY_STOPPED,
	CAPABILITY_STEPPED,
	CAPABILITY_NO_FIRST, /* this capability and all after it: refused in every state */
#define REFUSAL(name, ...) CAPABILITY_NO_##name,
#include "protocol/requests.def"
};

/* Returns the cell of requests.def in the backend's column and the request's row. */
enum capability backend_capability(enum backend_kind backend, enum request_kind kind);
/* If the capability is a refusal, sets the reason and returns true. */
bool reason_refuse(struct reason *reason, enum capability capability);
/* Whether the request opens a connection if none is open. A request with an empty list of
 * breakpoints never opens a connection. */
bool request_opens(enum backend_kind backend, enum request_kind kind,
		   const struct message *request);
/* Whether the request has a list of breakpoints, and the list is empty. */
bool request_clears_breakpoints(const struct message *request);

/* What all connections have; each backend's own connection type begins with this struct. */
struct connection {
	const struct backend *backend;
	struct node *node;
	pid_t pid;
	char version[32]; /* version of the process's Python, "3.11.7"; "": unknown */
};

struct backend {
	const char *name; /* "ptrace" */
	const char *help; /* a description in a few words */
	/*
	 * Opens a connection to the process; returns NULL and sets error on failure. target: what
	 * the user connects to; NULL: connect by the pid alone, without affecting the process (a
	 * backend that needs a target fails). The caller reports the first state of debugger(); the
	 * connection reports later states with node_emit_debugger().
	 */
	struct connection *(*open)(struct node *node, const struct process *process,
				   const struct target *target, struct error *error);
	/*
	 * Whether the request opens a connection without a target. Called only while no debugger of
	 * this node is connected to the process (for `watchdog`: always). NULL function: never.
	 */
	bool (*opens_for)(const struct process *process, enum request_kind kind,
			  const struct message *request);
	/*
	 * Whether to open a connection without a target, in order to receive the process's events;
	 * called while the node follows processes. connection: the backend's present connection,
	 * which is closed before a new one is opened; NULL: none. NULL function: never.
	 */
	bool (*attends)(const struct process *process, const struct connection *connection);
	/* Implements connection_can(); the caller passes an empty reason, never NULL. */
	bool (*can)(const struct connection *connection, enum request_kind kind,
		    const struct message *request, struct reason *reason);
	/*
	 * Starts to serve a request of the pipe. The backend answers exactly once with
	 * node_respond(), now or later. Returns 0, or -1 if the request was not started: the node
	 * then answers with error.
	 */
	int (*send)(struct connection *connection, enum request_kind kind,
		    const struct message *request, struct error *error);
	/*
	 * Interrupts the running evaluation; its requests are then answered. NULL: the backend
	 * cannot interrupt.
	 */
	void (*interrupt)(struct connection *connection);
	/*
	 * Adds to *environment what the program knows of its rank: its process group, and the
	 * variables of os.environ (a rank made by multiprocessing sets RANK after its start). NULL
	 * function: the backend cannot read them.
	 */
	void (*environment)(struct connection *connection, struct environment *environment);
	/*
	 * In a sample that another connection has taken, or in an empty sample: replaces the Python
	 * stack of the thread that this connection has stopped, and removes that thread's native
	 * stack. Must not keep pointers into the table of stacks: the node may replace the table
	 * before the next call. NULL function: replaces nothing.
	 */
	void (*amend)(struct connection *connection, struct process_sample *sample);
	/* Returns the debugger's state. NULL function: the backend is no debugger. */
	const struct debugger *(*debugger)(const struct connection *connection);
	/*
	 * Removes the connection's breakpoints, resumes the process, detaches, answers the requests
	 * that were started, and frees the connection. Never blocks: the last bytes of a socket are
	 * sent later (linger.h).
	 */
	void (*close)(struct connection *connection);
};

/*
 * Whether the connection can serve the request now, for the thread and the frame in the request's
 * arguments; request NULL: for any thread and frame. If not, sets *reason; reason may be NULL.
 */
bool connection_can(const struct connection *connection, enum request_kind kind,
		    const struct message *request, struct reason *reason);

extern const struct backend ptrace_backend;
extern const struct backend pdb_backend;
extern const struct backend control_backend;
extern const struct backend http_backend;

#endif
