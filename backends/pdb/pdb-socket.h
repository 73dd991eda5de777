/*
 * pdb-socket: the socket of a debugger: connected without waiting, checked to be
 * the process's that it should be before a byte is sent, read in pieces,
 * written from a bounded queue.
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

/* Called from the loop; a wire may be freed in any of them. */
struct pdb_socket_calls {
	void (*connected)(void *data);
	void (*bytes)(const char *bytes, size_t length, void *data);
	/* A sentence; nothing is called after it. */
	void (*ended)(const char *why, void *data);
	void *data;
};

/* NULL and a sentence where it is plain at once that there is no way. */
struct pdb_socket *pdb_socket_new(struct loop *loop, const struct target *target,
				  const struct process *process,
				  const struct pdb_socket_calls *calls, struct error *error);
/* Closes it; what is not sent yet is not sent. */
void pdb_socket_free(struct pdb_socket *wire);
/* Closes it behind these bytes, without waiting until they are sent. */
void pdb_socket_leave(struct pdb_socket *owned_wire, struct linger_list *linger_list,
		      const char *bytes, enum linger_when when);
/* Queues; -1 and a sentence when the other side does not read. */
int pdb_socket_send(struct pdb_socket *wire, const char *bytes, size_t length, struct error *error);
#endif
