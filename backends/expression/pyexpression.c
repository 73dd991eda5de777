#include "backends/expression/pyexpression-private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pysyntax.h"
#include "backends/expression/pyvalue.h"
#include "backends/linux/memory.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"

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
		error_prefix(error, "The condition '%.60s' is wrong", text);
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

/* Unless reader->is_still, starts a new memory snapshot, because the process may have run. */
void pyexpression_begin(struct pyevaluation *evaluation, struct pyreader *reader,
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
				 "Where %s stands is not known: this interpreter hashes text in "
				 "another way.",
				 name);
	if (!found->place)
		return error_set(evaluation->error,
				 "%s is a name of Python itself: where it stands is not watched.",
				 name);
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
		return error_set(evaluation->error, "The name %s is not known in this frame.",
				 name);
	return set_name_place(evaluation, name, &found, place);
}

/* Finds the place of a name in the cell or dict that contained the name before. */
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
		return error_set(evaluation->error, "The name %s is not there any more.", name);
	return set_name_place(evaluation, name, &found, place);
}

static int place_of_attribute(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			      const struct pyvalue *object, struct pyexpression_place *place)
{
	struct pyvalue value;

	if (pyattribute_get(evaluation, object, syntax->text, &value, place))
		return -1;
	if (!place->address)
		return error_set(evaluation->error,
				 "%s is not kept in the object itself: there is nothing to be "
				 "watched there.",
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
		return error_set(evaluation->error,
				 "Items of %s have no place that could be watched.",
				 pyvalue_type_name(evaluation, container));
	return 0;
}

static int place_of_memory(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			   struct pyexpression_place *place)
{
	int length = syntax->length;

	if (length != 1 && length != 2 && length != 4 && length != 8)
		return error_set(evaluation->error,
				 "A place of %d bytes cannot be watched: the processor watches 1, "
				 "2, 4 or 8.",
				 length);
	if (syntax->address % (uint64_t)length)
		return error_set(evaluation->error,
				 "0x%" PRIx64
				 " is no multiple of %d: the processor watches only such places.",
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
	return error_set(error,
			 "Only a variable, an attribute, an item or a place in memory can be "
			 "watched, and \"%s\" is none.",
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
