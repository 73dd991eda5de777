/*
 * pyexpression-read: reads the value of an expression from the process, without running code in the
 * process.
 */
#include "backends/expression/pyexpression-private.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytensor-pandas.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pysyntax.h"
#include "backends/expression/pyvalue.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"

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
