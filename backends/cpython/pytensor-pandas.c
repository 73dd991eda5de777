#include "backends/cpython/pytensor-pandas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

#define COLUMNS_MAXIMUM 100000
#define NAME_MAXIMUM 1000

/*
 * Classes
 */

static bool pytensor_pandas_is_one_of(struct pyreader *reader, const struct pytype *type,
				      const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pytype_derives(reader, type, names[i]))
			return true;
	return false;
}

static const char *const series[] = { "pandas.Series", "pandas.core.series.Series" };
static const char *const frames[] = { "pandas.DataFrame", "pandas.core.frame.DataFrame" };
static const char *const extensions[] = {
	"pandas.api.extensions.ExtensionArray",
	"pandas.core.arrays.base.ExtensionArray",
};

bool pandas_is_series(struct pyreader *reader, const struct pytype *type)
{
	return (type->flags & PYTYPE_HEAP) &&
	       pytensor_pandas_is_one_of(reader, type, series, ARRAY_LENGTH(series));
}

bool pandas_is_frame(struct pyreader *reader, const struct pytype *type)
{
	return (type->flags & PYTYPE_HEAP) &&
	       pytensor_pandas_is_one_of(reader, type, frames, ARRAY_LENGTH(frames));
}

bool pandas_is_plain(struct pyreader *reader, const struct pytype *type)
{
	struct buffer name = BUFFER_INIT;
	bool is_plain = false;

	if ((type->flags & PYTYPE_HEAP) && !pytype_name(reader, type, &name))
		for (size_t i = 0; i < ARRAY_LENGTH(series); i++)
			is_plain |= strcmp(name.data, series[i]) == 0 ||
				    strcmp(name.data, frames[i]) == 0;
	buffer_clear(&name);
	return is_plain;
}

static bool pytensor_pandas_is_of(struct pyreader *reader, uint64_t object, const char *class)
{
	struct pytype type;

	return !pytype_of(reader, object, &type) && pytype_derives(reader, &type, class);
}

static bool pytensor_pandas_is_array(struct pyreader *reader, uint64_t object)
{
	struct pytype type;

	return !pytype_of(reader, object, &type) && type.kind &&
	       strcmp(type.kind->name, "numpy.ndarray") == 0;
}

static bool is_extension(struct pyreader *reader, uint64_t object)
{
	struct pytype type;

	return !pytype_of(reader, object, &type) && (type.flags & PYTYPE_HEAP) &&
	       pytensor_pandas_is_one_of(reader, &type, extensions, ARRAY_LENGTH(extensions));
}

static bool is_values(struct pyreader *reader, uint64_t object)
{
	return pytensor_pandas_is_array(reader, object) || is_extension(reader, object);
}

static bool is_block(struct pyreader *reader, uint64_t object)
{
	return pytensor_pandas_is_of(reader, object, "pandas.core.internals.blocks.Block");
}

/* True for a tuple of blocks; the tuple is empty in a DataFrame without columns. */
static bool is_blocks(struct pyreader *reader, uint64_t object)
{
	uint64_t first;

	return pytype_has(reader, object, PYTYPE_TUPLE) &&
	       (pytuple_count(reader, object) == 0 ||
		(!pytuple_item(reader, object, 0, &first) && is_block(reader, first)));
}

static bool is_list(struct pyreader *reader, uint64_t object)
{
	return pytype_has(reader, object, PYTYPE_LIST);
}

static bool is_placement(struct pyreader *reader, uint64_t object)
{
	return pytensor_pandas_is_of(reader, object, "pandas._libs.internals.BlockPlacement");
}

static bool is_slice(struct pyreader *reader, uint64_t object)
{
	return pytype_is(reader, object, "slice");
}

static bool is_zone(struct pyreader *reader, uint64_t object)
{
	return pytensor_pandas_is_of(reader, object, "pandas.DatetimeTZDtype") ||
	       pytensor_pandas_is_of(reader, object, "pandas.core.dtypes.dtypes.DatetimeTZDtype");
}

/*
 * Values
 */

/* Extension arrays whose elements are not read, by the last part of the class's name. */
static const struct {
	const char *name;
	const char *unread;
} unread[] = {
	{ "Categorical", "the values are categories (stored as codes), which are not supported" },
	{ "PeriodArray", "the values are periods (stored as ordinals), which are not supported" },
	{ "StringArray", PYTENSOR_OBJECTS },
	{ "StringArrayNumpySemantics", PYTENSOR_OBJECTS },
	{ "ArrowStringArray", "the values are text in memory of Arrow, which is not supported" },
	{ "ArrowStringArrayNumpySemantics",
	  "the values are text in memory of Arrow, which is not supported" },
	{ "ArrowExtensionArray", "the values are in memory of Arrow, which is not supported" },
	{ "SparseArray", "the array is sparse: read its sp_values and sp_index" },
	{ "IntervalArray", "the array has intervals: read its left and right" },
};

static const char ANY[] = "the values are in a pandas extension array of an unsupported type";
static const char ZONE[] = "the times have a time zone, which is not supported";

/*
 * Makes a tensor whose shape is unknown and whose elements cannot be read. name: its dtype; why: the
 * reason.
 */
static void pytensor_pandas_refuse(struct pytensor *tensor, const char *name, const char *why)
{
	*tensor = (struct pytensor){ .family = PYTENSOR_NUMPY,
				     .device_index = -1,
				     .element_count = -1,
				     .storage_bytes = -1,
				     .storage_users = -1,
				     .unread = why };
	snprintf(tensor->dtype_text, sizeof(tensor->dtype_text), "%s", *name ? name : "?");
}

/* Reads an array of Int64, Float64 or boolean: values, and a mask of missing values. */
static int read_with_mask(struct pyreader *reader, uint64_t array, struct pytensor *tensor)
{
	uint64_t data, mask;
	const char *why;

	if (pyobject_attribute(reader, array, "_data", &data) ||
	    pyobject_attribute(reader, array, "_mask", &mask) ||
	    !pytensor_pandas_is_array(reader, data) || pytensor_read_numpy(reader, data, tensor))
		return -1;
	why = pytensor_set_mask(reader, mask, tensor);
	if (!tensor->unread)
		tensor->unread = why;
	return 0;
}

static bool is_backed(const char *name)
{
	static const char *const names[] = { "DatetimeArray", "TimedeltaArray",
					     "NumpyExtensionArray", "PandasArray" };

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static const char *pytensor_pandas_find_reason(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(unread); i++)
		if (strcmp(name, unread[i].name) == 0)
			return unread[i].unread;
	return ANY;
}

static int read_extension(struct pyreader *reader, uint64_t array, struct pytensor *tensor)
{
	struct buffer name = BUFFER_INIT;
	const char *last;
	uint64_t data;
	int result = 0;

	if (pyobject_type_name(reader, array, &name)) {
		buffer_clear(&name);
		return -1;
	}
	last = strrchr(name.data, '.');
	last = last ? last + 1 : name.data;
	if (pytensor_pandas_is_of(reader, array, "pandas.core.arrays.masked.BaseMaskedArray"))
		result = read_with_mask(reader, array, tensor);
	else if (!is_backed(last))
		pytensor_pandas_refuse(tensor, last, pytensor_pandas_find_reason(last));
	else if (!pytensor_find_member(reader, array, is_zone, &data))
		pytensor_pandas_refuse(tensor, last, ZONE);
	else if (pytensor_find_member(reader, array, pytensor_pandas_is_array, &data))
		result = -1;
	else
		result = pytensor_read_numpy(reader, data, tensor);
	buffer_clear(&name);
	return result;
}

/* Reads a block's values; each row is a column of the DataFrame. */
static int pytensor_pandas_read_values(struct pyreader *reader, uint64_t block,
				       struct pytensor *tensor)
{
	uint64_t values;

	if (pytensor_find_member(reader, block, is_values, &values) ||
	    !pytensor_is_alive(reader, values) ||
	    (pytensor_pandas_is_array(reader, values) ? pytensor_read_numpy(reader, values, tensor)
						      : read_extension(reader, values, tensor)))
		return -1;
	tensor->local = values;
	return 0;
}

/* The manager (_mgr) of a Series is a Python object; the manager of a DataFrame is a C object. */
static int find_manager(struct pyreader *reader, uint64_t object, uint64_t *manager,
			uint64_t *blocks)
{
	if (pyobject_attribute(reader, object, "_mgr", manager))
		return -1;
	if (!pyobject_attribute(reader, *manager, "blocks", blocks))
		return is_blocks(reader, *blocks) ? 0 : -1;
	return pytensor_find_member(reader, *manager, is_blocks, blocks);
}

int pandas_read_series(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	uint64_t manager, blocks, block;

	if (find_manager(reader, object, &manager, &blocks) || pytuple_count(reader, blocks) != 1 ||
	    pytuple_item(reader, blocks, 0, &block) ||
	    pytensor_pandas_read_values(reader, block, tensor) ||
	    (tensor->element_count >= 0 && tensor->dimension_count != 1))
		return -1;
	tensor->object = object;
	return 0;
}

/*
 * Columns
 */

/* The numbers of the columns in a block: a slice or an array. */
struct placement {
	int64_t start, stop, step; /* step 0: array is used instead */
	struct pytensor array;
};

static int pytensor_pandas_read_slice(struct pyreader *reader, uint64_t slice,
				      struct placement *placement)
{
	uint64_t parts[3];

	/* PySliceObject: start, stop, step; stop None: down to column 0. */
	placement->stop = -1;
	return pyreader_read(reader, slice + PYREADER_HEAD, parts, sizeof(parts)) ||
			       pyobject_integer(reader, parts[0], &placement->start) ||
			       (!pytype_is(reader, parts[1], "NoneType") &&
				pyobject_integer(reader, parts[1], &placement->stop)) ||
			       pyobject_integer(reader, parts[2], &placement->step) ||
			       placement->step == 0 || placement->start < 0 ||
			       placement->start > COLUMNS_MAXIMUM ||
			       placement->step > COLUMNS_MAXIMUM ||
			       placement->step < -COLUMNS_MAXIMUM
		       ? -1
		       : 0;
}

static bool is_row(const struct pytensor *array, const char *dtype)
{
	return strcmp(array->dtype_text, dtype) == 0 && array->dimension_count == 1 &&
	       array->shape[0] <= COLUMNS_MAXIMUM;
}

static int read_placement(struct pyreader *reader, uint64_t block, struct placement *placement)
{
	uint64_t object, part;

	*placement = (struct placement){ .step = 0 };
	if (pytensor_find_member(reader, block, is_placement, &object))
		return -1;
	if (!pytensor_find_member(reader, object, is_slice, &part))
		return pytensor_pandas_read_slice(reader, part, placement);
	return pytensor_find_member(reader, object, pytensor_pandas_is_array, &part) ||
			       pytensor_read_numpy(reader, part, &placement->array) ||
			       !is_row(&placement->array, "int64")
		       ? -1
		       : 0;
}

static int pytensor_pandas_read_number(struct pyreader *reader, const struct pytensor *array,
				       int64_t at, int64_t *number)
{
	return pyreader_read(reader, array->data + (uint64_t)at * (uint64_t)array->strides[0],
			     number, sizeof(*number));
}

/* Returns the row of the column in the block; -1: the block does not have the column. */
static int64_t pytensor_pandas_find_row(struct pyreader *reader, const struct placement *placement,
					int64_t column)
{
	int64_t number;
	int64_t row;

	if (placement->step) {
		row = (column - placement->start) / placement->step;
		return row >= 0 && placement->start + row * placement->step == column &&
				       (placement->step > 0 ? column < placement->stop
							    : column > placement->stop)
			       ? row
			       : -1;
	}
	for (row = 0; row < placement->array.shape[0]; row++)
		if (!pytensor_pandas_read_number(reader, &placement->array, row, &number) &&
		    number == column)
			return row;
	return -1;
}

/* Reduces the tensor of a block to one of its rows: the values of one column. */
static int pytensor_pandas_take_row(struct pytensor *tensor, int64_t row)
{
	if (tensor->element_count < 0 || (tensor->dimension_count == 1 && row == 0))
		return 0;
	if (tensor->dimension_count != 2 || row >= tensor->shape[0])
		return -1;
	tensor->data += (uint64_t)row * (uint64_t)tensor->strides[0];
	tensor->mask += (uint64_t)row * (uint64_t)tensor->mask_strides[0];
	tensor->shape[0] = tensor->shape[1];
	tensor->strides[0] = tensor->strides[1];
	tensor->mask_strides[0] = tensor->mask_strides[1];
	tensor->dimension_count = 1;
	tensor->element_count = tensor->shape[0];
	return 0;
}

int pandas_read_column(struct pyreader *reader, uint64_t frame, int64_t column,
		       struct pytensor *tensor)
{
	uint64_t manager, blocks, block;
	int64_t count;

	if (!pytensor_is_alive(reader, frame) || find_manager(reader, frame, &manager, &blocks))
		return -1;
	count = pytuple_count(reader, blocks);
	for (int64_t i = 0; i < count && i < COLUMNS_MAXIMUM; i++) {
		struct placement placement;
		int64_t row;

		if (pytuple_item(reader, blocks, i, &block) ||
		    read_placement(reader, block, &placement))
			return -1;
		row = pytensor_pandas_find_row(reader, &placement, column);
		if (row < 0)
			continue;
		if (pytensor_pandas_read_values(reader, block, tensor) ||
		    pytensor_pandas_take_row(tensor, row))
			return -1;
		tensor->object = frame;
		snprintf(tensor->type, sizeof(tensor->type), "%s", series[0]);
		return 0;
	}
	return -1;
}

/* Names of the columns */

struct names {
	int64_t count;
	int64_t start, step;   /* members of a RangeIndex; step 0: array is used instead */
	struct pytensor array; /* int64, or addresses of objects */
};

static int pytensor_pandas_read_range(struct pyreader *reader, uint64_t range, struct names *names)
{
	uint64_t parts[4];

	/* rangeobject: start, stop, step, length. */
	return pyreader_read(reader, range + PYREADER_HEAD, parts, sizeof(parts)) ||
			       pyobject_integer(reader, parts[0], &names->start) ||
			       pyobject_integer(reader, parts[2], &names->step) ||
			       pyobject_integer(reader, parts[3], &names->count) || names->step == 0
		       ? -1
		       : 0;
}

static int pytensor_pandas_read_names(struct pyreader *reader, uint64_t frame, struct names *names)
{
	uint64_t manager, blocks, axes, index, data;
	bool is_plain;

	*names = (struct names){ .step = 0 };
	if (find_manager(reader, frame, &manager, &blocks) ||
	    (pyobject_attribute(reader, manager, "axes", &axes) &&
	     pytensor_find_member(reader, manager, is_list, &axes)) ||
	    pylist_item(reader, axes, 0, &index))
		return -1;
	if (!pyobject_attribute(reader, index, "_range", &data))
		return pytensor_pandas_read_range(reader, data, names);
	if (pyobject_attribute(reader, index, "_data", &data))
		return -1;
	/*
	 * String names: an extension array over an array of objects. Periods and times are
	 * extension arrays over integers; these integers are not the names.
	 */
	is_plain = pytensor_pandas_is_array(reader, data);
	if (!is_plain &&
	    (!pytensor_pandas_is_of(reader, data, "pandas._libs.arrays.NDArrayBacked") ||
	     pytensor_find_member(reader, data, pytensor_pandas_is_array, &data)))
		return -1;
	if (pytensor_read_numpy(reader, data, &names->array) ||
	    (!is_row(&names->array, "object") && !(is_plain && is_row(&names->array, "int64"))))
		return -1;
	names->count = names->array.shape[0];
	return 0;
}

/*
 * Sets *object to the column's name; *object 0: the name is *number. -1: unreadable, or the name is
 * NULL.
 */
static int pytensor_pandas_read_name(struct pyreader *reader, const struct names *names,
				     int64_t column, uint64_t *object, int64_t *number)
{
	int64_t word;

	*object = 0;
	*number = (int64_t)((uint64_t)names->start + (uint64_t)column * (uint64_t)names->step);
	if (names->step)
		return 0;
	if (pytensor_pandas_read_number(reader, &names->array, column, &word))
		return -1;
	if (strcmp(names->array.dtype_text, "object") != 0) {
		*number = word;
		return 0;
	}
	*object = (uint64_t)word;
	return *object ? 0 : -1;
}

int64_t pandas_count_columns(struct pyreader *reader, uint64_t frame)
{
	struct names names;

	return pytensor_pandas_read_names(reader, frame, &names) || names.count < 0 ||
			       names.count > COLUMNS_MAXIMUM
		       ? -1
		       : names.count;
}

int pandas_append_name(struct pyreader *reader, uint64_t frame, int64_t column, struct buffer *out)
{
	struct names names;
	uint64_t object;
	int64_t number;

	if (pytensor_pandas_read_names(reader, frame, &names) || column >= names.count ||
	    pytensor_pandas_read_name(reader, &names, column, &object, &number))
		return -1;
	if (object)
		pyobject_repr(reader, object, out);
	else
		buffer_printf(out, "%" PRId64, number);
	return 0;
}

static bool has_text(struct pyreader *reader, uint64_t object, const char *wanted)
{
	struct buffer text = BUFFER_INIT;
	bool is_it = pytype_has(reader, object, PYTYPE_STRING) &&
		     !pyobject_string(reader, object, NAME_MAXIMUM, &text) &&
		     text.length == strlen(wanted) &&
		     (!text.length || memcmp(text.data, wanted, text.length) == 0);

	buffer_clear(&text);
	return is_it;
}

static bool pytensor_pandas_is_name(struct pyreader *reader, const struct names *names,
				    int64_t column, const char *text, int64_t wanted)
{
	uint64_t object;
	int64_t number;

	if (pytensor_pandas_read_name(reader, names, column, &object, &number))
		return false;
	if (text)
		return object && has_text(reader, object, text);
	if (object &&
	    (pytype_is(reader, object, "bool") || pyobject_integer(reader, object, &number)))
		return false;
	return number == wanted;
}

int pandas_find_column(struct pyreader *reader, uint64_t frame, const char *text, int64_t number,
		       int64_t *column, struct error *error)
{
	struct names names;

	*column = -1;
	if (pytensor_pandas_read_names(reader, frame, &names) || names.count > COLUMNS_MAXIMUM)
		return error_set(error,
				 "the column names cannot be read without an agent: inject one");
	for (int64_t i = 0; i < names.count && reader->budget > 0; i++) {
		if (!pytensor_pandas_is_name(reader, &names, i, text, number))
			continue;
		if (*column >= 0)
			return error_set(
				error, "several columns of the DataFrame have the requested name");
		*column = i;
	}
	if (reader->budget == 0)
		return error_set(
			error,
			"the DataFrame has too many columns to read without an agent: inject one");
	if (*column < 0)
		return error_set(error, "no such column in the DataFrame (without an agent, only "
					"str and integer names are compared)");
	return 0;
}
