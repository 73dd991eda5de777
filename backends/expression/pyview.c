#include "backends/expression/pyview.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytensor-pandas.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pysyntax.h"
#include "backends/expression/pyvalue.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

/* A tensor while an index is applied: dimensions of tensor from `taken` on are not indexed yet. */
struct view {
	struct pyevaluation *evaluation;
	struct pytensor *tensor;
	int64_t shape[PYTENSOR_DIMENSIONS];
	int64_t strides[PYTENSOR_DIMENSIONS];
	int count; /* dimensions in shape and strides */
	int taken;
	bool is_torch;
};

static int refuse_index(struct pyevaluation *evaluation)
{
	return error_set(evaluation->error,
			 "without an agent, a tensor index must be an integer, a slice, ... or "
			 "None (other indices would run code in the process)");
}

static int refuse_strides(struct pyevaluation *evaluation)
{
	return error_set(evaluation->error, "the tensor has invalid strides");
}

static int pyview_add_dimension(struct view *view, int64_t size, int64_t stride)
{
	if (view->count >= PYTENSOR_DIMENSIONS)
		return error_set(view->evaluation->error,
				 "the result has more dimensions than are supported");
	view->shape[view->count] = size;
	view->strides[view->count++] = stride;
	return 0;
}

/* Moves the first element by `steps` steps of the dimension `taken`. */
static int pyview_move(struct view *view, int64_t steps)
{
	struct pytensor *tensor = view->tensor;
	int64_t distance;

	if (pychecked_multiply(steps, tensor->strides[view->taken], &distance))
		return refuse_strides(view->evaluation);
	if (!view->is_torch) {
		tensor->data += (uint64_t)distance;
		return 0;
	}
	if (pychecked_add(tensor->offset, distance, &tensor->offset) || tensor->offset < 0)
		return refuse_strides(view->evaluation);
	return 0;
}

static int pyview_take_number(struct view *view, const struct pyvalue *index)
{
	int64_t size = view->tensor->shape[view->taken];
	int64_t at;

	if (pybig_get(&index->integer, &at) || at < -size || at >= size)
		return error_set(view->evaluation->error,
				 "the index is out of range: dimension %d has size %" PRId64,
				 view->taken, size);
	if (pyview_move(view, at < 0 ? at + size : at))
		return -1;
	view->taken++;
	return 0;
}

/* Evaluates a bound of a slice, and clips the bound to least … most. */
static int read_bound(struct view *view, const struct pysyntax *syntax, int64_t fallback,
		      int64_t least, int64_t most, int64_t *bound)
{
	int64_t size = view->tensor->shape[view->taken];
	struct pyvalue value;

	*bound = fallback;
	if (pyevaluate(view->evaluation, syntax, &value))
		return -1;
	if (value.kind == PYVALUE_NONE)
		return 0;
	if (!pyvalue_is_integer(&value))
		return refuse_index(view->evaluation);
	if (pybig_get(&value.integer, bound))
		*bound = value.integer.is_negative ? INT64_MIN / 2 : INT64_MAX / 2;
	if (*bound < 0 && *bound >= INT64_MIN / 2)
		*bound += size;
	if (*bound < least)
		*bound = least;
	if (*bound > most)
		*bound = most;
	return 0;
}

static int read_step(struct view *view, const struct pysyntax *slice, int64_t *step)
{
	struct pyvalue value;

	*step = 1;
	if (slice->count < 3)
		return 0;
	if (pyevaluate(view->evaluation, slice->items[2], &value))
		return -1;
	if (value.kind == PYVALUE_NONE)
		return 0;
	if (!pyvalue_is_integer(&value) || pybig_get(&value.integer, step) || *step > INT32_MAX ||
	    *step < -INT32_MAX)
		return refuse_index(view->evaluation);
	if (*step == 0)
		return error_set(view->evaluation->error, "slice step cannot be zero");
	if (*step < 0 && view->is_torch)
		return error_set(view->evaluation->error,
				 "torch does not support slices with a negative step");
	return 0;
}

static int pyview_take_slice(struct view *view, const struct pysyntax *slice)
{
	int64_t size = view->tensor->shape[view->taken];
	int64_t start, stop, step, stride, count;
	bool is_back;

	if (read_step(view, slice, &step))
		return -1;
	is_back = step < 0;
	if (read_bound(view, slice->items[0], is_back ? size - 1 : 0, is_back ? -1 : 0,
		       is_back ? size - 1 : size, &start) ||
	    read_bound(view, slice->items[1], is_back ? -1 : size, is_back ? -1 : 0,
		       is_back ? size - 1 : size, &stop))
		return -1;
	count = is_back ? (start - stop - step - 1) / -step : (stop - start + step - 1) / step;
	if (count <= 0) {
		/* For an empty slice numpy ignores start and step, torch does not. */
		count = 0;
		if (!view->is_torch)
			step = 1;
	}
	if (pychecked_multiply(view->tensor->strides[view->taken], step, &stride))
		return refuse_strides(view->evaluation);
	if (((count || view->is_torch) && pyview_move(view, start)) ||
	    pyview_add_dimension(view, count, stride))
		return -1;
	view->taken++;
	return 0;
}

static int take_whole(struct view *view)
{
	const struct pytensor *tensor = view->tensor;

	if (pyview_add_dimension(view, tensor->shape[view->taken], tensor->strides[view->taken]))
		return -1;
	view->taken++;
	return 0;
}

/*
 * Adds a dimension of size 1 for None. The stride of this dimension is never used but is shown, so
 * the stride is set as the library sets it.
 */
static int add_axis(struct view *view)
{
	const struct pytensor *tensor = view->tensor;
	int64_t stride = view->is_torch ? 1 : 0;

	if (view->is_torch && view->taken < tensor->dimension_count &&
	    pychecked_multiply(tensor->shape[view->taken], tensor->strides[view->taken], &stride))
		return refuse_strides(view->evaluation);
	return pyview_add_dimension(view, 1, stride);
}

static int pyview_take_part(struct view *view, const struct pysyntax *part)
{
	struct pyvalue index;

	if (part->kind != PYSYNTAX_SLICE) {
		if (pyevaluate(view->evaluation, part, &index))
			return -1;
		if (index.kind == PYVALUE_NONE)
			return add_axis(view);
		if (index.kind != PYVALUE_INTEGER)
			return refuse_index(view->evaluation);
	}
	if (view->taken >= view->tensor->dimension_count)
		return error_set(view->evaluation->error,
				 "too many indices: the tensor has %d dimensions",
				 view->tensor->dimension_count);
	if (part->kind == PYSYNTAX_SLICE)
		return pyview_take_slice(view, part);
	return pyview_take_number(view, &index);
}

/* Lists the parts of an index: the items of a tuple, or the index itself. */
static size_t list_parts(const struct pysyntax *index, const struct pysyntax *const **parts,
			 const struct pysyntax *const *only)
{
	if (index->kind != PYSYNTAX_TUPLE) {
		*parts = only;
		return 1;
	}
	*parts = (const struct pysyntax *const *)index->items;
	return index->count;
}

/* Returns how many dimensions the parts index; None and "..." are not counted. */
static int count_taken(const struct pysyntax *const *parts, size_t count)
{
	int taken = 0;

	for (size_t i = 0; i < count; i++)
		taken += parts[i]->kind != PYSYNTAX_NONE && parts[i]->kind != PYSYNTAX_ELLIPSIS;
	return taken;
}

static int pyview_take_parts(struct view *view, const struct pysyntax *const *parts, size_t count)
{
	bool has_ellipsis = false;

	for (size_t i = 0; i < count; i++) {
		int rest = count_taken(parts + i, count - i);

		if (parts[i]->kind != PYSYNTAX_ELLIPSIS) {
			if (pyview_take_part(view, parts[i]))
				return -1;
			continue;
		}
		if (has_ellipsis)
			return refuse_index(view->evaluation);
		has_ellipsis = true;
		while (view->taken + rest < view->tensor->dimension_count)
			if (take_whole(view))
				return -1;
	}
	while (view->taken < view->tensor->dimension_count)
		if (take_whole(view))
			return -1;
	return 0;
}

/* A view is a new tensor: no parameter, no grad_fn, and requires_grad is unknown unless false. */
static void become_view(struct pytensor *tensor)
{
	if (tensor->requires_grad > 0)
		tensor->requires_grad = -1;
	tensor->is_parameter = false;
	tensor->grad_fn[0] = '\0';
	if (tensor->family == PYTENSOR_TORCH)
		memcpy(tensor->type, "torch.Tensor", sizeof("torch.Tensor"));
}

static int pyview_settle(struct view *view)
{
	struct pytensor *tensor = view->tensor;

	tensor->dimension_count = view->count;
	tensor->element_count = 1;
	for (int i = 0; i < view->count; i++) {
		tensor->shape[i] = view->shape[i];
		tensor->strides[i] = view->strides[i];
		if (pychecked_multiply(tensor->element_count, view->shape[i],
				       &tensor->element_count))
			return refuse_strides(view->evaluation);
	}
	become_view(tensor);
	return 0;
}

static void set_value(const struct pyvalue *of, const struct pytensor *view, struct pyvalue *value)
{
	*value = (struct pyvalue){
		.kind = of->kind,
		.type = of->type,
		.base = of->base,
		.view = view,
		.whole = of->view ? of->whole : of->address,
		.is_unseen = of->is_unseen,
	};
}

/*
 * Sets value to the only element as a number, if elements of the dtype can be read; else to the
 * view.
 */
static int set_element(struct pyevaluation *evaluation, const struct pyvalue *view,
		       struct pyvalue *value)
{
	struct pyelement element;

	*value = *view;
	if (!pyelement_of_dtype(pytensor_dtype(view->view), &element))
		return 0;
	if (pyelement_index(evaluation, view, NULL, 0, value))
		return -1;
	/* A full index gives a scalar in numpy, a tensor of no dimensions in torch. */
	if (view->kind == PYVALUE_TENSOR) {
		value->view = view->view;
		value->whole = view->whole;
		value->is_unseen = view->is_unseen;
	}
	return 0;
}

int pyview_index(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		 const struct pysyntax *index, struct pyvalue *value)
{
	struct view view = { .evaluation = evaluation };
	const struct pysyntax *const *parts;
	size_t count = list_parts(index, &parts, &index);
	struct pyvalue made;

	view.tensor = pyevaluation_allocate(evaluation, sizeof(*view.tensor));
	view.is_torch = tensor->kind == PYVALUE_TENSOR;
	if (pyelement_open(evaluation, tensor, view.tensor) ||
	    pyview_take_parts(&view, parts, count) || pyview_settle(&view))
		return -1;
	set_value(tensor, view.tensor, &made);
	if (view.count == 0)
		return set_element(evaluation, &made, value);
	*value = made;
	return 0;
}

/*
 * Attributes
 */

static void swap(int64_t *one, int64_t *other)
{
	int64_t kept = *one;

	*one = *other;
	*other = kept;
}

static int get_transposed(struct pyevaluation *evaluation, struct pytensor *tensor,
			  const char *name)
{
	int last = tensor->dimension_count - 1;

	if (strcmp(name, "mT") == 0) {
		if (last < 1)
			return error_set(evaluation->error, "mT needs at least two dimensions");
		swap(&tensor->shape[last], &tensor->shape[last - 1]);
		swap(&tensor->strides[last], &tensor->strides[last - 1]);
	} else {
		for (int i = 0; i < last - i; i++) {
			swap(&tensor->shape[i], &tensor->shape[last - i]);
			swap(&tensor->strides[i], &tensor->strides[last - i]);
		}
	}
	become_view(tensor);
	return 1;
}

static int get_data(struct pyevaluation *evaluation, struct pytensor *tensor, const char *name)
{
	(void)evaluation;
	(void)name;
	become_view(tensor);
	tensor->requires_grad = 0;
	return 1;
}

static int pyview_get_number(struct pyevaluation *evaluation, const struct pytensor *tensor,
			     const char *name, struct pyvalue *value)
{
	bool is_size = strcmp(name, "size") == 0;
	int64_t number = tensor->item_size;

	if (strcmp(name, "requires_grad") == 0) {
		if (tensor->family != PYTENSOR_TORCH)
			return 0;
		if (tensor->requires_grad < 0)
			return error_set(evaluation->error,
					 "requires_grad of the tensor cannot be read");
		pyvalue_set_boolean(evaluation, value, tensor->requires_grad);
		return 1;
	}
	if (is_size && tensor->family == PYTENSOR_TORCH)
		return 0;
	if (is_size)
		number = tensor->element_count;
	else if (strcmp(name, "nbytes") == 0 &&
		 pychecked_multiply(tensor->element_count, number, &number))
		return refuse_strides(evaluation);
	pyvalue_set_integer(evaluation, value, number);
	return 1;
}

static bool pyview_is_number(const char *name)
{
	static const char *const numbers[] = { "requires_grad", "size", "nbytes", "itemsize" };

	for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
		if (strcmp(numbers[i], name) == 0)
			return true;
	return false;
}

int pyview_attribute(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		     const char *name, struct pyvalue *value)
{
	static const struct {
		const char *name;
		/* true: torch only; numpy's attribute of this name means something else */
		bool is_torch;
		int (*get)(struct pyevaluation *evaluation, struct pytensor *tensor,
			   const char *name);
	} views[] = { { "T", false, get_transposed },
		      { "mT", true, get_transposed },
		      { "data", true, get_data } };
	bool is_torch = tensor->kind == PYVALUE_TENSOR;
	struct pytensor *raw = pyevaluation_allocate(evaluation, sizeof(*raw));

	for (size_t i = 0; i < ARRAY_LENGTH(views); i++) {
		if (strcmp(views[i].name, name) != 0 || (views[i].is_torch && !is_torch))
			continue;
		if (pyelement_open(evaluation, tensor, raw) ||
		    views[i].get(evaluation, raw, name) < 0)
			return -1;
		set_value(tensor, raw, value);
		return 1;
	}
	if (!pyview_is_number(name))
		return 0;
	if (pyelement_open(evaluation, tensor, raw))
		return -1;
	return pyview_get_number(evaluation, raw, name, value);
}

void pyview_write(const struct pytensor *view, struct buffer *text)
{
	buffer_printf(text, "%s %s [",
		      view->family == PYTENSOR_TORCH		 ? "tensor"
		      : strcmp(view->type, "pandas.Series") == 0 ? "Series"
								 : "ndarray",
		      pytensor_dtype(view));
	for (int i = 0; i < view->dimension_count; i++)
		buffer_printf(text, "%s%" PRId64, i ? ", " : "", view->shape[i]);
	buffer_append_char(text, ']');
	if (view->device)
		buffer_printf(text, " %s", view->device);
	if (view->device && view->device_index >= 0)
		buffer_printf(text, ":%d", view->device_index);
}

/*
 * Columns of pandas' DataFrames, which __getitem__ and __getattr__ find by their names, and the
 * attribute `values` of a Series.
 */

#define NAME_MAXIMUM 1000

/*
 * True for a DataFrame. Only pandas' own classes count: a subclass of the program may find columns
 * in another way.
 */
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
		return error_set(evaluation->error,
				 "the column cannot be read: it changed during the read (try "
				 "again), or is stored in an unknown way (inject an agent)");
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
				 "without an agent, a column name must be a str or an integer "
				 "(other keys would run code in the process)");
	result = pyseries_append_text(evaluation, index, &name);
	if (!result && name.data && strlen(name.data) != name.length)
		result = error_set(
			evaluation->error,
			"a column name with the character \\0 is not supported without an agent");
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
		return error_set(evaluation->error,
				 "the Series cannot be read: it changed during the read (try "
				 "again), or is stored in an unknown way (inject an agent)");
	if (pyvalue_load(evaluation, view->local, &array))
		return -1;
	if (array.kind != PYVALUE_ARRAY)
		return error_set(
			evaluation->error,
			"the values of the Series are an array of pandas: read the Series itself");
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
