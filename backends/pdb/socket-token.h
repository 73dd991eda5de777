/*
 * socket-token: the token that a client of probetui's agent must send first on a TCP port, which
 * any program that reaches the port could otherwise use to run code. The token comes from the
 * environment, as in the agent, and is sent only if the agent asks; it is never shown, logged or
 * recorded.
 */
#ifndef BACKENDS_PDB_SOCKET_TOKEN_H
#define BACKENDS_PDB_SOCKET_TOKEN_H

#include <stddef.h>

struct error;

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

#endif
