/*
 * Columns of pandas' DataFrames, which __getitem__ and __getattr__ find by their names, and the
 * attribute `values` of a Series.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytensor-pandas.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyvalue.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

#define NAME_MAXIMUM 1000

/* Only pandas' own classes count: a subclass of the program may find columns in another way. */
static bool is_frame(struct pyreader *reader, const struct pyvalue *object)
{
	struct pytype type;

	return object->address && !pytype_read(reader, object->type, &type) &&
	       pandas_is_plain(reader, &type) && pandas_is_frame(reader, &type);
}

static bool is_series(struct pyreader *reader, const struct pyvalue *object)
{
	struct pytype type;

	return object->address && !pytype_read(reader, object->type, &type) &&
	       pandas_is_plain(reader, &type) && pandas_is_series(reader, &type);
}

static int get_column(struct pyevaluation *evaluation, const struct pyvalue *frame,
		      const char *text, int64_t number, struct pyvalue *value)
{
	struct pytensor *view = pyevaluation_allocate(evaluation, sizeof(*view));
	int64_t column;

	if (pandas_find_column(evaluation->reader, frame->address, text, number, &column,
			       evaluation->error))
		return -1;
	if (pandas_read_column(evaluation->reader, frame->address, column, view))
		return error_set(evaluation->error, "What the DataFrame has this column in is not "
						    "known, or it changed while it was read.");
	*value = (struct pyvalue){
		.kind = PYVALUE_SERIES,
		.view = view,
		.whole = frame->address,
		.column = column,
	};
	return 1;
}

static int pyseries_append_text(struct pyevaluation *evaluation, const struct pyvalue *string,
				struct buffer *out)
{
	const uint32_t *characters;
	size_t count;

	if (pyvalue_characters(evaluation, string, &characters, &count))
		return -1;
	for (size_t i = 0; i < count && i < NAME_MAXIMUM; i++)
		text_put_codepoint(out, (int32_t)characters[i]);
	return 0;
}

int pyseries_index(struct pyevaluation *evaluation, const struct pyvalue *object,
		   const struct pyvalue *index, struct pyvalue *value)
{
	struct buffer name = BUFFER_INIT;
	int64_t number = 0;
	int result;

	if (!is_frame(evaluation->reader, object))
		return 0;
	if (index->kind == PYVALUE_INTEGER && !pybig_get(&index->integer, &number))
		return get_column(evaluation, object, NULL, number, value);
	if (index->kind != PYVALUE_STRING)
		return error_set(evaluation->error,
				 "A column is found from outside by a name that is text or a whole "
				 "number; all else would run code in the process.");
	result = pyseries_append_text(evaluation, index, &name);
	if (!result && name.data && strlen(name.data) != name.length)
		result = error_set(
			evaluation->error,
			"A column is found from outside by a name without the character \\0.");
	if (!result)
		result = get_column(evaluation, object, name.data ? name.data : "", 0, value);
	buffer_clear(&name);
	return result;
}

/* Gets the numpy array that stores the values of a Series; an array of another type is refused. */
static int get_values(struct pyevaluation *evaluation, const struct pyvalue *series,
		      struct pyvalue *value)
{
	struct pytensor *view = pyevaluation_allocate(evaluation, sizeof(*view));
	struct pyvalue array;

	if (series->view)
		*view = *series->view;
	else if (pandas_read_series(evaluation->reader, series->address, view))
		return error_set(evaluation->error, "What the Series has its values in is not "
						    "known, or it changed while it was read.");
	if (pyvalue_load(evaluation, view->local, &array))
		return -1;
	if (array.kind != PYVALUE_ARRAY)
		return error_set(evaluation->error, "The values of this Series are an array of "
						    "pandas: ask for the Series itself.");
	if (!series->view) {
		*value = array;
		return 1;
	}
	snprintf(view->type, sizeof(view->type), "numpy.ndarray");
	view->object = view->local;
	*value = (struct pyvalue){
		.kind = PYVALUE_ARRAY,
		.view = view,
		.whole = view->local,
	};
	return 1;
}

int pyseries_attribute(struct pyevaluation *evaluation, const struct pyvalue *object,
		       const char *name, bool is_unknown, struct pyvalue *value)
{
	if (strcmp(name, "values") == 0 &&
	    (object->kind == PYVALUE_SERIES || is_series(evaluation->reader, object)))
		return get_values(evaluation, object, value);
	if (!is_unknown || !is_frame(evaluation->reader, object))
		return 0;
	return get_column(evaluation, object, name, 0, value);
}
