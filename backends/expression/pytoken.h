/*
 * pytoken: splits a Python expression into tokens, one after the other.
 *
 * The text is not trusted: text that is not UTF-8, control characters and unsupported notations
 * cause an error with the column.
 */
#ifndef BACKENDS_EXPRESSION_PYTOKEN_H
#define BACKENDS_EXPRESSION_PYTOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum pytoken_kind {
	PYTOKEN_END,
	PYTOKEN_NAME, /* a name or a keyword */
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
	char *text; /* an integer's digits without the prefix, or a float's text */
	int base;   /* base of the integer: 2, 8, 10 or 16 */
	double number;
	uint32_t *characters; /* code points of a string, or bytes */
	size_t character_count;
};

/* Initialise with zeros and set `text`; the first pytokens_next() reads the first token. */
struct pytokens {
	const char *text;
	const char *next; /* end of the current token; NULL: no token was read yet */
	struct pytoken token;
};

/* Replaces the current token by the next one. Returns 0, or -1 and sets error. */
int pytokens_next(struct pytokens *tokens, struct error *error);
void pytokens_clear(struct pytokens *tokens);
/* Returns the column of a position in the text, counted in characters from 1. */
int pytokens_column(const struct pytokens *tokens, const char *at);
/* Sets *error to "At column 5: " and the formatted text; always returns -1. */
int pytokens_refuse(const struct pytokens *tokens, const char *at, struct error *error,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Whether the token is this symbol or word. */
bool pytoken_is(const struct pytoken *token, const char *text);
bool pytoken_is_keyword(const struct pytoken *token);

#endif
