/*
 * connections: the ways to processes that are open, by pid. It owns them. A
 * process with the pid of another, started later, gets a new one.
 *
 * One that could not be opened is remembered with its sentence, so that a
 * process is not asked again and again during one look.
 */
#ifndef BACKENDS_CONNECTIONS_H
#define BACKENDS_CONNECTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct connection;
struct connections;
struct environment;
struct error;
struct node;
struct process;

struct connections *connections_new(struct node *node);
/* Closes them all. */
void connections_free(struct connections *connections);
/* Lends the connection to a process, opened if need be; NULL and why not. */
struct connection *connections_open(struct connections *connections,
				    const struct process *process,
				    struct error *error);
void connections_close(struct connections *connections, pid_t pid);
void connections_close_all(struct connections *connections);
/*
 * Forgets failures (a process that was just starting may be ready now) and
 * closes what leads to processes that are gone.
 */
void connections_tidy(struct connections *connections);
/*
 * Puts what the program itself has set of its rank into environment. Once it
 * has a rank it is not asked again; while it has none, less and less often.
 */
void connections_environment(struct connections *connections, pid_t pid,
			     uint64_t start_time,
			     struct environment *environment);

#endif
