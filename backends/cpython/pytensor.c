/* pytensor: the objects that are tensors, and their description in an answer. */
#include "backends/cpython/pytensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor-pandas.h"
#include "backends/cpython/pytensor-torch.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "backends/cpython/tensor-layout.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/dtype.h"
#include "protocol/tensor.h"

/* Bytes of a C object in which members are searched. */
#define MEMBERS_MAXIMUM 512
#define REFERENCES_MAXIMUM (UINT64_C(1) << 40)

/* A reader for each kind of tensor; kind: the name in the pykind row of the object's class. */
static const struct family {
	const char *kind;
	int (*read)(struct pyreader *reader, uint64_t object, struct pytensor *tensor);
	const char *complaint;
} families[] = {
	{ "torch._C.TensorBase", pytensor_read_torch,
	  "the tensor cannot be read: it changed during the read (try again), or its memory layout "
	  "is unknown (inject an agent)" },
	{ "torch._C._TensorBase", pytensor_read_torch,
	  "the tensor cannot be read: it changed during the read (try again), or its memory layout "
	  "is unknown (inject an agent)" },
	{ "numpy.ndarray", pytensor_read_numpy,
	  "the array cannot be read: it changed during the read (try again), or its memory layout "
	  "is unknown (inject an agent)" },
	{ "bytes", pytensor_read_bytes,
	  "the bytes object cannot be read: it may have been freed during the read (try again)" },
	{ "bytearray", pytensor_read_bytearray,
	  "the bytearray cannot be read: it may have changed during the read (try again)" },
	{ "array.array", pytensor_read_array,
	  "the array cannot be read: it changed during the read (try again), or its format is not "
	  "supported" },
	{ "memoryview", pytensor_read_memoryview,
	  "the memoryview cannot be read: it changed during the read (try again), or its format is "
	  "not supported" },
};

/* Classes written in Python have no pykind row, so no kind. */
static const struct family series = { "", pandas_read_series,
				      "the Series cannot be read: it changed during the read (try "
				      "again), or is stored in an unknown way (inject an agent)" };

static const struct family jax = { "", pytensor_read_jax,
				   "the jax array cannot be read: it changed during the read (try "
				   "again), or its dtype is not supported" };

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
 * In a freed object the reference count is 0, or overwritten by a pointer to the next free block.
 * From 3.14 on the upper bits are flags.
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
		return error_set(error, "the object is not a tensor or an array");
	if (!pytensor_is_alive(reader, object))
		return error_set(error, "the object was freed");
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

/* Returns the number of bytes of all elements; -1: unknown. */
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

/*
 * A tensor in one line, as variables show it.
 */

static void write_shape(struct buffer *out, const struct pytensor *tensor)
{
	buffer_append_char(out, '[');
	for (int i = 0; i < tensor->dimension_count; i++)
		buffer_printf(out, "%s%" PRId64, i ? ", " : "", tensor->shape[i]);
	buffer_append_char(out, ']');
}

/*
 * Writes the last part of the class's name ("Parameter"). For the class named plain, or if the name
 * is unreadable, writes shown ("tensor").
 */
static void pytensor_write_write_class(struct pywriter *writer, uint64_t object, const char *plain,
				       const char *shown)
{
	struct buffer name = BUFFER_INIT;
	const char *dot;

	if (pyobject_type_name(writer->reader, object, &name)) {
		buffer_clear(&name);
		pywriter_text(writer, shown);
		return;
	}
	dot = strrchr(name.data, '.');
	pywriter_text(writer, strcmp(name.data, plain) == 0 ? shown : dot ? dot + 1 : name.data);
	buffer_clear(&name);
}

static void write_unknown(struct pywriter *writer, uint64_t object)
{
	pywriter_text(writer, "<");
	if (pyobject_type_name(writer->reader, object, writer->out))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	buffer_printf(writer->out, " at 0x%" PRIx64 ">", object);
}

void pytensor_write_torch(struct pywriter *writer, uint64_t object)
{
	struct pytensor tensor;

	if (pytensor_read_torch(writer->reader, object, &tensor)) {
		write_unknown(writer, object);
		return;
	}
	pytensor_write_write_class(writer, object, "torch.Tensor", "tensor");
	buffer_printf(writer->out, " %s ", pytensor_dtype(&tensor));
	write_shape(writer->out, &tensor);
	buffer_printf(writer->out, " %s", tensor.device);
	if (tensor.device_index >= 0)
		buffer_printf(writer->out, ":%d", tensor.device_index);
	if (tensor.requires_grad > 0)
		pywriter_text(writer, " requires_grad");
}

void pytensor_write_numpy(struct pywriter *writer, uint64_t object)
{
	struct pytensor tensor;

	if (pytensor_read_numpy(writer->reader, object, &tensor)) {
		write_unknown(writer, object);
		return;
	}
	pytensor_write_write_class(writer, object, "numpy.ndarray", "ndarray");
	buffer_printf(writer->out, " %s ", pytensor_dtype(&tensor));
	write_shape(writer->out, &tensor);
}

void pytensor_write_array(struct pywriter *writer, uint64_t object)
{
	struct pytensor tensor;

	if (pytensor_read_array(writer->reader, object, &tensor)) {
		write_unknown(writer, object);
		return;
	}
	pytensor_write_write_class(writer, object, "array.array", "array");
	buffer_printf(writer->out, " %s ", pytensor_dtype(&tensor));
	write_shape(writer->out, &tensor);
}

/* THPDtype: the type's number in one byte, then its name. */
void pytensor_write_dtype(struct pywriter *writer, uint64_t object)
{
	const char *name = NULL;
	uint8_t number;

	if (!pyreader_read(writer->reader, object + PYREADER_HEAD, &number, 1))
		name = pytensor_dtype_name(number);
	if (name)
		buffer_printf(writer->out, "torch.%s", name);
	else
		write_unknown(writer, object);
}

/* THPDevice: type and index, a byte each. */
void pytensor_write_device(struct pywriter *writer, uint64_t object)
{
	const char *name = NULL;
	int8_t bytes[2];

	if (!pyreader_read(writer->reader, object + PYREADER_HEAD, bytes, sizeof(bytes)))
		name = pytensor_device_name(bytes[0]);
	if (!name) {
		write_unknown(writer, object);
		return;
	}
	buffer_printf(writer->out, "device(type='%s'", name);
	if (bytes[1] >= 0)
		buffer_printf(writer->out, ", index=%d", bytes[1]);
	pywriter_text(writer, ")");
}

void pytensor_write_size(struct pywriter *writer, uint64_t object)
{
	static const struct pybrackets brackets = { "torch.Size([", "])", "...", "torch.Size([])" };
	int64_t count = pytuple_count(writer->reader, object);

	if (count < 0) {
		write_unknown(writer, object);
		return;
	}
	if (!pywriter_open(writer, object, count, &brackets))
		return;
	for (int64_t i = 0; i < count && pywriter_next(writer, i); i++) {
		uint64_t item;

		if (pytuple_item(writer->reader, object, i, &item))
			item = 0;
		pywriter_object(writer, item);
	}
	pywriter_close(writer, &brackets);
}

/* Names of element types and devices by torch's numbers. */

/* c10::ScalarType by number (torch/headeronly/core/ScalarType.h). */
static const struct {
	const char *name;
	int size; /* bytes, as in torch's itemsize */
} dtypes[] = {
	{ "uint8", 1 },
	{ "int8", 1 },
	{ "int16", 2 },
	{ "int32", 4 },
	{ "int64", 8 },
	{ "float16", 2 },
	{ "float32", 4 },
	{ "float64", 8 },
	{ "complex32", 4 },
	{ "complex64", 8 },
	{ "complex128", 16 },
	{ "bool", 1 },
	{ "qint8", 1 },
	{ "quint8", 1 },
	{ "qint32", 4 },
	{ "bfloat16", 2 },
	{ "quint4x2", 1 },
	{ "quint2x4", 1 },
	{ "bits1x8", 1 },
	{ "bits2x4", 1 },
	{ "bits4x2", 1 },
	{ "bits8", 1 },
	{ "bits16", 2 },
	{ "float8_e5m2", 1 },
	{ "float8_e4m3fn", 1 },
	{ "float8_e5m2fnuz", 1 },
	{ "float8_e4m3fnuz", 1 },
	{ "uint16", 2 },
	{ "uint32", 4 },
	{ "uint64", 8 },
	{ "uint1", 1 },
	{ "uint2", 1 },
	{ "uint3", 1 },
	{ "uint4", 1 },
	{ "uint5", 1 },
	{ "uint6", 1 },
	{ "uint7", 1 },
	{ "int1", 1 },
	{ "int2", 1 },
	{ "int3", 1 },
	{ "int4", 1 },
	{ "int5", 1 },
	{ "int6", 1 },
	{ "int7", 1 },
	{ "float8_e8m0fnu", 1 },
	{ "float4_e2m1fn_x2", 1 },
};

/*
 * c10::DeviceType by number (torch/headeronly/core/DeviceType.h). is_counted: a machine may have
 * several devices of this type, so an index above 0 is valid.
 */
static const struct device {
	const char *name;
	bool is_counted;
} devices[] = {
	{ "cpu", false },    { "cuda", true },	  { "mkldnn", false },
	{ "opengl", false }, { "opencl", false }, { "ideep", false },
	{ "hip", false },    { "fpga", false },	  { "maia", true },
	{ "xla", true },     { "vulkan", false }, { "metal", false },
	{ "xpu", true },     { "mps", false },	  { "meta", false },
	{ "hpu", true },     { "ve", true },	  { "lazy", true },
	{ "ipu", true },     { "mtia", true },	  { "privateuseone", true },
};

const char *pytensor_dtype(const struct pytensor *tensor)
{
	return tensor->dtype ? tensor->dtype : tensor->dtype_text;
}

const char *pytensor_dtype_name(int number)
{
	if (number < 0 || (size_t)number >= ARRAY_LENGTH(dtypes))
		return NULL;
	return dtypes[number].name;
}

const char *pytensor_device_name(int number)
{
	if (number < 0 || (size_t)number >= ARRAY_LENGTH(devices))
		return NULL;
	return devices[number].name;
}

int torch_dtype_size(int number)
{
	return pytensor_dtype_name(number) ? dtypes[number].size : 0;
}

bool torch_device_is_counted(int number)
{
	return pytensor_device_name(number) && devices[number].is_counted;
}

/* The addresses of a tensor's elements. */

/* Adds torch's offset to the address and converts strides to bytes; -1: overflow. */
static int scale_torch(const struct pytensor *tensor, struct tensor_layout *layout)
{
	int64_t limit = INT64_MAX / tensor->item_size;

	if (tensor->offset < 0 || tensor->offset > limit)
		return -1;
	layout->address += (uint64_t)tensor->offset * (uint64_t)tensor->item_size;
	for (int i = 0; i < layout->dimension_count; i++) {
		if (tensor->strides[i] > limit || tensor->strides[i] < -limit)
			return -1;
		layout->strides[i] = tensor->strides[i] * tensor->item_size;
	}
	return 0;
}

int pytensor_layout(const struct pytensor *tensor, pid_t pid, struct tensor_layout *layout,
		    struct error *error)
{
	const char *name = pytensor_dtype(tensor);
	const struct dtype *dtype = dtype_find(name);

	if (tensor->unread)
		return error_set(error, "the elements cannot be read: %s", tensor->unread);
	if (!dtype)
		return error_set(error, "elements of type %s are not supported", name);
	if (tensor->item_size <= 0)
		return error_set(error, "the elements have no size");
	*layout = (struct tensor_layout){
		.pid = pid,
		.address = tensor->data,
		.dtype = dtype,
		.is_swapped = dtype_is_swapped_name(name),
		.item_size = tensor->item_size,
		.dimension_count = tensor->dimension_count,
		.has_mask = tensor->has_mask,
		.mask_address = tensor->mask,
	};
	memcpy(layout->shape, tensor->shape, sizeof(layout->shape));
	memcpy(layout->strides, tensor->strides, sizeof(layout->strides));
	memcpy(layout->mask_strides, tensor->mask_strides, sizeof(layout->mask_strides));
	if (tensor->family == PYTENSOR_TORCH && scale_torch(tensor, layout))
		return error_set(error, "the tensor has invalid strides");
	return tensor_layout_check(layout, error);
}
