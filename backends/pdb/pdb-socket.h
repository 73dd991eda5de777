/*
 * pdb-socket: a connection to a debugger's socket: non-blocking connect, a check of the peer before
 * the first byte is sent, reads in pieces, writes from a bounded queue.
 */
#ifndef BACKENDS_PDB_PDB_SOCKET_H
#define BACKENDS_PDB_PDB_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

#include "backends/linger.h"

struct error;
struct loop;
struct process;
struct target;
struct pdb_socket;

/* Called from the loop; the socket may be freed in each of them. */
struct pdb_socket_calls {
	void (*connected)(void *data);
	void (*bytes)(const char *bytes, size_t length, void *data);
	/* why: the reason as a sentence. Nothing is called afterwards. */
	void (*ended)(const char *why, void *data);
	void *data;
};

/* Starts to connect. NULL, *error: the connection is already known to be impossible. */
struct pdb_socket *pdb_socket_new(struct loop *loop, const struct target *target,
				  const struct process *process,
				  const struct pdb_socket_calls *calls, struct error *error);
/* Closes the socket; queued bytes are dropped. */
void pdb_socket_free(struct pdb_socket *wire);
/* Sends the queue and these bytes in the background, then closes. */
void pdb_socket_leave(struct pdb_socket *owned_wire, struct linger_list *linger_list,
		      const char *bytes, enum linger_when when);
/* Queues bytes. -1, *error: the queue is full because the peer does not read. */
int pdb_socket_send(struct pdb_socket *wire, const char *bytes, size_t length, struct error *error);
#endif
