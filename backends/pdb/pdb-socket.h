/*
 * pdb-socket: a connection to a debugger's socket. Connects without blocking, checks the peer
 * before the first byte is sent, reads in pieces, and writes from a bounded queue.
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

/* Callbacks, called from the loop. Each callback may free the socket. */
struct pdb_socket_calls {
	void (*connected)(void *data);
	void (*bytes)(const char *bytes, size_t length, void *data);
	/* The connection has ended. why: the reason as a sentence. No callback is called
	 * afterwards. */
	void (*ended)(const char *why, void *data);
	void *data;
};

/* Starts to connect. Returns NULL and sets error if it is known at once that no connection is
 * possible. */
struct pdb_socket *pdb_socket_new(struct loop *loop, const struct target *target,
				  const struct process *process,
				  const struct pdb_socket_calls *calls, struct error *error);
/* Closes the socket and drops queued bytes. */
void pdb_socket_free(struct pdb_socket *wire);
/* Sends the queue and then `bytes` in the background, and closes the socket after that. */
void pdb_socket_leave(struct pdb_socket *owned_wire, struct linger_list *linger_list,
		      const char *bytes, enum linger_when when);
/* Queues bytes. Returns -1 and sets error if the queue is full because the peer does not read. */
int pdb_socket_send(struct pdb_socket *wire, const char *bytes, size_t length, struct error *error);

/*
 * socket_token: the token that a client of probetui's agent must send first on a TCP port. Without
 * the token, any program that can reach the port could run code in the process. The token comes
 * from the environment, as in the agent, and is sent only if the agent asks for it; it is never
 * shown, logged or recorded.
 */

/* State of the token exchange; {0}: nothing was received. */
struct socket_token_talk {
	const char *expected; /* the expected line; NULL: none */
	size_t matched;	      /* number of bytes of `expected` that have come */
};

enum socket_token_result {
	SOCKET_TOKEN_WAIT,    /* all bytes may belong to the expected line */
	SOCKET_TOKEN_NOTHING, /* the bytes are another text */
	SOCKET_TOKEN_ASKED,   /* the first *used bytes ask for the token */
	SOCKET_TOKEN_REFUSED, /* the first *used bytes refuse the token */
};

/* socket_token_expect_question(): from now on expects the agent's question for the token.
 * socket_token_expect_refusal(): after the token was sent, expects the agent's refusal. */
void socket_token_expect_question(struct socket_token_talk *talk);
void socket_token_expect_refusal(struct socket_token_talk *talk);
/*
 * Examines received bytes. After SOCKET_TOKEN_WAIT, talk->matched counts all of them and the rest
 * of the line is expected; after any other result, no line is expected any more.
 */
enum socket_token_result socket_token_hear(struct socket_token_talk *talk, const char *bytes,
					   size_t length, size_t *used);
/*
 * Returns the token of IPDB_TOKEN_FILE, else of IPDB_TOKEN, as a line, which the caller frees.
 * Returns NULL and sets error if there is no token or other users can read it.
 */
char *socket_token_line(struct error *error);

/*
 * host_lookup: resolves a host name on another thread, because getaddrinfo(3) can take half a
 * minute.
 */

/*
 * Starts a lookup. The loop calls done() with the addresses, to be freed by freeaddrinfo(3), and 0,
 * or with NULL and the error number of getaddrinfo(3). After done() the lookup is freed and must
 * not be cancelled.
 */
struct host_lookup *
host_lookup_new(struct loop *loop, const char *host, int port,
		void (*done)(struct addrinfo *owned_found, int number, void *data), void *data);
/* Cancels the lookup: done() is not called. NULL is allowed. */
void host_lookup_cancel(struct host_lookup *lookup);

#endif
