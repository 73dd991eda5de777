#include "backends/expression/pyevaluate.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/expression/pycompare.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pysyntax.h"
#include "backends/expression/pyvalue.h"
#include "backends/expression/pyview.h"
#include "banned.h"
#include "base/array.h"
#include "base/error.h"

static int evaluate_integer(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			    struct pyvalue *value)
{
	size_t count = PYBIG_TEXT_DIGITS(strlen(syntax->text));
	uint32_t *digits = pyevaluation_allocate(evaluation, count * sizeof(*digits));

	*value = (struct pyvalue){ .kind = PYVALUE_INTEGER };
	pybig_parse(&value->integer, digits, syntax->text, syntax->base);
	return 0;
}

static int evaluate_name(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			 struct pyvalue *value)
{
	struct pyname found;
	int result = pyname_find(evaluation, syntax->text, &found);

	if (result < 0)
		return -1;
	if (!result)
		return error_set(evaluation->error, "The name %s is not known in this frame.",
				 syntax->text);
	if (!found.value)
		return error_set(evaluation->error, "The variable %s has no value yet.",
				 syntax->text);
	return pyvalue_load(evaluation, found.value, value);
}

static int evaluate_items(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			  struct pyvalue *value)
{
	struct pyvalue *items = pyevaluation_allocate(evaluation, syntax->count * sizeof(*items));

	for (size_t i = 0; i < syntax->count; i++)
		if (pyevaluate(evaluation, syntax->items[i], &items[i]))
			return -1;
	*value = (struct pyvalue){ .kind = PYVALUE_TUPLE, .items = items, .count = syntax->count };
	if (syntax->kind == PYSYNTAX_LIST)
		value->kind = PYVALUE_LIST;
	else if (syntax->kind == PYSYNTAX_SET)
		value->kind = PYVALUE_SET;
	return 0;
}

static int evaluate_attribute(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			      struct pyvalue *value)
{
	struct pyvalue object;

	if (pyevaluate(evaluation, syntax->items[0], &object))
		return -1;
	return pyattribute_get(evaluation, &object, syntax->text, value, NULL);
}

static int evaluate_index(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			  struct pyvalue *value)
{
	struct pyvalue container, index;

	if (pyevaluate(evaluation, syntax->items[0], &container))
		return -1;
	if (container.kind == PYVALUE_TENSOR || container.kind == PYVALUE_ARRAY)
		return pyview_index(evaluation, &container, syntax->items[1], value);
	if (syntax->items[1]->kind == PYSYNTAX_SLICE)
		return pyslice_get(evaluation, &container, syntax->items[1], value);
	if (pyevaluate(evaluation, syntax->items[1], &index))
		return -1;
	return pyindex_get(evaluation, &container, &index, value, NULL);
}

/* Refuses if the program has rebound the name len. */
static int check_len(struct pyevaluation *evaluation)
{
	struct pyname found;
	uint64_t builtin;
	int result = pyname_find(evaluation, "len", &found);

	if (result < 0)
		return -1;
	if (pyevaluation_module(evaluation, "builtins", "len", &builtin) || !result ||
	    found.value != builtin)
		return error_set(evaluation->error, "len is not Python's own in this frame: "
						    "calling it would run code in the process.");
	return 0;
}

static int evaluate_len(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			struct pyvalue *value)
{
	struct pyvalue object;
	int64_t length;

	if (check_len(evaluation) || pyevaluate(evaluation, syntax->items[0], &object))
		return -1;
	length = pyvalue_length(evaluation, &object);
	if (length < 0)
		return -1;
	pyvalue_set_integer(evaluation, value, length);
	return 0;
}

static int evaluate_item(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			 struct pyvalue *value)
{
	struct pyvalue tensor;

	if (pyevaluate(evaluation, syntax->items[0], &tensor))
		return -1;
	return pyelement_item(evaluation, &tensor, value);
}

static int evaluate_unary(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			  struct pyvalue *value)
{
	struct pyvalue operand;

	if (pyevaluate(evaluation, syntax->items[0], &operand))
		return -1;
	return pyvalue_negate(evaluation, syntax->operator, & operand, value);
}

static int evaluate_binary(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			   struct pyvalue *value)
{
	struct pyvalue left, right;

	if (pyevaluate(evaluation, syntax->items[0], &left) ||
	    pyevaluate(evaluation, syntax->items[1], &right))
		return -1;
	return pyvalue_compute(evaluation, syntax->operator, & left, &right, value);
}

/* A chain ends at its first false comparison; later operands are not evaluated. */
static int evaluate_comparison(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			       struct pyvalue *value)
{
	struct pyvalue left, right;
	int truth = 1;

	if (pyevaluate(evaluation, syntax->items[0], &left))
		return -1;
	for (size_t i = 1; i < syntax->count && truth > 0; i++) {
		if (pyevaluate(evaluation, syntax->items[i], &right))
			return -1;
		truth = pyvalue_compare(evaluation, syntax->items[i]->link, &left, &right);
		left = right;
	}
	if (truth < 0)
		return -1;
	pyvalue_set_boolean(evaluation, value, truth);
	return 0;
}

static int evaluate_not(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			struct pyvalue *value)
{
	struct pyvalue operand;
	int truth;

	if (pyevaluate(evaluation, syntax->items[0], &operand))
		return -1;
	truth = pyvalue_truth(evaluation, &operand);
	if (truth < 0)
		return -1;
	pyvalue_set_boolean(evaluation, value, !truth);
	return 0;
}

/* The value of `and` and `or` is the operand that decides. */
static int evaluate_words(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			  struct pyvalue *value)
{
	int deciding = syntax->kind == PYSYNTAX_OR;

	for (size_t i = 0; i < syntax->count; i++) {
		int truth;

		if (pyevaluate(evaluation, syntax->items[i], value))
			return -1;
		if (i + 1 == syntax->count)
			break;
		truth = pyvalue_truth(evaluation, value);
		if (truth < 0)
			return -1;
		if (truth == deciding)
			break;
	}
	return 0;
}

/* Only the chosen value is evaluated. */
static int evaluate_choice(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			   struct pyvalue *value)
{
	struct pyvalue condition;
	int truth;

	if (pyevaluate(evaluation, syntax->items[0], &condition))
		return -1;
	truth = pyvalue_truth(evaluation, &condition);
	if (truth < 0)
		return -1;
	return pyevaluate(evaluation, syntax->items[truth ? 1 : 2], value);
}

static int evaluate_constant(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			     struct pyvalue *value)
{
	*value = (struct pyvalue){ .kind = PYVALUE_NONE };
	if (syntax->kind != PYSYNTAX_NONE)
		pyvalue_set_boolean(evaluation, value, syntax->kind == PYSYNTAX_TRUE);
	return 0;
}

static int evaluate_float(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			  struct pyvalue *value)
{
	(void)evaluation;
	pyvalue_set_float(value, syntax->number);
	return 0;
}

static int evaluate_string(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			   struct pyvalue *value)
{
	(void)evaluation;
	*value = (struct pyvalue){
		.kind = syntax->kind == PYSYNTAX_BYTES ? PYVALUE_BYTES : PYVALUE_STRING,
		.characters = syntax->characters,
		.count = syntax->character_count,
	};
	return 0;
}

static int evaluate_slice(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			  struct pyvalue *value)
{
	(void)syntax;
	(void)value;
	return error_set(evaluation->error,
			 "A slice or \"...\" stands here for no value: slices are taken from "
			 "outside of list, tuple, str, bytes, tensors and arrays.");
}

static int evaluate_place(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			  struct pyvalue *value)
{
	(void)syntax;
	(void)value;
	return error_set(evaluation->error,
			 "A place in memory can be watched, but it has no value in Python.");
}

static int (*const evaluators[])(struct pyevaluation *evaluation, const struct pysyntax *syntax,
				 struct pyvalue *value) = {
	[PYSYNTAX_NONE] = evaluate_constant,  [PYSYNTAX_TRUE] = evaluate_constant,
	[PYSYNTAX_FALSE] = evaluate_constant, [PYSYNTAX_INTEGER] = evaluate_integer,
	[PYSYNTAX_FLOAT] = evaluate_float,    [PYSYNTAX_STRING] = evaluate_string,
	[PYSYNTAX_BYTES] = evaluate_string,   [PYSYNTAX_TUPLE] = evaluate_items,
	[PYSYNTAX_LIST] = evaluate_items,     [PYSYNTAX_SET] = evaluate_items,
	[PYSYNTAX_NAME] = evaluate_name,      [PYSYNTAX_ATTRIBUTE] = evaluate_attribute,
	[PYSYNTAX_INDEX] = evaluate_index,    [PYSYNTAX_SLICE] = evaluate_slice,
	[PYSYNTAX_ELLIPSIS] = evaluate_slice, [PYSYNTAX_LEN] = evaluate_len,
	[PYSYNTAX_ITEM] = evaluate_item,      [PYSYNTAX_UNARY] = evaluate_unary,
	[PYSYNTAX_BINARY] = evaluate_binary,  [PYSYNTAX_COMPARE] = evaluate_comparison,
	[PYSYNTAX_NOT] = evaluate_not,	      [PYSYNTAX_AND] = evaluate_words,
	[PYSYNTAX_OR] = evaluate_words,	      [PYSYNTAX_CHOICE] = evaluate_choice,
	[PYSYNTAX_PLACE] = evaluate_place,
};

int pyevaluate(struct pyevaluation *evaluation, const struct pysyntax *syntax,
	       struct pyvalue *value)
{
	return evaluators[syntax->kind](evaluation, syntax, value);
}
