/*
 * connections: owns the open connections to processes, by pid, at most one per process and backend.
 * When a new process gets the pid of an exited one, the old connections are closed.
 *
 * The reader (ptrace_backend: reads the process from outside) needs only the pid: its connection is
 * opened when first needed, and may be closed and reopened at any time. The other backends are
 * opened for a target of the user, or for a request that only they can serve, and stay open until
 * they are closed or the node exits: a debugger may accept only one client, and a stopped process
 * must stay stopped. At most one debugger of this node is connected to a process at a time.
 *
 * A failure to open the reader is remembered with its error, so that one pass
 * over all processes tries each process once.
 */
#ifndef BACKENDS_CONNECTIONS_H
#define BACKENDS_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/backend.h"
#include "backends/discover/environment.h"

struct connections;
struct debugger;
struct error;
struct message;
struct node;
struct process;
struct process_sample;
struct target;

struct connections *connections_new(struct node *node);
/* Closes all connections. */
void connections_free(struct connections *connections);
/* Returns the reader's connection, opened if need be. Returns NULL and sets error on failure. */
struct connection *connections_open(struct connections *connections, const struct process *process,
				    struct error *error);
/*
 * Opens the user's target and returns its connection; a lost connection of the same backend is
 * closed first. Returns NULL and sets error on failure.
 */
struct connection *connections_connect(struct connections *connections,
				       const struct process *process, const struct target *target,
				       struct error *error);
/*
 * Opens the connections that receive events of a followed process (attends() in backend.h decides
 * which). A lost debugger connection is reopened only for a request.
 */
void connections_attend(struct connections *connections, const struct process *process);
/*
 * Returns the best connection that can serve the request now. If there is none, opens one; if that
 * is a debugger's, emits the event `debugger`. request: as in connection_can(). Returns NULL and
 * sets error if no connection can serve it.
 */
struct connection *connections_find(struct connections *connections, const struct process *process,
				    enum request_kind kind, const struct message *request,
				    struct error *error);
/*
 * Returns a connection other than the reader's that can serve the request now, opened if need be;
 * NULL: none. To be called after the reader has refused the request.
 */
struct connection *connections_find_agent(struct connections *connections,
					  const struct process *process, enum request_kind kind,
					  const struct message *request);
/* Returns the process's debugger connection, which may be lost; NULL: none. */
struct connection *connections_find_debugger(struct connections *connections, pid_t pid);
/* Whether the reader's connection is open. */
bool connections_has_reader(struct connections *connections, pid_t pid);
/* Returns the number of the process's next stop, counted over all backends. */
uint64_t connections_next_stop(struct connections *connections, pid_t pid);
/* Returns the state of the process's debugger; NULL: none. */
const struct debugger *connections_debugger(struct connections *connections, pid_t pid);
/* In a sample: replaces the stacks of the threads that debuggers have stopped by the stacks that
 * the debuggers report. */
void connections_amend(struct connections *connections, struct process_sample *sample);
/* Interrupts the evaluations that run in a process. */
void connections_interrupt(struct connections *connections, pid_t pid);
/* Closes all connections of a process that has exited. */
void connections_close(struct connections *connections, pid_t pid);
/* Closes only this connection. */
void connections_disconnect(struct connections *connections, struct connection *connection);
/* Closes the reader's connection, because the data that the reader has cached of the process is no
 * longer valid. */
void connections_forget(struct connections *connections, pid_t pid);
/* connections_forget() for every process. */
void connections_forget_all(struct connections *connections);
/*
 * Forgets failures to open the reader (a process that was just starting may be ready now) and
 * closes the connections to processes that have exited.
 */
void connections_tidy(struct connections *connections);
/*
 * Returns an environment reader that reads processes through the reader's connections. While a
 * process has no process group, the process is read at each of the first 30 calls and at every 16th
 * call after that; a process with a group at every 16th call. Other calls return the last result.
 * Frameworks are looked for, until one is found, at the first calls and then at every 16th. Valid
 * as long as `connections`.
 */
struct environment_reader connections_environment_reader(struct connections *connections);

#endif
