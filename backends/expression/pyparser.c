#include "backends/expression/pysyntax-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"

/* Most bytes of a token that an error quotes. */
#define SHOWN_MAXIMUM 20

static const struct pytoken *pyparser_token(const struct parser *parser)
{
	return &parser->tokens.token;
}

bool parser_is_at(const struct parser *parser, const char *text)
{
	return pytoken_is(pyparser_token(parser), text);
}

int parser_advance(struct parser *parser)
{
	return pytokens_next(&parser->tokens, parser->error);
}

int parser_accept(struct parser *parser, const char *text, bool *is_taken)
{
	*is_taken = parser_is_at(parser, text);
	return *is_taken ? parser_advance(parser) : 0;
}

struct pysyntax *parser_node(const struct parser *parser, enum pysyntax_kind kind)
{
	struct pysyntax *node = xcalloc(1, sizeof(*node));

	node->kind = kind;
	node->column = pytokens_column(&parser->tokens, pyparser_token(parser)->start);
	node->depth = 1;
	return node;
}

int parser_add(struct parser *parser, struct pysyntax *node, struct pysyntax *owned_item)
{
	if (!owned_item)
		return -1;
	ARRAY_GROW(node->items, node->count, node->capacity);
	node->items[node->count++] = owned_item;
	if (node->depth <= owned_item->depth)
		node->depth = owned_item->depth + 1;
	if (node->depth > PYSYNTAX_DEPTH)
		return parser_refuse(parser, "the expression is nested too deep.");
	return 0;
}

struct pysyntax *parser_wrap(struct parser *parser, enum pysyntax_kind kind,
			     struct pysyntax *owned_item)
{
	struct pysyntax *node = parser_node(parser, kind);

	node->column = owned_item->column;
	if (!parser_add(parser, node, owned_item))
		return node;
	pysyntax_free(node);
	return NULL;
}

/* Whether the token is an augmented assignment ("+="), not "==" or "<=". */
static bool is_assignment(const struct pytoken *is)
{
	return is->kind == PYTOKEN_SYMBOL && is->length > 1 && !strchr("=!<>", is->start[0]) &&
	       is->start[is->length - 1] == '=';
}

static int shown_length(const struct pytoken *is)
{
	return is->length > SHOWN_MAXIMUM ? SHOWN_MAXIMUM : (int)is->length;
}

int parser_refuse_token(struct parser *parser)
{
	static const struct {
		const char *text;
		const char *why;
	} reasons[] = {
		{ "=", "an assignment would change the process; == compares." },
		{ ":=", "an assignment would change the process; == compares." },
		{ "for", "a comprehension would run code in the process." },
		{ "@", "matrices are not multiplied from outside." },
		{ ":", "a slice stands in the brackets of an index, as in x[1:3]." },
	};

	if (pyparser_token(parser)->kind == PYTOKEN_END)
		return parser_refuse(parser, "the expression ends too early.");
	for (size_t i = 0; i < ARRAY_LENGTH(reasons); i++)
		if (parser_is_at(parser, reasons[i].text))
			return parser_refuse(parser, "%s", reasons[i].why);
	if (is_assignment(pyparser_token(parser)))
		return parser_refuse(parser, "%s", reasons[0].why);
	return parser_refuse(parser, "\"%.*s\" does not belong there.",
			     shown_length(pyparser_token(parser)), pyparser_token(parser)->start);
}

int parser_expect(struct parser *parser, const char *text)
{
	if (parser_is_at(parser, text))
		return parser_advance(parser);
	if (pyparser_token(parser)->kind == PYTOKEN_END)
		return parser_refuse(parser, "a \"%s\" is missing.", text);
	return parser_refuse_token(parser);
}

int parser_enter(struct parser *parser)
{
	if (++parser->depth <= PYSYNTAX_DEPTH)
		return 0;
	return parser_refuse(parser, "the expression is nested too deep.");
}
