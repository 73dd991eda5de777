#include "backends/expression/pyexpression.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytensor-pandas.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pysyntax.h"
#include "backends/expression/pyvalue.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"

struct pyexpression {
	char *text;
	struct pysyntax *syntax;
};

struct pyexpression *pyexpression_parse(const char *text, struct error *error)
{
	struct pysyntax *syntax = pysyntax_parse(text, error);
	struct pyexpression *expression;

	if (!syntax)
		return NULL;
	expression = xcalloc(1, sizeof(*expression));
	expression->text = xstrdup(text);
	expression->syntax = syntax;
	return expression;
}

struct pyexpression *pyexpression_parse_condition(const char *text, struct error *error)
{
	struct pyexpression *condition = pyexpression_parse(text, error);

	if (!condition)
		error_prefix(error, "invalid condition '%.60s'", text);
	return condition;
}

void pyexpression_free(struct pyexpression *expression)
{
	if (!expression)
		return;
	pysyntax_free(expression->syntax);
	free(expression->text);
	free(expression);
}

bool pyexpression_is_name(const struct pyexpression *expression)
{
	return expression->syntax->kind == PYSYNTAX_NAME;
}

/*
 * Starts an evaluation. Unless reader->is_still, starts a new memory snapshot, because the process
 * may have run since the last one.
 */
static void pyexpression_begin(struct pyevaluation *evaluation, struct pyreader *reader,
			       const struct pyobject_frame *frame, struct error *error)
{
	if (!reader->is_still)
		memory_begin(reader->memory, false);
	*evaluation = (struct pyevaluation){
		.reader = reader,
		.frame = frame,
		.error = error,
	};
}

int pyexpression_test(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct error *error)
{
	struct pyevaluation evaluation;
	struct pyvalue value;
	int truth = -1;

	pyexpression_begin(&evaluation, reader, frame, error);
	if (!pyevaluate(&evaluation, expression->syntax, &value))
		truth = pyvalue_truth(&evaluation, &value);
	pyevaluation_clear(&evaluation);
	return truth;
}

static int set_name_place(struct pyevaluation *evaluation, const char *name,
			  const struct pyname *found, struct pyexpression_place *place)
{
	bool is_in_dict = found->owner && pytype_has(evaluation->reader, found->owner, PYTYPE_DICT);

	if (!found->place && found->owner)
		return error_set(evaluation->error,
				 "'%s' cannot be watched: its place in the dict is unknown "
				 "(unknown hash function of str in the interpreter)",
				 name);
	if (!found->place)
		return error_set(evaluation->error,
				 "'%s' is a builtin of Python, which cannot be watched", name);
	*place = (struct pyexpression_place){
		.address = found->place,
		.length = 8,
		.is_object = true,
		.owner = found->owner,
		.guard = is_in_dict ? found->owner + PYINDEX_DICT_USED : 0,
		.is_count = is_in_dict,
	};
	return 0;
}

static int place_of_name(struct pyevaluation *evaluation, const char *name,
			 struct pyexpression_place *place)
{
	struct pyname found;
	int result = pyname_find(evaluation, name, &found);

	if (result < 0)
		return -1;
	if (!result)
		return error_set(evaluation->error, "name '%s' is not defined in this frame", name);
	return set_name_place(evaluation, name, &found, place);
}

/*
 * Finds the place of a name in owner, the cell or dict that contained the name when it was last
 * found.
 */
static int place_in_owner(struct pyevaluation *evaluation, const char *name, uint64_t owner,
			  struct pyexpression_place *place)
{
	struct pyreader *reader = evaluation->reader;
	struct pyname found = { .owner = owner };
	struct pytable table;

	if (pytype_is(reader, owner, "cell"))
		found.place = owner + (uint64_t)reader->python->offsets.cell_ref;
	else if (pytable_of_dict(reader, owner, &table) ||
		 pyname_in_table(reader, &table, name, &found))
		return error_set(evaluation->error, "name '%s' no longer exists", name);
	return set_name_place(evaluation, name, &found, place);
}

static int place_of_attribute(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			      const struct pyvalue *object, struct pyexpression_place *place)
{
	struct pyvalue value;

	if (pyattribute_get(evaluation, object, syntax->text, &value, place))
		return -1;
	if (!place->address)
		return error_set(
			evaluation->error,
			"attribute '%s' is not stored in the object, so it cannot be watched",
			syntax->text);
	return 0;
}

static int place_of_index(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			  const struct pyvalue *container, struct pyexpression_place *place)
{
	struct pyvalue index, value;

	if (pyevaluate(evaluation, syntax->items[1], &index) ||
	    pyindex_get(evaluation, container, &index, &value, place))
		return -1;
	if (!place->address)
		return error_set(evaluation->error, "items of %s cannot be watched",
				 pyvalue_type_name(evaluation, container));
	return 0;
}

static int place_of_memory(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			   struct pyexpression_place *place)
{
	int length = syntax->length;

	if (length != 1 && length != 2 && length != 4 && length != 8)
		return error_set(
			evaluation->error,
			"%d bytes cannot be watched: the processor can watch 1, 2, 4 or 8 bytes",
			length);
	if (syntax->address % (uint64_t)length)
		return error_set(
			evaluation->error,
			"0x%" PRIx64
			" is not a multiple of %d: the processor can watch only aligned addresses",
			syntax->address, length);
	*place = (struct pyexpression_place){ .address = syntax->address, .length = length };
	return 0;
}

/* Finds the place of an attribute or item of `object`, which is the value of items[0]. */
static int place_of_part(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			 const struct pyvalue *object, struct pyexpression_place *place)
{
	if (syntax->kind == PYSYNTAX_ATTRIBUTE)
		return place_of_attribute(evaluation, syntax, object, place);
	return place_of_index(evaluation, syntax, object, place);
}

static bool is_part(const struct pysyntax *syntax)
{
	return syntax->kind == PYSYNTAX_ATTRIBUTE || syntax->kind == PYSYNTAX_INDEX;
}

static int refuse_place(const struct pyexpression *expression, struct error *error)
{
	return error_set(
		error,
		"\"%s\" cannot be watched: not a variable, attribute, item or memory address",
		expression->text);
}

static int pyexpression_find_place(struct pyevaluation *evaluation,
				   const struct pyexpression *expression,
				   struct pyexpression_place *place)
{
	const struct pysyntax *syntax = expression->syntax;
	struct pyvalue object;

	if (syntax->kind == PYSYNTAX_NAME)
		return place_of_name(evaluation, syntax->text, place);
	if (syntax->kind == PYSYNTAX_PLACE)
		return place_of_memory(evaluation, syntax, place);
	if (!is_part(syntax))
		return refuse_place(expression, evaluation->error);
	if (pyevaluate(evaluation, syntax->items[0], &object))
		return -1;
	return place_of_part(evaluation, syntax, &object, place);
}

int pyexpression_place(const struct pyexpression *expression, struct pyreader *reader,
		       const struct pyobject_frame *frame, struct pyexpression_place *place,
		       struct error *error)
{
	struct pyevaluation evaluation;
	int result;

	*place = (struct pyexpression_place){ .address = 0 };
	pyexpression_begin(&evaluation, reader, frame, error);
	result = pyexpression_find_place(&evaluation, expression, place);
	pyevaluation_clear(&evaluation);
	return result;
}

int pyexpression_place_again(const struct pyexpression *expression, struct pyreader *reader,
			     uint64_t owner, struct pyexpression_place *place, struct error *error)
{
	const struct pysyntax *syntax = expression->syntax;
	const struct pyobject_frame none = { .address = 0 };
	struct pyevaluation evaluation;
	struct pyvalue object;
	int result = -1;

	*place = (struct pyexpression_place){ .address = 0 };
	pyexpression_begin(&evaluation, reader, &none, error);
	if (syntax->kind == PYSYNTAX_PLACE)
		result = place_of_memory(&evaluation, syntax, place);
	else if (syntax->kind == PYSYNTAX_NAME)
		result = place_in_owner(&evaluation, syntax->text, owner, place);
	else if (!is_part(syntax))
		refuse_place(expression, error);
	else if (!pyvalue_load(&evaluation, owner, &object))
		result = place_of_part(&evaluation, syntax, &object, place);
	pyevaluation_clear(&evaluation);
	return result;
}

bool pyexpression_is_local(const struct pyexpression *expression,
			   const struct pyexpression_place *place)
{
	return expression->syntax->kind == PYSYNTAX_NAME && !place->owner;
}

/*
 * Reads the value of an expression from the process, without running code in the
 * process.
 */

static void pyexpression_read_describe(struct pyevaluation *evaluation, const struct pyvalue *value,
				       struct variable *variable)
{
	struct buffer text = BUFFER_INIT;

	*variable = (struct variable){ .child_count = -1, .kind = VARIABLE_ITEM };
	if (value->address) {
		pyobject_describe(evaluation->reader, value->address, variable);
		return;
	}
	pyvalue_write(evaluation, value, &text);
	variable->value = buffer_take(&text);
	variable->type = xstrdup(pyvalue_type_name(evaluation, value));
}

static int pyexpression_read_read_tensor(struct pyevaluation *evaluation,
					 const struct pyvalue *from,
					 struct pyexpression_value *value)
{
	struct pyreader *reader = evaluation->reader;
	uint64_t object = from->view ? from->whole : from->address;

	value->address = from->address;
	value->source = object;
	value->is_unseen = from->is_unseen;
	value->is_column = from->kind == PYVALUE_SERIES;
	value->column = from->column;
	value->has_tensor = from->view || (object && pytensor_is(reader, object));
	if (!value->has_tensor)
		return 0;
	if (value->is_column   ? pandas_read_column(reader, object, value->column, &value->whole)
	    : value->is_unseen ? pytensor_read_unseen(reader, object, &value->whole)
			       : pytensor_read(reader, object, &value->whole, evaluation->error))
		return -1;
	value->tensor = from->view ? *from->view : value->whole;
	return 0;
}

int pyexpression_read_again(const struct pyexpression_value *value, struct pyreader *reader,
			    struct pytensor *whole)
{
	if (value->is_column)
		return pandas_read_column(reader, value->source, value->column, whole);
	if (value->is_unseen)
		return pytensor_read_unseen(reader, value->source, whole);
	return pytensor_read(reader, value->source, whole, NULL);
}

static int pyexpression_read_take(struct pyevaluation *evaluation, const struct pyvalue *from,
				  struct variable *variable, struct pyexpression_value *value)
{
	*value = (struct pyexpression_value){ .address = 0 };
	if (pyexpression_read_read_tensor(evaluation, from, value))
		return -1;
	pyexpression_read_describe(evaluation, from, variable);
	return 0;
}

int pyexpression_read(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct variable *variable,
		      struct pyexpression_value *value, struct error *error)
{
	struct pyevaluation evaluation;
	struct pyvalue found;
	int result;

	pyexpression_begin(&evaluation, reader, frame, error);
	result = pyevaluate(&evaluation, expression->syntax, &found);
	if (!result)
		result = pyexpression_read_take(&evaluation, &found, variable, value);
	if (!result)
		variable->name = xstrdup(expression->text);
	pyevaluation_clear(&evaluation);
	return result;
}

int pyexpression_read_object(struct pyreader *reader, uint64_t address, struct variable *variable,
			     struct pyexpression_value *value, struct error *error)
{
	const struct pyobject_frame none = { .address = 0 };
	struct pyevaluation evaluation;
	struct pyvalue found;
	int result;

	pyexpression_begin(&evaluation, reader, &none, error);
	result = pyvalue_load(&evaluation, address, &found);
	if (!result)
		result = pyexpression_read_take(&evaluation, &found, variable, value);
	pyevaluation_clear(&evaluation);
	return result;
}

int pyexpression_show(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct variable *variable,
		      struct error *error)
{
	struct pyevaluation evaluation;
	struct pyvalue value;
	int result;

	pyexpression_begin(&evaluation, reader, frame, error);
	result = pyevaluate(&evaluation, expression->syntax, &value);
	if (!result) {
		pyexpression_read_describe(&evaluation, &value, variable);
		variable->name = xstrdup(expression->text);
	}
	pyevaluation_clear(&evaluation);
	return result;
}

/* Tests in which frames the names of an expression are bound. */

/* The search for an expression's names in one frame. */
struct look {
	struct pyevaluation evaluation;
	struct error unused;
	struct pyexpression_search *search;
	size_t number;	  /* index of the current name in the expression */
	bool is_own;	  /* true: only variables of the frame and builtins count */
	bool is_shared;	  /* true: no name so far is a variable of the frame */
	bool is_stranger; /* true: the frame's function lacks a variable of the expression */
};

static bool pyexpression_search_is_builtin(struct look *look, const char *name)
{
	size_t number = look->number++;
	uint64_t value;
	bool is;

	if (number < PYEXPRESSION_NAMES && look->search->builtins[number])
		return look->search->builtins[number] > 0;
	is = !pyevaluation_module(&look->evaluation, "builtins", name, &value);
	if (number < PYEXPRESSION_NAMES)
		look->search->builtins[number] = is ? 1 : -1;
	return is;
}

/* A name that is a variable of the frame counts as the variable, even if it is also a builtin. */
static bool pyexpression_search_is_name(struct look *look, const char *name)
{
	struct pyname found;
	int result = pyname_find_own(&look->evaluation, name, &found);

	if (result > 0)
		look->is_shared = false;
	if (result < 0 || (result > 0 && !found.value))
		return false;
	if (result > 0) {
		look->number++;
		return true;
	}
	if (look->is_own) {
		look->is_stranger = !pyexpression_search_is_builtin(look, name);
		return !look->is_stranger;
	}
	look->number++;
	return pyname_find(&look->evaluation, name, &found) > 0 && found.value;
}

static bool are_names(struct look *look, const struct pysyntax *syntax)
{
	for (size_t i = 0; i < syntax->count; i++)
		if (!are_names(look, syntax->items[i]))
			return false;
	return syntax->kind != PYSYNTAX_NAME || pyexpression_search_is_name(look, syntax->text);
}

static bool each_name(const struct pysyntax *syntax, bool (*each)(const char *name, void *data),
		      void *data)
{
	for (size_t i = 0; i < syntax->count; i++)
		if (!each_name(syntax->items[i], each, data))
			return false;
	return syntax->kind != PYSYNTAX_NAME || each(syntax->text, data);
}

void pyexpression_each_name(const struct pyexpression *expression,
			    bool (*each)(const char *name, void *data), void *data)
{
	each_name(expression->syntax, each, data);
}

static void pyexpression_search_begin(struct look *look, struct pyreader *reader,
				      const struct pyobject_frame *frame,
				      struct pyexpression_search *search, bool is_own)
{
	*look = (struct look){ .search = search, .is_own = is_own, .is_shared = true };
	look->evaluation =
		(struct pyevaluation){ .reader = reader, .frame = frame, .error = &look->unused };
}

static bool is_stranger(const struct pyexpression_search *search, const struct pyname_code *code)
{
	for (size_t i = 0; i < search->stranger_count; i++)
		if (search->strangers[i].code == code->code &&
		    search->strangers[i].names == code->names)
			return true;
	return false;
}

bool pyexpression_is_own(const struct pyexpression *expression, struct pyreader *reader,
			 const struct pyobject_frame *frame, struct pyexpression_search *search)
{
	struct look look;
	struct pyname_code code;
	bool is_function;
	bool result;

	pyexpression_search_begin(&look, reader, frame, search, true);
	is_function = !pyname_code(&look.evaluation, &code);
	if (is_function && is_stranger(search, &code))
		return false;
	result = are_names(&look, expression->syntax);
	if (is_function && look.is_stranger && search->stranger_count < PYEXPRESSION_CODES)
		search->strangers[search->stranger_count++] = code;
	pyevaluation_clear(&look.evaluation);
	return result;
}

bool pyexpression_is_seen(const struct pyexpression *expression, struct pyreader *reader,
			  const struct pyobject_frame *frame, struct pyexpression_search *search)
{
	struct look look;
	uint64_t globals;
	bool result;

	pyexpression_search_begin(&look, reader, frame, search, false);
	if (pyname_globals(&look.evaluation, &globals))
		globals = 0;
	for (size_t i = 0; globals && i < search->judged_count; i++)
		if (search->judged[i].globals == globals && !search->judged[i].is_seen)
			return false;
	result = are_names(&look, expression->syntax);
	pyevaluation_clear(&look.evaluation);
	/*
	 * If no name is a variable of the frame, frames with the same globals give the same
	 * result.
	 */
	if (globals && look.is_shared && search->judged_count < PYEXPRESSION_GLOBALS) {
		search->judged[search->judged_count].globals = globals;
		search->judged[search->judged_count++].is_seen = result;
	}
	return result;
}
