/*
 * pytoken: the words of a Python expression, one after the other.
 *
 * The text is hostile: what is no UTF-8, holds control characters, or is
 * written in a way that is not read from outside gives a sentence with its
 * column.
 */
#ifndef BACKENDS_EXPRESSION_PYTOKEN_H
#define BACKENDS_EXPRESSION_PYTOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum pytoken_kind {
	PYTOKEN_END,
	PYTOKEN_NAME, /* keywords, too */
	PYTOKEN_INTEGER,
	PYTOKEN_FLOAT,
	PYTOKEN_STRING,
	PYTOKEN_BYTES,
	PYTOKEN_SYMBOL,
};

struct pytoken {
	enum pytoken_kind kind;
	const char *start; /* in the text */
	size_t length;
	char *text; /* of PYTOKEN_INTEGER: its digits, without the prefix */
	int base;   /* of them */
	double number;
	uint32_t *characters; /* of a string or bytes */
	size_t character_count;
};

/* Zeroed but for text; then pytokens_next() takes the first. */
struct pytokens {
	const char *text;
	const char *next; /* behind the token */
	struct pytoken token;
};

/* Replaces the token by the next one; -1 and a sentence. */
int pytokens_next(struct pytokens *tokens, struct error *error);
void pytokens_clear(struct pytokens *tokens);
/* The column of a place in the text. */
int pytokens_column(const struct pytokens *tokens, const char *at);
/* "At column 5: " and the rest; always -1. */
int pytokens_refuse(const struct pytokens *tokens, const char *at, struct error *error,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Whether the token is this symbol or word. */
bool pytoken_is(const struct pytoken *token, const char *text);
bool pytoken_is_keyword(const struct pytoken *token);

#endif
