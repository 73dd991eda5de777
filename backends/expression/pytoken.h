/*
 * pytoken: splits a Python expression into tokens, one after the other.
 *
 * The text is hostile: text that is not UTF-8, control characters and unsupported notations give an
 * error with the column.
 */
#ifndef BACKENDS_EXPRESSION_PYTOKEN_H
#define BACKENDS_EXPRESSION_PYTOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum pytoken_kind {
	PYTOKEN_END,
	PYTOKEN_NAME, /* or a keyword */
	PYTOKEN_INTEGER,
	PYTOKEN_FLOAT,
	PYTOKEN_STRING,
	PYTOKEN_BYTES,
	PYTOKEN_SYMBOL,
};

struct pytoken {
	enum pytoken_kind kind;
	const char *start; /* points into the expression's text */
	size_t length;
	char *text; /* digits of an integer without prefix, or a float's text */
	int base;   /* base of the integer: 2, 8, 10 or 16 */
	double number;
	uint32_t *characters; /* code points of a string, or bytes */
	size_t character_count;
};

/* Initialise with zeros and `text`; pytokens_next() then reads the first token. */
struct pytokens {
	const char *text;
	const char *next; /* behind the current token; NULL: no token read yet */
	struct pytoken token;
};

/* Replaces the token by the next token. Returns 0, or -1 with *error set. */
int pytokens_next(struct pytokens *tokens, struct error *error);
void pytokens_clear(struct pytokens *tokens);
/* The column of a position in the text, in characters from 1. */
int pytokens_column(const struct pytokens *tokens, const char *at);
/* Sets *error to "At column 5: " and the formatted text; always returns -1. */
int pytokens_refuse(const struct pytokens *tokens, const char *at, struct error *error,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Whether the token is this symbol or word. */
bool pytoken_is(const struct pytoken *token, const char *text);
bool pytoken_is_keyword(const struct pytoken *token);

#endif
