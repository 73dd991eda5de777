/*
 * socket-token: the word that a client of our Python package has to say first on a
 * port, where any program that reaches it could run code. It is known from the
 * environment, as the package knows it, and given only to a client that asks for the word;
 * nothing shows, logs or records it.
 */
#ifndef BACKENDS_PDB_SOCKET_TOKEN_H
#define BACKENDS_PDB_SOCKET_TOKEN_H

#include <stddef.h>

struct error;

/* What the package may say first; {0}: nothing was said. */
struct socket_token_talk {
	const char *expected; /* NULL: nothing more */
	size_t matched;	      /* bytes of it that came */
};

enum socket_token_result {
	SOCKET_TOKEN_WAIT,    /* all of it may belong to what is expected */
	SOCKET_TOKEN_NOTHING, /* it is none */
	SOCKET_TOKEN_ASKED,   /* the first *used bytes ask for the token */
	SOCKET_TOKEN_REFUSED, /* ... say that it is another one */
};

/* What may come is the package's question; what after it, its refusal. */
void socket_token_expect_question(struct socket_token_talk *talk);
void socket_token_expect_refusal(struct socket_token_talk *talk);
/*
 * Looks at what has come. Afterwards nothing is expected, but with WAIT: all of
 * it is kept then, as matched bytes of expected.
 */
enum socket_token_result socket_token_hear(struct socket_token_talk *talk, const char *bytes,
					   size_t length, size_t *used);
/*
 * The token of IPDB_TOKEN_FILE, else IPDB_TOKEN, as a line; free() it. NULL
 * and a sentence: there is none, or others can read it.
 */
char *socket_token_line(struct error *error);

#endif
