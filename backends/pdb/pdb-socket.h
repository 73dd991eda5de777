/*
 * pdb-socket: a connection to a debugger's socket: non-blocking connect, a check of the peer before
 * the first byte is sent, reads in pieces, writes from a bounded queue.
 */
#ifndef BACKENDS_PDB_PDB_SOCKET_H
#define BACKENDS_PDB_PDB_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

#include "backends/linger.h"

struct addrinfo;
struct error;
struct host_lookup;
struct loop;
struct pdb_socket;
struct process;
struct target;

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

/*
 * The token that a client of probetui's agent must send first on a TCP port, which
 * any program that reaches the port could otherwise use to run code. The token comes from the
 * environment, as in the agent, and is sent only if the agent asks; it is never shown, logged or
 * recorded.
 */

/* State of the token exchange; {0}: nothing was received. */
struct socket_token_talk {
	const char *expected; /* line that may come; NULL: none */
	size_t matched;	      /* bytes of expected that have come */
};

enum socket_token_result {
	SOCKET_TOKEN_WAIT,    /* all bytes may belong to the expected line */
	SOCKET_TOKEN_NOTHING, /* the bytes are another text */
	SOCKET_TOKEN_ASKED,   /* the first *used bytes ask for the token */
	SOCKET_TOKEN_REFUSED, /* the first *used bytes refuse the token */
};

/* Expects the agent's question; after the token was sent, its refusal. */
void socket_token_expect_question(struct socket_token_talk *talk);
void socket_token_expect_refusal(struct socket_token_talk *talk);
/*
 * Examines received bytes. Afterwards nothing is expected, except after SOCKET_TOKEN_WAIT, where
 * all bytes are counted in matched.
 */
enum socket_token_result socket_token_hear(struct socket_token_talk *talk, const char *bytes,
					   size_t length, size_t *used);
/*
 * Returns the token of IPDB_TOKEN_FILE, else of IPDB_TOKEN, as a line (caller frees). NULL, *error:
 * none, or other users can read it.
 */
char *socket_token_line(struct error *error);

/*
 * Resolves a host name on another thread, because getaddrinfo(3) can take half a
 * minute.
 */

/*
 * Calls done() from the loop: with the addresses (free them with freeaddrinfo(3)) and 0, or with
 * NULL and the error number of getaddrinfo(3). The lookup is freed after done() and must not be
 * cancelled any more.
 */
struct host_lookup *
host_lookup_new(struct loop *loop, const char *host, int port,
		void (*done)(struct addrinfo *owned_found, int number, void *data), void *data);
/* Cancels the lookup: done() is not called. NULL is fine. */
void host_lookup_cancel(struct host_lookup *lookup);

#endif
