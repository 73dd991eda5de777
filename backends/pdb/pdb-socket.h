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
struct wire;

/* Called from the loop; a wire may be freed in any of them. */
struct wire_calls {
	void (*connected)(void *data);
	void (*bytes)(const char *bytes, size_t length, void *data);
	/* A sentence; nothing is called after it. */
	void (*ended)(const char *why, void *data);
	void *data;
};

/* NULL and a sentence where it is plain at once that there is no way. */
struct wire *wire_new(struct loop *loop, const struct target *target, const struct process *process,
		      const struct wire_calls *calls, struct error *error);
/* Closes it; what is not sent yet is not sent. */
void wire_free(struct wire *wire);
/* Closes it behind these bytes, without waiting until they are sent. */
void wire_leave(struct wire *owned_wire, struct farewells *farewells, const char *bytes,
		enum farewell_when when);
/* Queues; -1 and a sentence when the other side does not read. */
int wire_send(struct wire *wire, const char *bytes, size_t length, struct error *error);
#endif
