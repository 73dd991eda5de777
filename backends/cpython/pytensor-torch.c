/* pytensor-torch: reads one torch tensor. */
#include "backends/cpython/pytensor-torch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor-offsets.h"
#include "backends/cpython/pytensor.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"

/* A larger size of one dimension is implausible. */
#define SIZE_LIMIT (INT64_C(1) << 48)
/* SizesAndStrides: a count, then room for five sizes and five strides, or a pointer to more. */
#define INLINE_DIMENSIONS 5
#define STORAGE_BYTES 96

#define PLAIN_CLASS "N3c1010TensorImplE"
#define DIRTY "it was freed (as by FSDP) or is being changed"

static const char WRAPPER[] =
	"the tensor has no memory: its elements are in tensors among its attributes, or were freed";
static const char NESTED[] = "the tensor is nested: its elements are in its component tensors";
static const char SYMBOLS[] = "the tensor has symbolic sizes (torch.compile), not numbers";

/* Tensors that are not plain, by the C++ class of their implementation. */
static const struct {
	const char *part;
	const char *unread;
} classes[] = {
	{ "16SparseTensorImplE",
	  "the tensor is sparse: with an agent, read its values() and indices()" },
	{ "19SparseCsrTensorImplE",
	  "the tensor is sparse: with an agent, read its values() and index tensors" },
	{ "11QTensorImplE",
	  "the tensor is quantized, which is not supported: its values depend on a scale" },
	{ "16NestedTensorImplE", NESTED },
	{ "17BatchedTensorImplE",
	  "the tensor is a wrapper made by vmap: its elements are in the wrapped tensor" },
	{ "13TensorWrapperE", "the tensor is a wrapper made by a function transform: its elements "
			      "are in the wrapped tensor" },
	{ "23FunctionalTensorWrapperE",
	  "the tensor is a wrapper made by functionalize: its elements are in the wrapped tensor" },
	{ "OpaqueTensorImpl",
	  "the tensor is opaque: only the library that made it knows its layout" },
	{ "19UndefinedTensorImplE", "the tensor is undefined" },
};

static int64_t signed_word(const uint8_t *bytes, int place)
{
	return (int64_t)pyreader_word(bytes, place);
}

/* Checks that no size is negative and that the sizes multiply to element_count. */
static int pytensor_torch_check_sizes(const struct pytensor *tensor)
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

static int read_sizes(struct pyreader *reader, const uint8_t *sizes, struct pytensor *tensor)
{
	uint64_t count = pyreader_word(sizes, 0);
	size_t bytes = (size_t)count * 8;
	uint64_t outside;

	if (count > PYTENSOR_DIMENSIONS)
		return -1;
	tensor->dimension_count = (int)count;
	if (count <= INLINE_DIMENSIONS) {
		memcpy(tensor->shape, sizes + 8, bytes);
		memcpy(tensor->strides, sizes + 8 + 8 * INLINE_DIMENSIONS, bytes);
		return 0;
	}
	outside = pyreader_word(sizes, 8);
	return pyreader_read(reader, outside, tensor->shape, bytes) ||
			       pyreader_read(reader, outside + bytes, tensor->strides, bytes)
		       ? -1
		       : 0;
}

/* True for a known device type with an index that the type allows. */
static bool is_device(const uint8_t *device)
{
	int index = (int8_t)device[1];

	if (!pytensor_device_name(device[0]) || index < -1)
		return false;
	return index <= 0 || torch_device_is_counted(device[0]);
}

/*
 * The device is an optional with a value. The optional's flag is the first of three bytes
 * (c10::optional, up to 2.3) or the last one (std::optional). If the version is unknown and both
 * readings are plausible (xpu:1, cuda:12), the device is "?".
 */
static int read_device(const struct torch_object *object, struct pytensor *tensor)
{
	const uint8_t *bytes = object->bytes + object->layout->device;
	bool is_known = object->is_sure || object->layout->last;
	bool is_first = object->layout->is_flag_first;
	bool may_be_last = bytes[2] == 1 && is_device(bytes) && !(is_known && is_first);
	bool may_be_first = bytes[0] == 1 && is_device(bytes + 1) && !(is_known && !is_first);
	const uint8_t *device = may_be_last ? bytes : bytes + 1;

	if (!may_be_last && !may_be_first)
		return -1;
	if (may_be_last && may_be_first && bytes[0] != bytes[1]) {
		tensor->device = "?";
		return 0;
	}
	tensor->device = pytensor_device_name(device[0]);
	tensor->device_index = (int8_t)device[1];
	return 0;
}

/* True if the sizes are symbolic: then the sizes in the TensorImpl are not valid. */
static bool has_symbols(struct pyreader *reader, const struct torch_object *object)
{
	uint64_t extra = pyreader_word(object->bytes, object->layout->extra);
	uint64_t symbols;

	if (!extra)
		return false;
	if (object->layout->symbolic < 0)
		return true;
	return pyreader_pointer(reader, extra + (uint64_t)object->layout->symbolic, &symbols) ||
	       symbols;
}

/* Reads shape, strides and type from the TensorImpl. */
static int read_impl(struct pyreader *reader, const struct torch_object *object,
		     struct pytensor *tensor)
{
	const struct torch_layout *layout = object->layout;
	uint16_t dtype;

	tensor->impl = object->impl;
	tensor->offset = signed_word(object->bytes, layout->offset);
	tensor->element_count = signed_word(object->bytes, layout->count);
	memcpy(&dtype, object->bytes + layout->dtype, sizeof(dtype));
	tensor->dtype = pytensor_dtype_name(dtype);
	tensor->item_size = torch_dtype_size(dtype);
	if (!tensor->dtype || tensor->offset < 0 ||
	    read_sizes(reader, object->bytes + layout->sizes, tensor) ||
	    read_device(object, tensor))
		return -1;
	return 0;
}

static const char *pytensor_torch_find_reason(struct pyreader *reader,
					      const struct torch_object *object)
{
	const char *name = pycxx_class(reader, object->impl);

	if (!name)
		return "the C++ class of the tensor cannot be read";
	if (strcmp(name, PLAIN_CLASS) == 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_LENGTH(classes); i++)
		if (strstr(name, classes[i].part))
			return classes[i].unread;
	return "the C++ class of the tensor is not supported";
}

/* Bytes from the storage's start to the end of the last element; -1: too many. */
static int64_t pytensor_torch_find_span(const struct pytensor *tensor)
{
	int64_t limit = (INT64_MAX >> 8) / (tensor->item_size + 1);
	int64_t span = tensor->offset;

	if (tensor->element_count == 0)
		return 0;
	for (int i = 0; i < tensor->dimension_count; i++) {
		int64_t steps = tensor->shape[i] - 1;
		int64_t stride = tensor->strides[i];

		if (steps < 0 || stride < 0 || span > limit || (stride && steps > limit / stride))
			return -1;
		span += steps * stride;
	}
	return span > limit ? -1 : (span + 1) * tensor->item_size;
}

static const char *check_storage(const struct pytensor *tensor)
{
	int64_t span = pytensor_torch_find_span(tensor);

	if (tensor->element_count == 0)
		return NULL;
	if (!tensor->storage)
		return "the tensor has no storage of its own";
	if (!tensor->data)
		return "the storage of the tensor has no memory: " DIRTY;
	if (span < 0 || tensor->storage_bytes < span)
		return "the storage is smaller than the tensor: " DIRTY;
	return NULL;
}

/* Reads the storage; -1: unreadable, or changed during the read. */
static int read_storage(struct pyreader *reader, const struct torch_object *object,
			struct pytensor *tensor)
{
	const struct torch_layout *layout = object->layout;
	uint8_t bytes[STORAGE_BYTES];

	tensor->storage = pyreader_word(object->bytes, layout->storage);
	if (!tensor->storage)
		return 0;
	if (pyreader_read(reader, tensor->storage, bytes, sizeof(bytes)))
		return -1;
	tensor->storage_users = (int64_t)(pyreader_word(bytes, layout->users) & UINT32_MAX);
	tensor->data = pyreader_word(bytes, layout->data);
	tensor->storage_bytes = signed_word(bytes, layout->bytes);
	if (tensor->storage_bytes < 0) /* symbolic size */
		tensor->storage_bytes = -1;
	return tensor->storage_users ? 0 : -1;
}

static const char *pytensor_torch_check_keys(const struct torch_object *object,
					     const struct pytensor *tensor)
{
	const struct torch_layout *layout = object->layout;
	uint64_t keys = pyreader_word(object->bytes, layout->keys);

	if (!object->is_sure && strncmp(tensor->dtype, "complex", 7) == 0)
		return "complex elements cannot be read without an agent: whether they are "
		       "conjugated is unknown in the process's version of torch";
	if (keys & layout->conjugate)
		return "the tensor is conjugated only by a flag: its memory has the values before "
		       "conjugation";
	if (keys & layout->negative)
		return "the tensor is negated only by a flag: its memory has the values before "
		       "negation";
	if (keys & layout->zero)
		return "the tensor is a ZeroTensor, which has no memory";
	return NULL;
}

static const char *check_device(const struct pytensor *tensor)
{
	if (strcmp(tensor->device, "cpu") == 0)
		return NULL;
	if (strcmp(tensor->device, "meta") == 0)
		return "the tensor has no elements: its device is meta";
	return "the tensor is not in CPU memory: only an agent in the process can read it";
}

/* Sets tensor->unread to the first reason why the elements cannot be read. */
static void find_unread(struct pyreader *reader, const struct torch_object *object, unsigned traits,
			struct pytensor *tensor)
{
	tensor->unread = pytensor_torch_find_reason(reader, object);
	if (!tensor->unread && traits & TORCH_FAKE)
		tensor->unread = "the tensor is a FakeTensor, which has no elements";
	if (!tensor->unread && traits & TORCH_JAGGED)
		tensor->unread = NESTED;
	if (!tensor->unread && has_symbols(reader, object))
		tensor->unread = SYMBOLS;
	if (!tensor->unread)
		tensor->unread = check_device(tensor);
	if (!tensor->unread)
		tensor->unread = pytensor_torch_check_keys(object, tensor);
	if (tensor->unread)
		return;
	tensor->unread = check_storage(tensor);
	/* A tensor of a subclass that has no memory wraps other tensors. */
	if (tensor->unread && !tensor->data && traits & TORCH_OTHER)
		tensor->unread = WRAPPER;
}

/*
 * A nested or symbolic tensor has no single shape: it gets no dimensions and an unknown element
 * count.
 */
static int settle_shape(struct pytensor *tensor)
{
	if (tensor->unread == NESTED || tensor->unread == SYMBOLS) {
		tensor->dimension_count = 0;
		tensor->element_count = -1;
		return 0;
	}
	return pytensor_torch_check_sizes(tensor);
}

static int read_opened(struct pyreader *reader, const struct torch_object *object, unsigned traits,
		       struct pytensor *tensor)
{
	if (read_impl(reader, object, tensor) || read_storage(reader, object, tensor))
		return -1;
	find_unread(reader, object, traits, tensor);
	torch_read_autograd(reader, object, tensor);
	return settle_shape(tensor);
}

static int read_one(struct pyreader *reader, uint64_t address, struct torch_object *object,
		    struct pytensor *tensor)
{
	unsigned traits = torch_traits(reader, address, tensor->type, sizeof(tensor->type));

	tensor->local = address;
	if (torch_object_open(reader, address, object) ||
	    read_opened(reader, object, traits, tensor))
		return -1;
	tensor->is_parameter = torch_is_parameter(reader, address, traits);
	return 0;
}

/* Reads a DTensor's local shard, whose elements are the DTensor's elements in this process. */
static int read_shard(struct pyreader *reader, uint64_t object, const struct pytensor *whole,
		      struct pytensor *tensor)
{
	struct torch_object shard;
	uint64_t local;

	if (pyobject_attribute(reader, object, "_local_tensor", &local) ||
	    read_one(reader, local, &shard, tensor))
		return -1;
	memcpy(tensor->type, whole->type, sizeof(tensor->type));
	memcpy(tensor->grad_fn, whole->grad_fn, sizeof(tensor->grad_fn));
	tensor->object = object;
	tensor->requires_grad = whole->requires_grad;
	tensor->is_parameter = whole->is_parameter;
	memcpy(tensor->placement, whole->placement, sizeof(tensor->placement));
	memcpy(tensor->shard, whole->shard, sizeof(tensor->shard));
	return 0;
}

static const struct pytensor empty = { .family = PYTENSOR_TORCH,
				       .type = "torch.Tensor",
				       .device_index = -1,
				       .requires_grad = -1,
				       .storage_bytes = -1,
				       .storage_users = -1 };

/*
 * The gradient is read with the layout of its tensor. A gradient has no Python class, so no traits.
 */
int pytensor_read_unseen(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	struct torch_object gradient;
	bool has_gradient;

	*tensor = empty;
	if (torch_object_open(reader, object, &gradient) ||
	    torch_find_gradient(reader, &gradient, &has_gradient, &gradient.impl) ||
	    !has_gradient ||
	    pyreader_read(reader, gradient.impl, gradient.bytes, sizeof(gradient.bytes)))
		return -1;
	return read_opened(reader, &gradient, 0, tensor);
}

int pytensor_read_torch(struct pyreader *reader, uint64_t object, struct pytensor *tensor)
{
	struct torch_object opened;
	struct pytensor whole;

	*tensor = empty;
	tensor->object = object;
	if (read_one(reader, object, &opened, tensor))
		return -1;
	if (!(torch_traits(reader, object, NULL, 0) & TORCH_DISTRIBUTED))
		return 0;
	torch_read_placement(reader, object, tensor);
	whole = *tensor;
	*tensor = empty;
	return read_shard(reader, object, &whole, tensor);
}

/* The attributes requires_grad, grad_fn and grad of a torch tensor. */

/* Writes the name of a grad_fn that is written in Python: the name of its class. */
static int name_python(struct pyreader *reader, uint64_t node, const struct torch_layout *layout,
		       char *out, size_t size)
{
	struct buffer name = BUFFER_INIT;
	uint64_t function;
	const char *dot;

	if (!layout->function ||
	    pyreader_pointer(reader, node + (uint64_t)layout->function, &function) ||
	    pyobject_type_name(reader, function, &name)) {
		buffer_clear(&name);
		return -1;
	}
	dot = strrchr(name.data, '.');
	snprintf(out, size, "%s", dot ? dot + 1 : name.data);
	buffer_clear(&name);
	return 0;
}

static void name_function(struct pyreader *reader, uint64_t node, const struct torch_object *object,
			  struct pytensor *tensor)
{
	const char *class = pycxx_class(reader, node);
	char *out = tensor->grad_fn;
	size_t size = sizeof(tensor->grad_fn);

	if (class && strcmp(class, "N5torch8autograd6PyNodeE") == 0) {
		if (object->is_sure && !name_python(reader, node, object->layout, out, size))
			return;
	} else if (class && !pycxx_last(class, out, size)) {
		return;
	}
	snprintf(out, size, "?");
}

/*
 * True for a view that may have been written to. After a write, torch updates the view's grad_fn
 * only when the program next reads grad_fn, so a stored grad_fn is valid only while the version
 * counter is 0. The pointer to the counter follows extra; in the counter object, the number follows
 * a head of the same length as a TensorImpl's head.
 */
static bool is_view_written(struct pyreader *reader, const struct torch_object *object,
			    uint64_t meta)
{
	const struct torch_layout *layout = object->layout;
	uint64_t counter = pyreader_word(object->bytes, layout->extra + 8);
	const char *class = pycxx_class(reader, meta);
	uint32_t version;

	if (class && strstr(class, "12AutogradMetaE"))
		return false;
	class = pycxx_class(reader, counter);
	return !class || !strstr(class, "14VersionCounterE") ||
	       pyreader_read(reader, counter + (uint64_t)layout->storage, &version,
			     sizeof(version)) ||
	       version;
}

void torch_read_autograd(struct pyreader *reader, const struct torch_object *object,
			 struct pytensor *tensor)
{
	const struct torch_layout *layout = object->layout;
	uint64_t meta = pyreader_word(object->bytes, layout->autograd);
	uint64_t function;
	uint8_t flag;

	tensor->requires_grad = 0;
	if (!meta)
		return;
	tensor->requires_grad = -1;
	if (pyreader_pointer(reader, meta + (uint64_t)layout->grad_fn, &function))
		return;
	if (is_view_written(reader, object, meta)) {
		tensor->requires_grad = function ? 1 : -1;
		snprintf(tensor->grad_fn, sizeof(tensor->grad_fn), "?");
	} else if (function) {
		tensor->requires_grad = 1;
		name_function(reader, function, object, tensor);
	} else if (object->is_sure &&
		   !pyreader_read(reader, meta + (uint64_t)layout->requires_grad, &flag, 1) &&
		   flag <= 1) {
		tensor->requires_grad = flag;
	}
}

int torch_find_gradient(struct pyreader *reader, const struct torch_object *tensor,
			bool *has_gradient, uint64_t *impl)
{
	uint64_t meta = pyreader_word(tensor->bytes, tensor->layout->autograd);
	const char *class;

	*has_gradient = false;
	if (!meta)
		return 0;
	if (pyreader_pointer(reader, meta + (uint64_t)tensor->layout->grad, impl))
		return -1;
	class = pycxx_class(reader, *impl);
	if (!class)
		return -1;
	*has_gradient = !strstr(class, "UndefinedTensorImpl");
	return 0;
}

int pytensor_gradient(struct pyreader *reader, uint64_t object, bool *has_gradient,
		      uint64_t *gradient)
{
	struct torch_object tensor;
	uint64_t address, back;

	*has_gradient = false;
	*gradient = 0;
	if (torch_object_open(reader, object, &tensor) ||
	    torch_find_gradient(reader, &tensor, has_gradient, &address))
		return -1;
	if (!*has_gradient)
		return 0;
	if (pyreader_pointer(reader, address + (uint64_t)tensor.layout->back, &back))
		return -1;
	*gradient = back & ~UINT64_C(1);
	return 0;
}

int pytensor_read_this(struct pyreader *reader, uint64_t object, bool is_gradient,
		       struct pytensor *tensor, struct error *error)
{
	bool has_gradient;
	uint64_t address;

	if (pytensor_read(reader, object, tensor, error))
		return -1;
	if (!is_gradient)
		return 0;
	if (tensor->family != PYTENSOR_TORCH)
		return error_set(error, "the tensor has no gradient");
	if (pytensor_gradient(reader, object, &has_gradient, &address))
		return error_set(error, "gradients cannot be located without an agent in the "
					"process's version of torch");
	if (!has_gradient)
		return error_set(error, "the tensor has no gradient");
	if (address)
		return pytensor_read(reader, address, tensor, error);
	if (pytensor_read_unseen(reader, object, tensor))
		return error_set(error, "the gradient cannot be read");
	return 0;
}
