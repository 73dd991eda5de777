#include "backends/expression/pysyntax-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"

static const struct pytoken *pyprimary_token(const struct parser *parser)
{
	return &parser->tokens.token;
}

/* Parses expressions separated by commas, and the bracket that closes them. */
static int parse_items(struct parser *parser, struct pysyntax *node, const char *close,
		       bool *has_comma)
{
	bool is_taken;

	*has_comma = false;
	while (!parser_is_at(parser, close)) {
		if (parser_add(parser, node, parser_expression(parser)) ||
		    parser_accept(parser, ",", &is_taken))
			return -1;
		*has_comma |= is_taken;
		if (!is_taken)
			break;
	}
	return parser_expect(parser, close);
}

/* Parses a tuple, list or set; the current token is the opening bracket. */
static struct pysyntax *parse_display(struct parser *parser, enum pysyntax_kind kind,
				      const char *close)
{
	struct pysyntax *node = parser_node(parser, kind);
	struct pysyntax *only;
	bool has_comma;

	if (parser_advance(parser))
		goto fail;
	if (kind == PYSYNTAX_SET && parser_is_at(parser, "}")) {
		parser_refuse(parser, "dict literals are not supported without an agent");
		goto fail;
	}
	if (parse_items(parser, node, close, &has_comma))
		goto fail;
	if (kind != PYSYNTAX_TUPLE || node->count != 1 || has_comma)
		return node;
	only = node->items[0];
	node->count = 0;
	pysyntax_free(node);
	return only;
fail:
	pysyntax_free(node);
	return NULL;
}

static struct pysyntax *parse_constant(struct parser *parser)
{
	static const struct {
		const char *text;
		enum pysyntax_kind kind;
	} constants[] = {
		{ "None", PYSYNTAX_NONE },
		{ "True", PYSYNTAX_TRUE },
		{ "False", PYSYNTAX_FALSE },
	};
	struct pysyntax *node = NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(constants); i++)
		if (parser_is_at(parser, constants[i].text))
			node = parser_node(parser, constants[i].kind);
	if (!node && pytoken_is_keyword(pyprimary_token(parser))) {
		parser_refuse(parser, "\"%.*s\" is not supported here without an agent",
			      (int)pyprimary_token(parser)->length, pyprimary_token(parser)->start);
		return NULL;
	}
	if (!node) {
		node = parser_node(parser, PYSYNTAX_NAME);
		node->text =
			xstrndup(pyprimary_token(parser)->start, pyprimary_token(parser)->length);
	}
	if (!parser_advance(parser))
		return node;
	pysyntax_free(node);
	return NULL;
}

static struct pysyntax *pyprimary_parse_number(struct parser *parser)
{
	struct pytoken *taken = &parser->tokens.token;
	struct pysyntax *node = parser_node(
		parser, taken->kind == PYTOKEN_FLOAT ? PYSYNTAX_FLOAT : PYSYNTAX_INTEGER);

	node->text = taken->text;
	taken->text = NULL;
	node->base = taken->base;
	node->number = taken->number;
	if (!parser_advance(parser))
		return node;
	pysyntax_free(node);
	return NULL;
}

/* Adjacent string literals are one string. */
static struct pysyntax *parse_string(struct parser *parser)
{
	enum pytoken_kind kind = pyprimary_token(parser)->kind;
	struct pysyntax *node =
		parser_node(parser, kind == PYTOKEN_BYTES ? PYSYNTAX_BYTES : PYSYNTAX_STRING);

	while (pyprimary_token(parser)->kind == kind) {
		size_t more = pyprimary_token(parser)->character_count;
		size_t size = sizeof(*node->characters);

		node->characters =
			xrealloc(node->characters, (node->character_count + more + 1) * size);
		if (more)
			memcpy(node->characters + node->character_count,
			       pyprimary_token(parser)->characters, more * size);
		node->character_count += more;
		if (parser_advance(parser)) {
			pysyntax_free(node);
			return NULL;
		}
	}
	return node;
}

static struct pysyntax *parse_atom(struct parser *parser)
{
	switch (pyprimary_token(parser)->kind) {
	case PYTOKEN_NAME:
		return parse_constant(parser);
	case PYTOKEN_INTEGER:
	case PYTOKEN_FLOAT:
		return pyprimary_parse_number(parser);
	case PYTOKEN_STRING:
	case PYTOKEN_BYTES:
		return parse_string(parser);
	case PYTOKEN_SYMBOL:
		if (parser_is_at(parser, "("))
			return parse_display(parser, PYSYNTAX_TUPLE, ")");
		if (parser_is_at(parser, "["))
			return parse_display(parser, PYSYNTAX_LIST, "]");
		if (parser_is_at(parser, "{"))
			return parse_display(parser, PYSYNTAX_SET, "}");
		break;
	case PYTOKEN_END:
		break;
	}
	parser_refuse_token(parser);
	return NULL;
}

/* Parses len(x) or x.item(); the current token is the opening bracket. */
static struct pysyntax *parse_call(struct parser *parser, struct pysyntax *owned_called)
{
	struct pysyntax *node = parser_node(parser, PYSYNTAX_LEN);
	bool is_len = owned_called->kind == PYSYNTAX_NAME && strcmp(owned_called->text, "len") == 0;
	bool is_item =
		owned_called->kind == PYSYNTAX_ATTRIBUTE && strcmp(owned_called->text, "item") == 0;
	bool has_comma;

	node->column = owned_called->column;
	if (!is_len && !is_item) {
		parser_refuse(parser, "a call would run code in the process: only len(x) and "
				      "x.item() are supported without an agent");
		goto fail;
	}
	if (parser_advance(parser) || parse_items(parser, node, ")", &has_comma))
		goto fail;
	if (node->count != (size_t)is_len) {
		parser_refuse(parser, "%s",
			      is_len ? "len() takes one argument"
				     : "item() with arguments is not supported");
		goto fail;
	}
	if (is_item) {
		node->kind = PYSYNTAX_ITEM;
		if (parser_add(parser, node, owned_called->items[0])) {
			owned_called->count = 0;
			goto fail;
		}
		owned_called->count = 0;
	}
	pysyntax_free(owned_called);
	return node;
fail:
	pysyntax_free(owned_called);
	pysyntax_free(node);
	return NULL;
}

static struct pysyntax *parse_attribute(struct parser *parser, struct pysyntax *owned_left)
{
	struct pysyntax *node = parser_wrap(parser, PYSYNTAX_ATTRIBUTE, owned_left);

	if (!node)
		return NULL;
	if (parser_advance(parser))
		goto fail;
	if (pyprimary_token(parser)->kind != PYTOKEN_NAME ||
	    pytoken_is_keyword(pyprimary_token(parser))) {
		parser_refuse(parser, "an attribute name is missing");
		goto fail;
	}
	node->text = xstrndup(pyprimary_token(parser)->start, pyprimary_token(parser)->length);
	if (!parser_advance(parser))
		return node;
fail:
	pysyntax_free(node);
	return NULL;
}

/* A missing bound of a slice is parsed as None. */
static struct pysyntax *parse_bound(struct parser *parser)
{
	if (parser_is_at(parser, ":") || parser_is_at(parser, ",") || parser_is_at(parser, "]"))
		return parser_node(parser, PYSYNTAX_NONE);
	return parser_expression(parser);
}

/* Parses an expression, a slice, or "...". */
static struct pysyntax *parse_subscript(struct parser *parser)
{
	bool is_slice = parser_is_at(parser, ":");
	struct pysyntax *node;

	if (parser_is_at(parser, "..."))
		node = parser_node(parser, PYSYNTAX_ELLIPSIS);
	else
		node = is_slice ? parse_bound(parser) : parser_expression(parser);
	if (node && node->kind == PYSYNTAX_ELLIPSIS && parser_advance(parser)) {
		pysyntax_free(node);
		return NULL;
	}
	if (!node || !parser_is_at(parser, ":"))
		return node;
	node = parser_wrap(parser, PYSYNTAX_SLICE, node);
	while (node && node->count < 3 && parser_is_at(parser, ":")) {
		if (!parser_advance(parser) && !parser_add(parser, node, parse_bound(parser)))
			continue;
		pysyntax_free(node);
		return NULL;
	}
	return node;
}

static int parse_subscripts(struct parser *parser, struct pysyntax *node, bool *has_comma)
{
	bool is_taken;

	*has_comma = false;
	while (!parser_is_at(parser, "]")) {
		if (parser_add(parser, node, parse_subscript(parser)) ||
		    parser_accept(parser, ",", &is_taken))
			return -1;
		*has_comma |= is_taken;
		if (!is_taken)
			break;
	}
	return parser_expect(parser, "]");
}

static struct pysyntax *parse_index(struct parser *parser, struct pysyntax *owned_left)
{
	struct pysyntax *node = parser_wrap(parser, PYSYNTAX_INDEX, owned_left);
	struct pysyntax *index;
	bool has_comma;

	if (!node)
		return NULL;
	index = parser_node(parser, PYSYNTAX_TUPLE);
	if (parser_advance(parser) || parse_subscripts(parser, index, &has_comma))
		goto fail;
	if (!index->count) {
		parser_refuse(parser, "an index is missing");
		goto fail;
	}
	if (index->count == 1 && !has_comma) {
		struct pysyntax *only = index->items[0];

		index->count = 0;
		pysyntax_free(index);
		index = only;
	}
	if (!parser_add(parser, node, index))
		return node;
	index = NULL;
fail:
	pysyntax_free(index);
	pysyntax_free(node);
	return NULL;
}

struct pysyntax *parser_primary(struct parser *parser)
{
	struct pysyntax *left = parse_atom(parser);

	while (left) {
		if (parser_is_at(parser, "("))
			left = parse_call(parser, left);
		else if (parser_is_at(parser, "."))
			left = parse_attribute(parser, left);
		else if (parser_is_at(parser, "["))
			left = parse_index(parser, left);
		else
			break;
	}
	return left;
}
