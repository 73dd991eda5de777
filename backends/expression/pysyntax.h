/*
 * pysyntax: parses the supported part of Python's expressions into a tree, bounded in length, depth
 * and number of nodes. Calls, lambda, comprehensions, assignments and other syntax are refused with
 * an error that names the column, counted in characters from 1.
 */
#ifndef BACKENDS_EXPRESSION_PYSYNTAX_H
#define BACKENDS_EXPRESSION_PYSYNTAX_H

#include <stddef.h>
#include <stdint.h>

struct error;

#define PYSYNTAX_LENGTH 4096 /* bytes of an expression, at most */
#define PYSYNTAX_DEPTH 100   /* depth of the tree and nesting of brackets, at most */

enum pysyntax_kind {
	PYSYNTAX_NONE,
	PYSYNTAX_TRUE,
	PYSYNTAX_FALSE,
	PYSYNTAX_INTEGER, /* digits in `text`, their base in `base` */
	PYSYNTAX_FLOAT,
	PYSYNTAX_STRING, /* in `characters`, like BYTES */
	PYSYNTAX_BYTES,
	PYSYNTAX_TUPLE, /* in `items`, like LIST and SET */
	PYSYNTAX_LIST,
	PYSYNTAX_SET,
	PYSYNTAX_NAME,	    /* in `text` */
	PYSYNTAX_ATTRIBUTE, /* items[0] . text */
	PYSYNTAX_INDEX,	    /* items[0] [ items[1] ] */
	PYSYNTAX_SLICE,	    /* in `items`: start, stop, perhaps step; only as an index */
	PYSYNTAX_ELLIPSIS,  /* "...", only as an index */
	PYSYNTAX_LEN,	    /* len(items[0]) */
	PYSYNTAX_ITEM,	    /* items[0] .item() */
	PYSYNTAX_UNARY,	    /* operator items[0] */
	PYSYNTAX_BINARY,    /* items[0] operator items[1] */
	PYSYNTAX_COMPARE,   /* items[0] items[1].link items[1] … */
	PYSYNTAX_NOT,	    /* not items[0] */
	PYSYNTAX_AND,	    /* operands in `items`, like OR */
	PYSYNTAX_OR,
	PYSYNTAX_CHOICE, /* in `items`: condition, value if true, value if false */
	PYSYNTAX_PLACE,	 /* *0xADDRESS:LENGTH, always the whole expression */
};

enum pyoperator {
	PYOPERATOR_EQUAL,
	PYOPERATOR_NOT_EQUAL,
	PYOPERATOR_LESS,
	PYOPERATOR_LESS_EQUAL,
	PYOPERATOR_GREATER,
	PYOPERATOR_GREATER_EQUAL,
	PYOPERATOR_IS,
	PYOPERATOR_IS_NOT,
	PYOPERATOR_IN,
	PYOPERATOR_NOT_IN,
	/* arithmetic and bits */
	PYOPERATOR_OR,
	PYOPERATOR_XOR,
	PYOPERATOR_AND,
	PYOPERATOR_LEFT,
	PYOPERATOR_RIGHT,
	PYOPERATOR_ADD,
	PYOPERATOR_SUBTRACT,
	PYOPERATOR_MULTIPLY,
	PYOPERATOR_DIVIDE,
	PYOPERATOR_FLOOR_DIVIDE,
	PYOPERATOR_MODULO,
	PYOPERATOR_POWER,
	PYOPERATOR_INVERT, /* unary operator; ADD and SUBTRACT may be unary, too */
};

struct pysyntax {
	enum pysyntax_kind kind;
	enum pyoperator operator;
	enum pyoperator link; /* comparison operator before this operand of a PYSYNTAX_COMPARE */
	int column;
	int depth; /* height of this subtree; 1: a leaf */
	char *text;
	int base;
	double number;
	uint32_t *characters;
	size_t character_count;
	uint64_t address; /* PYSYNTAX_PLACE: address of `length` bytes */
	int length;
	struct pysyntax **items;
	size_t count;
	size_t capacity;
};

/* Parses an expression. Returns NULL and sets error on failure. */
struct pysyntax *pysyntax_parse(const char *text, struct error *error);
void pysyntax_free(struct pysyntax *syntax);
/* Returns the operator as text: "==", "not in" … */
const char *pyoperator_name(enum pyoperator operator);

#endif
