/*
 * pytensor-jax: arrays of jax. The elements lie in a buffer of XLA, whose address and order only
 * the library knows. So type and shape are read from the Python object, and no element.
 */
#include "backends/cpython/pytensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/array.h"

/* A larger size of one dimension is implausible. */
#define SIZE_LIMIT (INT64_C(1) << 48)

static const char *const arrays[] = { "jaxlib._jax.ArrayImpl", "jaxlib.xla_extension.ArrayImpl" };

static const char ARRAY[] = "it is an array of jax, whose buffer only the library knows: an agent "
			    "reads it, or from outside a variable with numpy.asarray() of it";
static const char TRACER[] = "jax traces a function: it stands for an array, and has no elements";

static bool is_tracer(struct pyreader *reader, const struct pytype *type)
{
	return pytype_derives(reader, type, "jax._src.core.Tracer");
}

bool pytensor_is_jax(struct pyreader *reader, const struct pytype *type)
{
	for (size_t i = 0; i < ARRAY_LENGTH(arrays); i++)
		if (pytype_derives(reader, type, arrays[i]))
			return true;
	return is_tracer(reader, type);
}

static bool is_shaped(struct pyreader *reader, uint64_t object)
{
	struct pytype type;

	return !pytype_of(reader, object, &type) &&
	       (pytype_derives(reader, &type, "jax._src.core.ShapedArray") ||
		pytype_derives(reader, &type, "jax.core.ShapedArray"));
}

/* Sets shape, and the strides of a contiguous array. */
static int pytensor_jax_read_shape(struct pyreader *reader, uint64_t shape, struct pytensor *tensor)
{
	int64_t count = pytuple_count(reader, shape);
	int64_t step = tensor->item_size;
	uint64_t item;

	if (count < 0 || count > PYTENSOR_DIMENSIONS)
		return -1;
	tensor->dimension_count = (int)count;
	tensor->element_count = 1;
	for (int64_t i = count; i-- > 0;) {
		int64_t *size = &tensor->shape[i];

		if (pytuple_item(reader, shape, i, &item) || pyobject_integer(reader, item, size) ||
		    *size < 0 || *size > SIZE_LIMIT ||
		    (*size &&
		     (step > INT64_MAX / *size || tensor->element_count > INT64_MAX / *size)))
			return -1;
		tensor->strides[i] = step;
		step *= *size;
		tensor->element_count *= *size;
	}
	return 0;
}

int pytensor_read_jax(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	uint64_t shaped, dtype, shape;
	struct pytype type;

	*tensor = (struct pytensor){ .family = PYTENSOR_NUMPY,
				     .device_index = -1,
				     .object = object,
				     .local = object,
				     .element_count = -1,
				     .storage_bytes = -1,
				     .storage_users = -1,
				     .unread = ARRAY };
	snprintf(tensor->dtype_text, sizeof(tensor->dtype_text), "?");
	if (pytype_of(reader, object, &type))
		return -1;
	if (is_tracer(reader, &type)) {
		tensor->unread = TRACER;
		return 0;
	}
	if (pytensor_find_member(reader, object, is_shaped, &shaped) ||
	    pyobject_attribute(reader, shaped, "dtype", &dtype) ||
	    pyobject_attribute(reader, shaped, "shape", &shape))
		return 0;
	tensor->unread = NULL;
	if (pytensor_set_dtype(reader, dtype, tensor) ||
	    pytensor_jax_read_shape(reader, shape, tensor))
		return -1;
	tensor->unread = ARRAY;
	return 0;
}
