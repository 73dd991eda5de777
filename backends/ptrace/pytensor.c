#include "backends/ptrace/pytensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ptrace/pyreader.h"
#include "banned.h"
#include "base/array.h"

/* Elements along one dimension: more are not believed. */
#define SIZE_LIMIT (INT64_C(1) << 48)

/* c10::ScalarType by number (torch/headeronly/core/ScalarType.h). */
static const struct {
	const char *name;
	int size; /* bytes, as torch tells them */
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
 * c10::DeviceType by number (torch/headeronly/core/DeviceType.h), and whether
 * tensors lie on more than the first of a kind.
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

/*
 * TensorImpl: the pointer back, then sizes and strides (a count, then ten
 * words, or a pointer to more), then at fixed distances the rest.
 */
#define IMPL_BYTES 192
#define INLINE_DIMENSIONS 5
#define SIZES 8	  /* behind the pointer back */
#define OFFSET 88 /* behind the sizes, and so are these */
#define ELEMENTS 96
#define DTYPE 104
#define DEVICE 106
#define GRAD 40 /* in AutogradMeta */
#define GRAD_FN 48

/*
 * The device is an optional: its flag is the first of three bytes
 * (c10::optional, up to 2.3) or the last (std::optional), and it is set.
 */
enum flag { FLAG_UNKNOWN, FLAG_LAST };

static const struct layout {
	int back;	   /* pointer back to the Python object */
	int autograd;	   /* AutogradMeta, behind Storage; -1: not known */
	int requires_grad; /* in AutogradMeta */
	enum flag device_flag;
} layouts[] = {
	{ 48, 24, 128, FLAG_LAST }, /* 2.13, 2.14 */
	{ 56, -1, -1, FLAG_UNKNOWN },
	{ 64, 32, 136, FLAG_UNKNOWN }, /* 1.13 */
};

/* The word behind an object's head, or the next: at::Tensor, MaybeOwned. */
static const int impl_places[] = { 16, 24 };

/* The lowest bit of the pointer back says who owns whom. */
static const struct layout *find_layout(const uint8_t *impl, uint64_t object)
{
	for (size_t i = 0; i < ARRAY_LENGTH(layouts); i++)
		if ((pyreader_word(impl, layouts[i].back) & ~UINT64_C(1)) ==
		    object)
			return &layouts[i];
	return NULL;
}

static const struct layout *find_impl(struct pyreader *reader, uint64_t object,
				      uint8_t *impl)
{
	for (size_t i = 0; i < ARRAY_LENGTH(impl_places); i++) {
		const struct layout *layout;
		uint64_t address;

		if (pyreader_pointer(reader, object + (uint64_t)impl_places[i],
				     &address) ||
		    address % 8 ||
		    pyreader_read(reader, address, impl, IMPL_BYTES))
			continue;
		layout = find_layout(impl, object);
		if (layout)
			return layout;
	}
	return NULL;
}

/* Sizes that are not negative and multiply to the number of elements. */
static int check_sizes(const struct pytensor *tensor)
{
	int64_t product = 1;

	for (int i = 0; i < tensor->dimension_count; i++) {
		int64_t size = tensor->shape[i];

		if (size < 0 || size > SIZE_LIMIT)
			return -1;
		if (size && product > INT64_MAX / size)
			return -1;
		product *= size;
	}
	return product == tensor->element_count ? 0 : -1;
}

static int read_words(struct pyreader *reader, uint64_t address, int count,
		      int64_t *words)
{
	if (count == 0)
		return 0;
	return pyreader_read(reader, address, words,
			     (size_t)count * sizeof(*words));
}

static int read_sizes(struct pyreader *reader, const uint8_t *sizes,
		      struct pytensor *tensor)
{
	uint64_t count = pyreader_word(sizes, 0);
	size_t bytes = (size_t)count * 8;
	uint64_t outside;

	if (count > PYTENSOR_DIMENSIONS)
		return -1;
	tensor->dimension_count = (int)count;
	if (count <= INLINE_DIMENSIONS) {
		memcpy(tensor->shape, sizes + 8, bytes);
		memcpy(tensor->strides, sizes + 8 + 8 * INLINE_DIMENSIONS,
		       bytes);
		return 0;
	}
	outside = pyreader_word(sizes, 8);
	return read_words(reader, outside, (int)count, tensor->shape) ||
			       read_words(reader, outside + bytes, (int)count,
					  tensor->strides)
		       ? -1
		       : 0;
}

/* A kind and an index that go together. */
static bool is_device(const uint8_t *device)
{
	int index = (int8_t)device[1];

	if (device[0] >= ARRAY_LENGTH(devices) || index < -1)
		return false;
	return index <= 0 || devices[device[0]].is_counted;
}

/* Where both readings make sense but differ (xpu:1, cuda:12) it is "?". */
static int read_device(const uint8_t *bytes, const struct layout *layout,
		       struct pytensor *tensor)
{
	bool may_be_last = bytes[2] == 1 && is_device(bytes);
	bool may_be_first = layout->device_flag != FLAG_LAST && bytes[0] == 1 &&
			    is_device(bytes + 1);
	const uint8_t *device = may_be_last ? bytes : bytes + 1;

	if (!may_be_last && !may_be_first)
		return -1;
	if (may_be_last && may_be_first && bytes[0] != bytes[1]) {
		tensor->device = "?";
		return 0;
	}
	tensor->device = devices[device[0]].name;
	tensor->device_index = (int8_t)device[1];
	return 0;
}

static int read_requires_grad(struct pyreader *reader, const uint8_t *impl,
			       const struct layout *layout)
{
	uint64_t meta, function;
	uint8_t flag;

	if (layout->autograd < 0)
		return -1;
	meta = pyreader_word(impl, layout->autograd);
	if (!meta)
		return 0;
	if (pyreader_pointer(reader, meta + GRAD_FN, &function))
		return -1;
	if (function)
		return 1;
	if (pyreader_read(reader, meta + (uint64_t)layout->requires_grad, &flag,
			  1) ||
	    flag > 1)
		return -1;
	return flag;
}

/* 0: it has none that is known, as on a device of a kind of its own. */
static uint64_t read_data(struct pyreader *reader, const uint8_t *impl,
			  const struct layout *layout)
{
	uint64_t storage, data;

	if (layout->autograd < 0)
		return 0;
	/* Both objects begin with a vtable and the same counts. */
	storage = pyreader_word(impl, layout->autograd - 8);
	if (!storage || storage % 8 ||
	    pyreader_pointer(reader, storage + (uint64_t)layout->autograd - 8,
			     &data))
		return 0;
	return data;
}

int pytensor_read_torch(struct pyreader *reader, uint64_t object,
		      struct pytensor *tensor)
{
	uint8_t impl[IMPL_BYTES];
	const struct layout *layout = find_impl(reader, object, impl);
	const uint8_t *sizes;
	uint16_t dtype;

	*tensor = (struct pytensor){ .family = PYTENSOR_TORCH,
				     .device_index = -1,
				     .object = object,
				     .local = object,
				     .storage_bytes = -1,
				     .storage_users = -1 };
	if (!layout)
		return -1;
	sizes = impl + layout->back + SIZES;
	memcpy(&tensor->offset, sizes + OFFSET, sizeof(tensor->offset));
	memcpy(&tensor->element_count, sizes + ELEMENTS,
	       sizeof(tensor->element_count));
	memcpy(&dtype, sizes + DTYPE, sizeof(dtype));
	if (dtype >= ARRAY_LENGTH(dtypes) || tensor->offset < 0 ||
	    read_sizes(reader, sizes, tensor) || check_sizes(tensor) ||
	    read_device(sizes + DEVICE, layout, tensor))
		return -1;
	tensor->dtype = dtypes[dtype].name;
	tensor->item_size = dtypes[dtype].size;
	tensor->requires_grad = read_requires_grad(reader, impl, layout);
	tensor->data = read_data(reader, impl, layout);
	if (!tensor->data)
		tensor->unread = "where its elements lie is not known";
	if (strcmp(tensor->device, "cpu") != 0)
		tensor->unread = "it lies on a device: only the agent, in the "
				 "process, can read it";
	return 0;
}

/*
 * PyArrayObject: data, a count of dimensions, dimensions, strides, base,
 * descriptor (numpy/ndarraytypes.h). PyArray_Descr: typeobj, kind, type,
 * byteorder, flags, type_num, then elsize: four bytes up to 1.x, eight in 2.x
 * behind eight of flags.
 */
struct array {
	uint64_t data;
	int32_t dimension_count, padding;
	uint64_t dimensions, strides, base, descriptor;
};
struct descriptor {
	uint64_t type;
	char kind, letter, byte_order, flags;
	int32_t number;
	int32_t old_size, old_alignment;
	int64_t new_size;
};

static int name_dtype(struct pytensor *tensor, const struct descriptor *is)
{
	static const struct {
		char kind;
		int size; /* 0: any */
		const char *name;
	} names[] = {
		{ 'b', 1, "bool" },	   { 'i', 1, "int8" },
		{ 'i', 2, "int16" },	   { 'i', 4, "int32" },
		{ 'i', 8, "int64" },	   { 'u', 1, "uint8" },
		{ 'u', 2, "uint16" },	   { 'u', 4, "uint32" },
		{ 'u', 8, "uint64" },	   { 'f', 2, "float16" },
		{ 'f', 4, "float32" },	   { 'f', 8, "float64" },
		{ 'f', 16, "longdouble" }, { 'c', 8, "complex64" },
		{ 'c', 16, "complex128" }, { 'O', 0, "object" },
		{ 'M', 0, "datetime64" },  { 'm', 0, "timedelta64" },
		{ 'U', 0, "str" },	   { 'S', 0, "bytes" },
		{ 'V', 0, "void" },	   { 'T', 0, "StringDType" },
	};
	/* Of those that have one name at most one size can be right. */
	bool is_old = is->old_size > 0 && is->old_size <= 1 << 20 &&
		      is->old_alignment > 0 && is->old_alignment <= 64;
	int64_t size = is_old ? is->old_size : is->new_size;

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (names[i].kind != is->kind ||
		    (names[i].size && names[i].size != size))
			continue;
		snprintf(tensor->dtype_text, sizeof(tensor->dtype_text), "%s%s",
			 is->byte_order == '>' ? ">" : "", names[i].name);
		tensor->item_size = size;
		return 0;
	}
	return -1;
}

int pytensor_read_numpy(struct pyreader *reader, uint64_t object,
		      struct pytensor *tensor)
{
	struct array array;
	struct descriptor descriptor;

	*tensor = (struct pytensor){ .family = PYTENSOR_NUMPY,
				     .device_index = -1,
				     .object = object,
				     .local = object,
				     .storage_bytes = -1,
				     .storage_users = -1 };
	if (pyreader_read(reader, object + PYREADER_HEAD, &array,
			  sizeof(array)) ||
	    array.dimension_count < 0 ||
	    array.dimension_count > PYTENSOR_DIMENSIONS ||
	    pyreader_read(reader, array.descriptor + PYREADER_HEAD, &descriptor,
			  sizeof(descriptor)) ||
	    name_dtype(tensor, &descriptor) ||
	    read_words(reader, array.dimensions, array.dimension_count,
		       tensor->shape) ||
	    read_words(reader, array.strides, array.dimension_count,
		       tensor->strides))
		return -1;
	tensor->dimension_count = array.dimension_count;
	tensor->data = array.data;
	tensor->dtype_object = array.descriptor;
	tensor->element_count = 1;
	for (int i = 0; i < tensor->dimension_count; i++) {
		int64_t size = tensor->shape[i];

		if (size < 0 || size > SIZE_LIMIT ||
		    (size && tensor->element_count > INT64_MAX / size))
			return -1;
		tensor->element_count *= size;
	}
	return 0;
}

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

/* A tensor that is not defined is on no device. */
static bool is_undefined(const uint8_t *impl, const struct layout *layout)
{
	const uint8_t *device = impl + layout->back + SIZES + DEVICE;

	return layout->device_flag == FLAG_LAST ? !device[2]
						: !device[0] && !device[2];
}

int pytensor_gradient(struct pyreader *reader, uint64_t object,
		    bool *has_gradient, uint64_t *gradient)
{
	uint8_t impl[IMPL_BYTES];
	const struct layout *layout = find_impl(reader, object, impl);
	uint64_t meta, address;

	*has_gradient = false;
	*gradient = 0;
	if (!layout || layout->autograd < 0)
		return -1;
	meta = pyreader_word(impl, layout->autograd);
	if (!meta)
		return 0;
	if (pyreader_pointer(reader, meta + GRAD, &address) || !address ||
	    address % 8 || pyreader_read(reader, address, impl, IMPL_BYTES))
		return -1;
	*has_gradient = !is_undefined(impl, layout);
	if (*has_gradient)
		*gradient = pyreader_word(impl, layout->back) & ~UINT64_C(1);
	return 0;
}
