/* pytensor-layout: the addresses of a tensor's elements. */
#include "backends/cpython/pytensor.h"

#include <string.h>

#include "backends/cpython/tensor-layout.h"
#include "banned.h"
#include "base/error.h"
#include "protocol/dtype.h"

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
		return error_set(error, "The elements cannot be read: %s.", tensor->unread);
	if (!dtype)
		return error_set(error, "Elements of type %s are not known here.", name);
	if (tensor->item_size <= 0)
		return error_set(error, "The elements have no size.");
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
		return error_set(error, "The tensor's strides make no sense.");
	return tensor_layout_check(layout, error);
}
