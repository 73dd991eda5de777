/*
 * pyelement-place: the addresses of elements of tensors and arrays, and the few attributes of
 * tensors that are known without running code.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyvalue.h"
#include "backends/expression/pyview.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

bool pyelement_is_plain(struct pyreader *reader, const struct pyvalue *tensor)
{
	static const char *const plain[] = { "torch.Tensor", "torch.nn.parameter.Parameter",
					     "numpy.ndarray" };
	struct buffer name = BUFFER_INIT;
	struct pytype type;
	bool is_plain = false;

	if (!pytype_read(reader, tensor->type, &type) && !pytype_name(reader, &type, &name))
		for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
			is_plain |= strcmp(name.data, plain[i]) == 0;
	buffer_clear(&name);
	return is_plain;
}

static int pyelement_place_read_tensor(struct pyreader *reader, const struct pyvalue *value,
				       struct pytensor *tensor)
{
	if (value->view) {
		*tensor = *value->view;
		return 0;
	}
	if (value->kind == PYVALUE_TENSOR)
		return pytensor_read_torch(reader, value->address, tensor);
	return pytensor_read_numpy(reader, value->address, tensor);
}

int pyelement_open(struct pyevaluation *evaluation, const struct pyvalue *value,
		   struct pytensor *tensor)
{
	if (value->view && value->view->has_mask)
		return error_set(evaluation->error,
				 "What has a mask is read from outside only as a whole.");
	if (value->view) {
		*tensor = *value->view;
		return 0;
	}
	if (!value->address || !pyelement_is_plain(evaluation->reader, value))
		return error_set(evaluation->error,
				 "%s is a class of its own over a tensor: what it does would have "
				 "to run in the process.",
				 pyvalue_type_name(evaluation, value));
	if (pytensor_read(evaluation->reader, value->address, tensor, NULL))
		return error_set(evaluation->error, "The layout of this %s is not known.",
				 pyvalue_type_name(evaluation, value));
	return 0;
}

int64_t pyelement_length(struct pyreader *reader, const struct pyvalue *value)
{
	struct pytensor tensor;

	if (pyelement_place_read_tensor(reader, value, &tensor) || !tensor.dimension_count)
		return -1;
	return tensor.shape[0];
}

static int find_element(struct pyevaluation *evaluation, const struct pytensor *tensor,
			struct pyelement *element)
{
	if (!pyelement_of_dtype(pytensor_dtype(tensor), element))
		return error_set(evaluation->error,
				 "Elements of type %s are not compared from outside.",
				 pytensor_dtype(tensor));
	element->is_torch = tensor->device != NULL;
	if (tensor->device && strcmp(tensor->device, "cpu") != 0)
		return error_set(evaluation->error,
				 "The tensor lies on %s: its elements cannot be read from outside.",
				 tensor->device);
	if (!tensor->data)
		return error_set(
			evaluation->error,
			"Where the tensor's elements lie is not known of this version of torch.");
	return 0;
}

/*
 * Adds the index's distance from the dimension's start to *distance: elements (torch) or bytes
 * (numpy).
 */
static int step_index(struct pyevaluation *evaluation, const struct pytensor *tensor, int dimension,
		      const struct pyvalue *index, int64_t *distance)
{
	int64_t size = tensor->shape[dimension];
	int64_t at, step;

	if (index->kind != PYVALUE_INTEGER || pybig_get(&index->integer, &at))
		return error_set(evaluation->error,
				 "An element is found by whole numbers, not by %s.",
				 pyvalue_type_name(evaluation, index));
	if (at < -size || at >= size)
		return error_set(evaluation->error,
				 "Index %" PRId64 " is out of range: dimension %d has %" PRId64 ".",
				 at, dimension, size);
	if (at < 0)
		at += size;
	if (pychecked_multiply(at, tensor->strides[dimension], &step) ||
	    pychecked_add(*distance, step, distance))
		return error_set(evaluation->error, "The tensor's strides make no sense.");
	return 0;
}

int pyelement_place(struct pyevaluation *evaluation, const struct pyvalue *value,
		    const struct pyvalue *indices, size_t count, struct pyelement *element,
		    uint64_t *address)
{
	struct pytensor tensor;
	int64_t distance = 0;

	if (pyelement_open(evaluation, value, &tensor) ||
	    find_element(evaluation, &tensor, element))
		return -1;
	if (count && count != (size_t)tensor.dimension_count)
		return error_set(
			evaluation->error,
			"Only single elements are read from outside: this one takes %d indices.",
			tensor.dimension_count);
	if (!count && tensor.element_count != 1)
		return error_set(evaluation->error,
				 "A tensor of %" PRId64 " elements is not one number.",
				 tensor.element_count);
	for (size_t i = 0; i < count; i++)
		if (step_index(evaluation, &tensor, (int)i, &indices[i], &distance))
			return -1;
	if (element->is_torch) {
		if (pychecked_add(distance, tensor.offset, &distance) ||
		    pychecked_multiply(distance, pyelement_size(element), &distance))
			return error_set(evaluation->error, "The tensor's strides make no sense.");
	}
	*address = tensor.data + (uint64_t)distance;
	return 0;
}

int pyelement_index(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		    const struct pyvalue *indices, size_t count, struct pyvalue *value)
{
	struct pyelement element;
	uint64_t address;

	if (pyelement_place(evaluation, tensor, indices, count, &element, &address))
		return -1;
	*value = (struct pyvalue){ .kind = PYVALUE_ELEMENT, .element = element };
	return pyelement_load(evaluation, address, value);
}

int pyelement_item(struct pyevaluation *evaluation, const struct pyvalue *tensor,
		   struct pyvalue *value)
{
	if (tensor->kind == PYVALUE_ELEMENT) {
		*value = *tensor;
	} else if (tensor->kind != PYVALUE_TENSOR && tensor->kind != PYVALUE_ARRAY) {
		return error_set(evaluation->error,
				 "item() is answered only of tensors and arrays, and this is %s.",
				 pyvalue_type_name(evaluation, tensor));
	} else if (pyelement_index(evaluation, tensor, NULL, 0, value)) {
		return -1;
	}
	pyelement_make_plain(value);
	return 0;
}

static int get_shape(struct pyevaluation *evaluation, const struct pytensor *tensor,
		     struct pyvalue *value)
{
	size_t count = (size_t)tensor->dimension_count;
	struct pyvalue *items = pyevaluation_allocate(evaluation, count * sizeof(*items));

	for (size_t i = 0; i < count; i++)
		pyvalue_set_integer(evaluation, &items[i], tensor->shape[i]);
	*value = (struct pyvalue){ .kind = PYVALUE_TUPLE, .items = items, .count = count };
	return 1;
}

static int get_ndim(struct pyevaluation *evaluation, const struct pytensor *tensor,
		    struct pyvalue *value)
{
	pyvalue_set_integer(evaluation, value, tensor->dimension_count);
	return 1;
}

/* Each dtype, such as torch.float32, is a single object, an attribute of module torch. */
static int get_dtype(struct pyevaluation *evaluation, const struct pytensor *tensor,
		     struct pyvalue *value)
{
	uint64_t object = tensor->dtype_object;

	if (!object && pyevaluation_module(evaluation, "torch", pytensor_dtype(tensor), &object))
		return error_set(evaluation->error, "torch.%s cannot be found in the process.",
				 pytensor_dtype(tensor));
	return pyvalue_load(evaluation, object, value) ? -1 : 1;
}

/* backward() has created the gradient in C++, and no Python object refers to the gradient yet. */
static int set_unseen(struct pyevaluation *evaluation, uint64_t object, struct pyvalue *value)
{
	struct pytensor *gradient = pyevaluation_allocate(evaluation, sizeof(*gradient));

	if (pytensor_read_unseen(evaluation->reader, object, gradient))
		return error_set(evaluation->error, "The gradient cannot be read.");
	value->view = gradient;
	value->whole = object;
	value->is_unseen = true;
	return 1;
}

static int get_gradient(struct pyevaluation *evaluation, uint64_t object, struct pyvalue *value)
{
	bool has_gradient;
	uint64_t gradient;

	if (pytensor_gradient(evaluation->reader, object, &has_gradient, &gradient))
		return error_set(evaluation->error,
				 "Where the gradient is, is not known of this version of torch.");
	*value = (struct pyvalue){ .kind = PYVALUE_NONE };
	if (!has_gradient)
		return 1;
	value->kind = PYVALUE_TENSOR;
	if (!gradient)
		return set_unseen(evaluation, object, value);
	return pyvalue_load(evaluation, gradient, value) ? -1 : 1;
}

int pyelement_attribute(struct pyevaluation *evaluation, const struct pyvalue *value,
			const char *name, struct pyvalue *result)
{
	static const struct {
		const char *name;
		int (*get)(struct pyevaluation *evaluation, const struct pytensor *tensor,
			   struct pyvalue *value);
	} attributes[] = { { "shape", get_shape }, { "ndim", get_ndim }, { "dtype", get_dtype } };
	bool is_gradient = value->kind == PYVALUE_TENSOR && strcmp(name, "grad") == 0;
	struct pytensor tensor;

	for (size_t i = 0; i < ARRAY_LENGTH(attributes); i++) {
		if (strcmp(attributes[i].name, name) != 0)
			continue;
		if (pyelement_open(evaluation, value, &tensor))
			return -1;
		return attributes[i].get(evaluation, &tensor, result);
	}
	if (!is_gradient)
		return pyview_attribute(evaluation, value, name, result);
	if (pyelement_open(evaluation, value, &tensor))
		return -1;
	return get_gradient(evaluation, value->address, result);
}
