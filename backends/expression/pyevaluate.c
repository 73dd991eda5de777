#include "backends/expression/pyevaluate.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pynumber.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pyscope.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pywriter.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyexpression.h"
#include "backends/expression/pysyntax.h"
#include "backends/expression/pyvalue.h"
#include "backends/expression/pyview.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"

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
		return error_set(evaluation->error, "name '%s' is not defined in this frame",
				 syntax->text);
	if (!found.value)
		return error_set(evaluation->error, "variable '%s' has no value yet", syntax->text);
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
		return error_set(evaluation->error,
				 "cannot call len without an agent (in this frame, len is not the "
				 "builtin, and its code would run in the process)");
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
	return error_set(evaluation->error, "a slice or \"...\" is not supported here: only list, "
					    "tuple, str, bytes, tensors and arrays can be sliced");
}

static int evaluate_place(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			  struct pyvalue *value)
{
	(void)syntax;
	(void)value;
	return error_set(
		evaluation->error,
		"a memory address (*0xADDRESS:LENGTH) can be watched, but has no Python value");
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

/*
 * Resolves names as the compiler does: the frame's own variables and cells, the mapping of a module
 * or class body, globals, builtins.
 */

struct wanted {
	struct pyreader *reader;
	const char *name;
};

static bool pyname_is_wanted(uint64_t key, void *data)
{
	const struct wanted *wanted = data;

	return pystring_equals(wanted->reader, key, wanted->name);
}

int pyname_in_table(struct pyreader *reader, const struct pytable *table, const char *name,
		    struct pyname *found)
{
	struct wanted wanted = { .reader = reader, .name = name };
	uint64_t hash;

	if (!pyhash_text(reader, name, &hash) &&
	    !pytable_locate(reader, table, hash, pyname_is_wanted, &wanted, &found->place) &&
	    !pyreader_pointer(reader, found->place, &found->value))
		return found->value ? 0 : -1;
	/*
	 * The interpreter hashes differently: comparing all keys finds the value, but not the
	 * value's place.
	 */
	found->place = 0;
	return pytable_find(reader, table, name, &found->value);
}

static int find_in_dict(struct pyreader *reader, uint64_t dict, const char *name,
			struct pyname *found)
{
	struct pytable table;

	found->owner = dict;
	if (pytable_of_dict(reader, dict, &table))
		return -1;
	return pyname_in_table(reader, &table, name, found);
}

/*
 * Searches the frame's variables; an unbound variable of an inlined comprehension does not
 * count.
 */
static bool find_in_frame(const struct pyscope *scope, const char *name, struct pyname *found)
{
	for (size_t i = 0; i < scope->count; i++) {
		const struct pyvariable *variable = &scope->variables[i];

		if ((variable->kind & PYSCOPE_HIDDEN && !variable->value) ||
		    !pystring_equals(scope->reader, variable->name, name))
			continue;
		*found = (struct pyname){
			.value = variable->value,
			.place = variable->place,
			.owner = variable->cell,
		};
		return true;
	}
	return false;
}

static int find_interpreter(struct pyevaluation *evaluation, uint64_t *interpreter)
{
	const struct cpython *python = evaluation->reader->python;
	uint64_t thread = evaluation->frame->thread;

	if (thread)
		return pyreader_pointer(evaluation->reader,
					thread + (uint64_t)python->offsets.ts_interp, interpreter);
	return pyreader_pointer(evaluation->reader,
				python->runtime + (uint64_t)python->offsets.rt_interp_main,
				interpreter);
}

int pyevaluation_module(struct pyevaluation *evaluation, const char *module, const char *name,
			uint64_t *value)
{
	uint64_t interpreter;

	if (find_interpreter(evaluation, &interpreter))
		return -1;
	return pymodule_find(evaluation->reader, interpreter, module, name, value);
}

static int find_in_scope(struct pyevaluation *evaluation, const struct pyscope *scope,
			 const char *name, struct pyname *found)
{
	struct pyreader *reader = evaluation->reader;
	uint64_t locals, globals;

	*found = (struct pyname){ .value = 0 };
	/* In a class body, the class's mapping comes before the cells of enclosing functions. */
	if (!scope->is_function && !pyscope_locals(scope, &locals) &&
	    !find_in_dict(reader, locals, name, found))
		return 1;
	if (find_in_frame(scope, name, found))
		return 1;
	if (pyscope_globals(scope, &globals))
		return error_set(evaluation->error, "the names of the frame cannot be read");
	if (!find_in_dict(reader, globals, name, found))
		return 1;
	*found = (struct pyname){ .value = 0 };
	return !pyevaluation_module(evaluation, "builtins", name, &found->value);
}

int pyname_find_own(struct pyevaluation *evaluation, const char *name, struct pyname *found)
{
	struct pyscope scope;
	uint64_t locals;
	int result = -1;

	*found = (struct pyname){ .value = 0 };
	if (!pyscope_read(&scope, evaluation->reader, evaluation->frame->address))
		result = (!scope.is_function && !pyscope_locals(&scope, &locals) &&
			  !find_in_dict(evaluation->reader, locals, name, found)) ||
			 find_in_frame(&scope, name, found);
	pyscope_clear(&scope);
	return result;
}

int pyname_globals(struct pyevaluation *evaluation, uint64_t *globals)
{
	const struct pyscope scope = {
		.reader = evaluation->reader,
		.frame = evaluation->frame->address,
	};

	return pyscope_globals(&scope, globals);
}

int pyname_code(struct pyevaluation *evaluation, struct pyname_code *code)
{
	const struct pyscope scope = {
		.reader = evaluation->reader,
		.frame = evaluation->frame->address,
	};

	return pyscope_function(&scope, &code->code, &code->names);
}

int pyname_find(struct pyevaluation *evaluation, const char *name, struct pyname *found)
{
	struct pyscope scope;
	int result;

	if (pyscope_read(&scope, evaluation->reader, evaluation->frame->address))
		result = error_set(evaluation->error, "the stack has changed: try again");
	else
		result = find_in_scope(evaluation, &scope, name, found);
	pyscope_clear(&scope);
	return result;
}

/* Writes computed values, which are not objects of the process, as repr() prints them. */

/*
 * Maximum number of items written, and length of the text in bytes from which on no further item
 * begins, respectively. A list of the process has the same limits (pywriter.h).
 */
#define ITEMS_MAXIMUM 100
#define TEXT_MAXIMUM (VARIABLE_VALUE_MAXIMUM - 64)

static void write_characters(struct pyevaluation *evaluation, const struct pyvalue *value,
			     struct buffer *text)
{
	struct pywriter writer;

	pywriter_init(&writer, evaluation->reader, text);
	pystring_put(&writer, value->characters, value->count, value->kind == PYVALUE_BYTES);
}

/* Writes None, True, False, an int or a float. */
static void write_plain(const struct pyvalue *value, struct buffer *text)
{
	if (value->kind == PYVALUE_NONE)
		buffer_append_string(text, "None");
	else if (value->kind == PYVALUE_BOOLEAN)
		buffer_append_string(text, value->integer.count ? "True" : "False");
	else if (value->kind == PYVALUE_INTEGER)
		pyinteger_put(text, value->integer.is_negative, value->integer.digits,
			      (int64_t)value->integer.count);
	else
		pyfloat_put(text, value->number, PYFLOAT_DOUBLE);
}

static void pyshow_write_items(struct pyevaluation *evaluation, const struct pyvalue *value,
			       const char *brackets, struct buffer *text)
{
	size_t before = text->length;

	buffer_append_char(text, brackets[0]);
	for (size_t i = 0; i < value->count; i++) {
		buffer_append_string(text, i ? ", " : "");
		if (i == ITEMS_MAXIMUM || text->length - before > TEXT_MAXIMUM) {
			buffer_append_string(text, PYWRITER_CUT);
			break;
		}
		pyvalue_write(evaluation, &value->items[i], text);
	}
	if (value->count == 1 && value->kind == PYVALUE_TUPLE)
		buffer_append_char(text, ',');
	buffer_append_char(text, brackets[1]);
}

void pyvalue_write(struct pyevaluation *evaluation, const struct pyvalue *value,
		   struct buffer *text)
{
	if (value->address) {
		pyobject_repr(evaluation->reader, value->address, text);
		return;
	}
	switch (value->kind) {
	case PYVALUE_NONE:
	case PYVALUE_BOOLEAN:
	case PYVALUE_INTEGER:
	case PYVALUE_FLOAT:
		write_plain(value, text);
		return;
	case PYVALUE_STRING:
	case PYVALUE_BYTES:
		write_characters(evaluation, value, text);
		return;
	case PYVALUE_TUPLE:
		pyshow_write_items(evaluation, value, "()", text);
		return;
	case PYVALUE_LIST:
		pyshow_write_items(evaluation, value, "[]", text);
		return;
	case PYVALUE_SET:
		pyshow_write_items(evaluation, value, "{}", text);
		return;
	case PYVALUE_ELEMENT:
		pyelement_write(value, text);
		return;
	case PYVALUE_TENSOR:
		if (value->view)
			break;
		buffer_append_string(text, "<tensor without a Python object>");
		return;
	case PYVALUE_OBJECT:
	case PYVALUE_DICT:
	case PYVALUE_RANGE:
	case PYVALUE_DEQUE:
	case PYVALUE_BUFFER:
	case PYVALUE_ARRAY:
	case PYVALUE_SERIES:
		break;
	}
	if (value->view)
		pyview_write(value->view, text);
	else
		buffer_append_string(text, PYWRITER_UNKNOWN);
}
