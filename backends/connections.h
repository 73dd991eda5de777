/*
 * connections: the ways to processes that are open, by pid, at most one a
 * backend. It owns them. A process with the pid of another, started later,
 * gets new ones.
 *
 * Some backends find their way by the process alone: such a connection is
 * opened when it is first needed, may be closed at any time, and is opened
 * anew. The others are opened for a person's target, or for a request that
 * only they can serve, and stay until they are closed for that process, or the
 * node leaves: a debugger may take one client only, and a process that is
 * stopped stays so. At most one debugger is ours at a time.
 *
 * A connection that could not be opened by itself is remembered with its
 * sentence, so that a process is not asked again and again during one look.
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
/* Closes them all. */
void connections_free(struct connections *connections);
/* Lends the connection that reads a process, opened if need be; NULL and why
 * not. */
struct connection *connections_open(struct connections *connections, const struct process *process,
				    struct error *error);
/*
 * Opens the way that the person named, and lends it; NULL and why not. One of
 * the same backend that was lost is closed before.
 */
struct connection *connections_connect(struct connections *connections,
				       const struct process *process, const struct target *target,
				       struct error *error);
/*
 * The process is followed: opens what is to hear of it. Once: what is lost is
 * opened again only for a request.
 */
void connections_attend(struct connections *connections, const struct process *process);
/*
 * Lends the best connection that can do that now, opened for it if need be
 * (which is told by `debugger`); NULL and the reason of the one that is
 * nearest to it. request: as of backend.h's can().
 */
struct connection *connections_find(struct connections *connections, const struct process *process,
				    enum request_kind kind, const struct message *request,
				    struct error *error);
/*
 * Lends an agent's that can do that now, opened for it if need be; NULL: there
 * is none. What reads the process from outside was asked before.
 */
struct connection *connections_find_agent(struct connections *connections,
					  const struct process *process, enum request_kind kind,
					  const struct message *request);
/* Lends the one that has a debugger, though it may be lost; NULL: none. */
struct connection *connections_find_debugger(struct connections *connections, pid_t pid);
/* Whether it is read from outside. */
bool connections_has_reader(struct connections *connections, pid_t pid);
/* The next number of a stop of the process, by any backend. */
uint64_t connections_next_stop(struct connections *connections, pid_t pid);
/* What is known of that debugger, lent; NULL: none. */
const struct debugger *connections_debugger(struct connections *connections, pid_t pid);
/* Puts what is known better into a sample: of the thread that is stopped. */
void connections_amend(struct connections *connections, struct process_sample *sample);
/* What is evaluated in a process is to end. */
void connections_interrupt(struct connections *connections, pid_t pid);
/* All of a process, which has ended. */
void connections_close(struct connections *connections, pid_t pid);
/* Closes this one alone. */
void connections_disconnect(struct connections *connections, struct connection *connection);
/* Closes what reads the process by itself: what it knows is worth nothing. */
void connections_forget(struct connections *connections, pid_t pid);
/* The same of every process. */
void connections_forget_all(struct connections *connections);
/*
 * Forgets failures (a process that was just starting may be ready now) and
 * closes what leads to processes that are gone.
 */
void connections_tidy(struct connections *connections);
/*
 * Reads os.environ of a process through the connection that reads it. A process
 * with RANK is read once; one without, less and less often. Valid as long as
 * connections.
 */
struct environment_reader connections_environment_reader(struct connections *connections);

#endif
