/*
 * pysyntax-private: what the parts of the parser share. pysyntax.c has signs,
 * operators and words, pyprimary.c names and constants with what follows
 * them, pyparser.c what all of it is made with.
 */
#ifndef BACKENDS_EXPRESSION_PYSYNTAX_PRIVATE_H
#define BACKENDS_EXPRESSION_PYSYNTAX_PRIVATE_H

#include <stdbool.h>

#include "backends/expression/pysyntax.h"
#include "backends/expression/pytoken.h"

struct error;

struct parser {
	struct pytokens tokens;
	int depth; /* of brackets, signs and nots that are open */
	struct error *error;
};

/* Always -1. */
#define parser_refuse(parser, ...)                                                                 \
	pytokens_refuse(&(parser)->tokens, (parser)->tokens.token.start, (parser)->error,          \
			__VA_ARGS__)

/* Whether the token is this word or symbol. */
bool parser_is_at(const struct parser *parser, const char *text);
/* To the next token; -1: it is wrong. */
int parser_advance(struct parser *parser);
/* Takes the token if it is this one; -1: the next one is wrong. */
int parser_accept(struct parser *parser, const char *text, bool *is_taken);
/* The same where it has to be. */
int parser_expect(struct parser *parser, const char *text);
/* Why the token does not belong where it is; always -1. */
int parser_refuse_token(struct parser *parser);
/* One more bracket, sign or "not" is open; -1: too many. */
int parser_enter(struct parser *parser);

/* A leaf at the token. */
struct pysyntax *parser_node(const struct parser *parser, enum pysyntax_kind kind);
/*
 * Appends to node; -1 if owned_item is NULL (who made it has said why), or
 * the tree grows too deep.
 */
int parser_add(struct parser *parser, struct pysyntax *node, struct pysyntax *owned_item);
/* A node of this kind around owned_item; frees it and gives NULL on failure. */
struct pysyntax *parser_wrap(struct parser *parser, enum pysyntax_kind kind,
			     struct pysyntax *owned_item);

/* pysyntax.c: a whole expression. */
struct pysyntax *parser_expression(struct parser *parser);
/* pyprimary.c */
struct pysyntax *parser_primary(struct parser *parser);

#endif
