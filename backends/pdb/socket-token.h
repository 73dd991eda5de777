/*
 * socket-token: the word that a client of our Python package has to say first on a
 * port, where any program that reaches it could run code. It is known from the
 * environment, as the package knows it, and given to who asks for it alone;
 * nothing shows, logs or records it.
 */
#ifndef BACKENDS_PDB_SOCKET_TOKEN_H
#define BACKENDS_PDB_SOCKET_TOKEN_H

#include <stddef.h>

struct error;

/* What the package may say first; {0}: nothing was said. */
struct token_talk {
	const char *expected; /* NULL: nothing more */
	size_t matched;	      /* bytes of it that came */
};

enum token_result {
	TOKEN_WAIT,    /* all of it may belong to what is expected */
	TOKEN_NOTHING, /* it is none */
	TOKEN_ASKED,   /* the first *used bytes ask for the token */
	TOKEN_REFUSED, /* ... say that it is another one */
};

/* What may come is the package's question; what after it, its refusal. */
void token_expect_question(struct token_talk *talk);
void token_expect_refusal(struct token_talk *talk);
/*
 * Looks at what has come. Afterwards nothing is expected, but with WAIT: all of
 * it is kept then, as matched bytes of expected.
 */
enum token_result token_hear(struct token_talk *talk, const char *bytes, size_t length,
			     size_t *used);
/*
 * The token of IPDB_TOKEN_FILE, else IPDB_TOKEN, as a line; free() it. NULL
 * and a sentence: there is none, or others can read it.
 */
char *token_line(struct error *error);

#endif
