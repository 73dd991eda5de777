#include "backends/expression/pysyntax.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/expression/pysyntax-private.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

/*
 * A recursive-descent parser of Python's grammar (Grammar/python.gram). From the weakest to the
 * strongest binding:
 *
 * if … else, or, and, not, comparisons, | ^ & shifts, sums, products, signs, powers, then names
 * with attributes, indices and calls.
 */

static const struct {
	const char *text;
	enum pyoperator operator;
	int level; /* binding strength of a binary operator; 0: a comparison */
} operators[] = {
	{ "==", PYOPERATOR_EQUAL, 0 },
	{ "!=", PYOPERATOR_NOT_EQUAL, 0 },
	{ "<", PYOPERATOR_LESS, 0 },
	{ "<=", PYOPERATOR_LESS_EQUAL, 0 },
	{ ">", PYOPERATOR_GREATER, 0 },
	{ ">=", PYOPERATOR_GREATER_EQUAL, 0 },
	{ "is", PYOPERATOR_IS, 0 },
	{ "is not", PYOPERATOR_IS_NOT, 0 },
	{ "in", PYOPERATOR_IN, 0 },
	{ "not in", PYOPERATOR_NOT_IN, 0 },
	{ "|", PYOPERATOR_OR, 1 },
	{ "^", PYOPERATOR_XOR, 2 },
	{ "&", PYOPERATOR_AND, 3 },
	{ "<<", PYOPERATOR_LEFT, 4 },
	{ ">>", PYOPERATOR_RIGHT, 4 },
	{ "+", PYOPERATOR_ADD, 5 },
	{ "-", PYOPERATOR_SUBTRACT, 5 },
	{ "*", PYOPERATOR_MULTIPLY, 6 },
	{ "/", PYOPERATOR_DIVIDE, 6 },
	{ "//", PYOPERATOR_FLOOR_DIVIDE, 6 },
	{ "%", PYOPERATOR_MODULO, 6 },
	{ "**", PYOPERATOR_POWER, -1 }, /* binds closer than a sign before the left operand */
	{ "~", PYOPERATOR_INVERT, -1 },
};

const char *pyoperator_name(enum pyoperator operator)
{
	for (size_t i = 0; i < ARRAY_LENGTH(operators); i++)
		if (operators[i].operator == operator)
			return operators[i].text;
	return "?";
}

void pysyntax_free(struct pysyntax *syntax)
{
	if (!syntax)
		return;
	for (size_t i = 0; i < syntax->count; i++)
		pysyntax_free(syntax->items[i]);
	free(syntax->items);
	free(syntax->characters);
	free(syntax->text);
	free(syntax);
}

static struct pysyntax *parse_binary(struct parser *parser, int level);

static struct pysyntax *parse_unary(struct parser *parser);

/* Parses a name or constant, optionally followed by ** and an operand with its sign. */
static struct pysyntax *parse_power(struct parser *parser)
{
	struct pysyntax *node = parser_primary(parser);

	if (!node || !parser_is_at(parser, "**"))
		return node;
	node = parser_wrap(parser, PYSYNTAX_BINARY, node);
	if (!node)
		return NULL;
	node->operator = PYOPERATOR_POWER;
	if (!parser_advance(parser) && !parser_add(parser, node, parse_unary(parser)))
		return node;
	pysyntax_free(node);
	return NULL;
}

static struct pysyntax *parse_unary(struct parser *parser)
{
	static const struct {
		const char *text;
		enum pyoperator operator;
	} signs[] = { { "-", PYOPERATOR_SUBTRACT },
		      { "+", PYOPERATOR_ADD },
		      { "~", PYOPERATOR_INVERT } };
	struct pysyntax *node = NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(signs); i++) {
		if (!parser_is_at(parser, signs[i].text))
			continue;
		node = parser_node(parser, PYSYNTAX_UNARY);
		node->operator = signs[i].operator;
		break;
	}
	if (parser_enter(parser))
		goto fail;
	if (!node)
		node = parse_power(parser);
	else if (parser_advance(parser) || parser_add(parser, node, parse_unary(parser)))
		goto fail;
	parser->depth--;
	return node;
fail:
	pysyntax_free(node);
	return NULL;
}

/*
 * Returns the index in `operators` of the current token, if the level of this operator is at least
 * `level`; -1: no such operator.
 */
static int next_operator(const struct parser *parser, int level)
{
	for (size_t i = 0; i < ARRAY_LENGTH(operators); i++)
		if (operators[i].level >= level && parser_is_at(parser, operators[i].text))
			return (int)i;
	return -1;
}

static struct pysyntax *parse_binary(struct parser *parser, int level)
{
	struct pysyntax *left = parse_unary(parser);
	int i;

	while (left && (i = next_operator(parser, level)) >= 0) {
		left = parser_wrap(parser, PYSYNTAX_BINARY, left);
		if (!left)
			return NULL;
		left->operator = operators[i].operator;
		if (parser_advance(parser) ||
		    parser_add(parser, left, parse_binary(parser, operators[i].level + 1))) {
			pysyntax_free(left);
			return NULL;
		}
	}
	return left;
}

/* Takes a comparison operator of one word or two. 1: taken, 0: none, -1: an error. */
static int pysyntax_take_comparison(struct parser *parser, enum pyoperator *operator)
{
	bool is_negated = false;
	int i = next_operator(parser, 0);

	if (parser_is_at(parser, "not")) {
		*operator = PYOPERATOR_NOT_IN;
		if (parser_advance(parser) || parser_expect(parser, "in"))
			return -1;
		return 1;
	}
	if (i < 0 || operators[i].level != 0)
		return 0;
	*operator = operators[i].operator;
	if (parser_advance(parser))
		return -1;
	if (*operator == PYOPERATOR_IS && parser_accept(parser, "not", &is_negated))
		return -1;
	if (is_negated)
		*operator = PYOPERATOR_IS_NOT;
	return 1;
}

static struct pysyntax *parse_comparison(struct parser *parser)
{
	struct pysyntax *node = parse_binary(parser, 1);
	enum pyoperator operator;
	bool is_chain = false;
	int found = 0;

	while (node && (found = pysyntax_take_comparison(parser, &operator)) > 0) {
		struct pysyntax *right = parse_binary(parser, 1);

		if (right && !is_chain)
			node = parser_wrap(parser, PYSYNTAX_COMPARE, node);
		is_chain = true;
		if (right)
			right->link = operator;
		if (!node)
			pysyntax_free(right);
		else if (parser_add(parser, node, right))
			found = -1;
		if (found < 0)
			break;
	}
	if (found >= 0)
		return node;
	pysyntax_free(node);
	return NULL;
}

static struct pysyntax *parse_not(struct parser *parser)
{
	struct pysyntax *node;

	if (!parser_is_at(parser, "not"))
		return parse_comparison(parser);
	node = parser_node(parser, PYSYNTAX_NOT);
	if (!parser_enter(parser) && !parser_advance(parser) &&
	    !parser_add(parser, node, parse_not(parser))) {
		parser->depth--;
		return node;
	}
	pysyntax_free(node);
	return NULL;
}

/* Parses one or more operands with the same word (and, or) between them. */
static struct pysyntax *pysyntax_parse_words(struct parser *parser, const char *word,
					     enum pysyntax_kind kind,
					     struct pysyntax *(*parse)(struct parser *parser))
{
	struct pysyntax *node = parse(parser);

	if (!node || !parser_is_at(parser, word))
		return node;
	node = parser_wrap(parser, kind, node);
	while (node && parser_is_at(parser, word)) {
		if (parser_advance(parser) || parser_add(parser, node, parse(parser))) {
			pysyntax_free(node);
			return NULL;
		}
	}
	return node;
}

static struct pysyntax *parse_and(struct parser *parser)
{
	return pysyntax_parse_words(parser, "and", PYSYNTAX_AND, parse_not);
}

static struct pysyntax *parse_or(struct parser *parser)
{
	return pysyntax_parse_words(parser, "or", PYSYNTAX_OR, parse_and);
}

/* Parses "if condition else other" behind owned_value. */
static struct pysyntax *parse_choice(struct parser *parser, struct pysyntax *owned_value)
{
	struct pysyntax *node = NULL;
	struct pysyntax *condition;

	if (parser_enter(parser) || parser_advance(parser))
		goto fail;
	condition = parse_or(parser);
	if (!condition)
		goto fail;
	node = parser_wrap(parser, PYSYNTAX_CHOICE, condition);
	if (!node)
		goto fail;
	node->column = owned_value->column;
	if (parser_add(parser, node, owned_value)) {
		owned_value = NULL;
		goto fail;
	}
	owned_value = NULL;
	if (parser_expect(parser, "else") || parser_add(parser, node, parser_expression(parser)))
		goto fail;
	parser->depth--;
	return node;
fail:
	pysyntax_free(owned_value);
	pysyntax_free(node);
	return NULL;
}

struct pysyntax *parser_expression(struct parser *parser)
{
	struct pysyntax *node = parse_or(parser);

	if (!node || !parser_is_at(parser, "if"))
		return node;
	return parse_choice(parser, node);
}

/* Parses a memory address with a length, such as "*0x7f1200:4". */
static struct pysyntax *pysyntax_parse_place(const char *text, struct error *error)
{
	struct pysyntax *node;
	char *end, *last;
	unsigned long long address;
	unsigned long length;

	errno = 0;
	address = strtoull(text + 1, &end, 16);
	length = *end == ':' ? strtoul(end + 1, &last, 10) : 0;
	if (strncmp(text + 1, "0x", 2) != 0 || errno || *end != ':' || end[1] < '0' ||
	    end[1] > '9' || *last) {
		error_set(error, "a memory address is written as *0xADDRESS:LENGTH, as in "
				 "*0x7f0000001000:8");
		return NULL;
	}
	node = xcalloc(1, sizeof(*node));
	node->kind = PYSYNTAX_PLACE;
	node->column = 1;
	node->depth = 1;
	node->address = address;
	node->length = length > 4096 ? 4096 : (int)length;
	return node;
}

/* Parses the whole text; "i, a" is a tuple, as at Python's own prompt. */
static struct pysyntax *parse_all(struct parser *parser)
{
	struct pysyntax *node = parser_expression(parser);
	bool is_taken;

	if (node && parser_is_at(parser, ","))
		node = parser_wrap(parser, PYSYNTAX_TUPLE, node);
	while (node && parser_is_at(parser, ",")) {
		if (parser_accept(parser, ",", &is_taken))
			goto fail;
		if (parser->tokens.token.kind == PYTOKEN_END)
			break;
		if (parser_add(parser, node, parser_expression(parser)))
			goto fail;
	}
	return node;
fail:
	pysyntax_free(node);
	return NULL;
}

struct pysyntax *pysyntax_parse(const char *text, struct error *error)
{
	struct parser parser = { .tokens.text = text, .error = error };
	struct pysyntax *node = NULL;
	size_t length = strlen(text);

	if (length > PYSYNTAX_LENGTH) {
		error_set(error, "the expression is longer than %d bytes", PYSYNTAX_LENGTH);
		return NULL;
	}
	if (!text_is_utf8(text, length)) {
		error_set(error, "the expression is not valid UTF-8");
		return NULL;
	}
	if (text[strspn(text, " \t")] == '*')
		return pysyntax_parse_place(text + strspn(text, " \t"), error);
	if (!parser_advance(&parser))
		node = parse_all(&parser);
	if (node && parser.tokens.token.kind != PYTOKEN_END) {
		parser_refuse_token(&parser);
		pysyntax_free(node);
		node = NULL;
	}
	pytokens_clear(&parser.tokens);
	return node;
}

/* Maximum bytes of a token that an error quotes. */
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
		return parser_refuse(parser, "the expression is nested too deeply");
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

/* True if the token is an augmented assignment ("+=", "<<="), not a comparison ("==", "<="). */
static bool is_assignment(const struct pytoken *is)
{
	return is->kind == PYTOKEN_SYMBOL && is->length > 1 &&
	       (is->length > 2 || !strchr("=!<>", is->start[0])) &&
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
		{ "=", "an assignment would change the process: use == to compare" },
		{ ":=", "an assignment would change the process: use == to compare" },
		{ "for",
		  "a comprehension would run code in the process: not supported without an agent" },
		{ "@", "matrix multiplication is not supported without an agent" },
		{ ":", "a slice is allowed only in an index, as in x[1:3]" },
	};

	if (pyparser_token(parser)->kind == PYTOKEN_END)
		return parser_refuse(parser, "unexpected end of the expression");
	for (size_t i = 0; i < ARRAY_LENGTH(reasons); i++)
		if (parser_is_at(parser, reasons[i].text))
			return parser_refuse(parser, "%s", reasons[i].why);
	if (is_assignment(pyparser_token(parser)))
		return parser_refuse(parser, "%s", reasons[0].why);
	return parser_refuse(parser, "unexpected \"%.*s\"", shown_length(pyparser_token(parser)),
			     pyparser_token(parser)->start);
}

int parser_expect(struct parser *parser, const char *text)
{
	if (parser_is_at(parser, text))
		return parser_advance(parser);
	if (pyparser_token(parser)->kind == PYTOKEN_END)
		return parser_refuse(parser, "\"%s\" is missing", text);
	return parser_refuse_token(parser);
}

int parser_enter(struct parser *parser)
{
	if (++parser->depth <= PYSYNTAX_DEPTH)
		return 0;
	return parser_refuse(parser, "the expression is nested too deeply");
}
