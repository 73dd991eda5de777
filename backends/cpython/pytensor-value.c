/* pytensor-value: the objects that are tensors, and their description in an answer. */
#include "backends/cpython/pytensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pykind.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor-pandas.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/tensor.h"

/* Bytes of a C object in which members are searched. */
#define MEMBERS_MAXIMUM 512
#define REFERENCES_MAXIMUM (UINT64_C(1) << 40)

/* Readers by the name of the pykind row of the object's class. */
static const struct family {
	const char *kind;
	int (*read)(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
	const char *complaint;
} families[] = {
	{ "torch._C.TensorBase", pytensor_read_torch,
	  "The layout of this tensor is not known, or it changed while it was read." },
	{ "torch._C._TensorBase", pytensor_read_torch,
	  "The layout of this tensor is not known, or it changed while it was read." },
	{ "numpy.ndarray", pytensor_read_numpy,
	  "The layout of this array is not known, or it changed while it was read." },
	{ "bytes", pytensor_read_bytes, "These bytes cannot be read." },
	{ "bytearray", pytensor_read_bytearray, "This bytearray cannot be read." },
	{ "array.array", pytensor_read_array, "This array cannot be read." },
	{ "memoryview", pytensor_read_memoryview,
	  "This memoryview cannot be read, or it changed while it was read." },
};

/* Classes written in Python have no pykind row. */
static const struct family series = {
	"", pandas_read_series,
	"What this Series has its values in is not known, or it changed while it was read."
};

static const struct family jax = { "", pytensor_read_jax,
				   "What this array of jax is cannot be told." };

static const struct family *find_family(struct pyreader *reader, uint64_t object,
					struct pytype *type)
{
	if (pytype_of(reader, object, type))
		return NULL;
	if (!type->kind && pytensor_is_jax(reader, type))
		return &jax;
	if (!type->kind)
		return pandas_is_series(reader, type) ? &series : NULL;
	for (size_t i = 0; i < ARRAY_LENGTH(families); i++)
		if (strcmp(families[i].kind, type->kind->name) == 0)
			return &families[i];
	return NULL;
}

/*
 * A freed object has reference count 0, or a pointer to the next free block in its place. From 3.14
 * on the upper bits are flags.
 */
bool pytensor_is_alive(struct pyreader *reader, uint64_t object)
{
	uint64_t count;

	if (pyreader_pointer(reader, object, &count))
		return false;
	count &= UINT64_C(0xffffffffffff);
	return count && count < REFERENCES_MAXIMUM;
}

bool pytensor_is(struct pyreader *reader, uint64_t object)
{
	struct pytype type;

	return find_family(reader, object, &type) != NULL;
}

int pytensor_find_member(struct pyreader *reader, uint64_t object,
			 bool (*is)(struct pyreader *reader, uint64_t object), uint64_t *member)
{
	struct pytype type;
	int64_t size;

	if (pytype_of(reader, object, &type))
		return -1;
	size = type.basic_size < MEMBERS_MAXIMUM ? type.basic_size : MEMBERS_MAXIMUM;
	for (int64_t at = PYREADER_HEAD; at + 8 <= size; at += 8)
		if (!pyreader_pointer(reader, object + (uint64_t)at, member) && *member &&
		    is(reader, *member))
			return 0;
	return -1;
}

static void pytensor_value_name_type(struct pyreader *reader, const struct pytype *type,
				     struct pytensor *tensor)
{
	struct buffer name = BUFFER_INIT;

	if (!pytype_name(reader, type, &name))
		snprintf(tensor->type, sizeof(tensor->type), "%s", name.data);
	buffer_clear(&name);
}

int pytensor_read(struct pyreader *reader, uint64_t object, struct pytensor *tensor,
		  struct error *error)
{
	struct pytype type;
	const struct family *family = find_family(reader, object, &type);

	if (!family)
		return error_set(error, "This is no tensor and no array.");
	if (!pytensor_is_alive(reader, object))
		return error_set(error, "It was freed.");
	if (family->read(reader, object, tensor))
		return error_set(error, "%s", family->complaint);
	pytensor_value_name_type(reader, &type, tensor);
	return 0;
}

bool pytensor_is_same(const struct pytensor *one, const struct pytensor *other)
{
	size_t bytes = (size_t)one->dimension_count * sizeof(one->shape[0]);

	return one->object == other->object && one->local == other->local &&
	       one->impl == other->impl && one->storage == other->storage &&
	       one->data == other->data && one->offset == other->offset &&
	       one->item_size == other->item_size &&
	       strcmp(pytensor_dtype(one), pytensor_dtype(other)) == 0 &&
	       one->dimension_count == other->dimension_count &&
	       memcmp(one->shape, other->shape, bytes) == 0 &&
	       memcmp(one->strides, other->strides, bytes) == 0 &&
	       one->has_mask == other->has_mask && one->mask_object == other->mask_object &&
	       one->mask == other->mask &&
	       memcmp(one->mask_strides, other->mask_strides, bytes) == 0;
}

static char *pytensor_value_text_or_null(const char *text)
{
	return text && *text ? xstrdup(text) : NULL;
}

static char *name_device(const struct pytensor *tensor)
{
	struct buffer text = BUFFER_INIT;
	char *name;

	if (!tensor->device)
		return NULL;
	buffer_append_string(&text, tensor->device);
	if (tensor->device_index >= 0)
		buffer_printf(&text, ":%d", tensor->device_index);
	name = xstrdup(text.data);
	buffer_clear(&text);
	return name;
}

/* -1: unknown */
static int64_t pytensor_value_count_bytes(const struct pytensor *tensor)
{
	int64_t count = tensor->element_count;

	if (count < 0 || (tensor->item_size && count > INT64_MAX / tensor->item_size))
		return -1;
	return count * tensor->item_size;
}

void pytensor_tell(const struct pytensor *tensor, struct tensor *told)
{
	bool is_torch = tensor->family == PYTENSOR_TORCH;

	told->type = pytensor_value_text_or_null(tensor->type);
	told->dtype = xstrdup(pytensor_dtype(tensor));
	told->dimension_count = tensor->dimension_count;
	memcpy(told->shape, tensor->shape, sizeof(told->shape));
	memcpy(told->strides, tensor->strides, sizeof(told->strides));
	told->offset = is_torch ? tensor->offset : -1;
	told->element_count = tensor->element_count;
	told->item_size = tensor->item_size;
	told->byte_count = pytensor_value_count_bytes(tensor);
	told->device = name_device(tensor);
	told->requires_grad = tensor->requires_grad;
	told->grad_fn = pytensor_value_text_or_null(tensor->grad_fn);
	told->storage_bytes = tensor->storage_bytes;
	told->storage_users = tensor->storage_users;
	told->is_parameter = tensor->is_parameter;
	told->placement = pytensor_value_text_or_null(tensor->placement);
	told->shard = pytensor_value_text_or_null(tensor->shard);
	told->unread = pytensor_value_text_or_null(tensor->unread);
	told->has_mask = tensor->has_mask && !tensor->unread;
}
