/*
 * pysyntax-private: the declarations that the files of the parser share. pysyntax.c parses unary
 * and binary operators, `and`, `or`, `not` and `if`, and has the helpers; pyprimary.c parses names
 * and constants with their attributes, indices and calls.
 *
 * "An error" in this header means that parser->error is set.
 */
#ifndef BACKENDS_EXPRESSION_PYSYNTAX_PRIVATE_H
#define BACKENDS_EXPRESSION_PYSYNTAX_PRIVATE_H

#include <stdbool.h>

#include "backends/expression/pysyntax.h"
#include "backends/expression/pytoken.h"

struct error;

struct parser {
	struct pytokens tokens;
	int depth; /* number of open brackets, signs and `not`s */
	struct error *error;
};

/* Sets an error at the current token. Always returns -1. */
#define parser_refuse(parser, ...)                                                                 \
	pytokens_refuse(&(parser)->tokens, (parser)->tokens.token.start, (parser)->error,          \
			__VA_ARGS__)

/* Whether the current token is this word or symbol. */
bool parser_is_at(const struct parser *parser, const char *text);
/* Reads the next token. Returns 0, or -1 with an error. */
int parser_advance(struct parser *parser);
/* Sets *is_taken to whether the current token is text; if so, reads the next token. Returns 0, or
 * -1 with an error. */
int parser_accept(struct parser *parser, const char *text, bool *is_taken);
/* Skips the current token, which must be text. Returns 0, or -1 with an error. */
int parser_expect(struct parser *parser, const char *text);
/* Sets an error that says why the current token is not allowed at its position. Always returns
 * -1. */
int parser_refuse_token(struct parser *parser);
/* Counts one more open bracket, sign or `not`. Returns -1 with an error if there are too many. */
int parser_enter(struct parser *parser);

/* Creates a leaf with the column of the current token. */
struct pysyntax *parser_node(const struct parser *parser, enum pysyntax_kind kind);
/*
 * Appends owned_item to node. Returns -1 if owned_item is NULL (the function that should have made
 * it has set the error), or with an error if the tree is too deep.
 */
int parser_add(struct parser *parser, struct pysyntax *node, struct pysyntax *owned_item);
/* Creates a node with owned_item as its first item; on failure frees both and returns NULL. */
struct pysyntax *parser_wrap(struct parser *parser, enum pysyntax_kind kind,
			     struct pysyntax *owned_item);

/* pysyntax.c: parses a whole expression. */
struct pysyntax *parser_expression(struct parser *parser);
/* pyprimary.c: parses a name or constant with its attributes, indices and calls. */
struct pysyntax *parser_primary(struct parser *parser);

#endif
