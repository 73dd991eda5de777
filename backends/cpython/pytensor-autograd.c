/* pytensor-autograd: requires_grad, grad_fn and gradient of a torch tensor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pycxx.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytensor-offsets.h"
#include "backends/cpython/pytensor-torch.h"
#include "backends/cpython/pytensor.h"
#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"

/* A function written in Python has its class's name. */
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
 * only when the program asks for it, so a stored grad_fn is valid only while the version counter is
 * 0. The pointer to the counter follows extra; in the counter, the number follows a head as long as
 * a TensorImpl's.
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
		return error_set(error, "it has no gradient");
	if (pytensor_gradient(reader, object, &has_gradient, &address))
		return error_set(error, "where its gradient is cannot be told");
	if (!has_gradient)
		return error_set(error, "it has no gradient");
	if (address)
		return pytensor_read(reader, address, tensor, error);
	if (pytensor_read_unseen(reader, object, tensor))
		return error_set(error, "its gradient cannot be read");
	return 0;
}
