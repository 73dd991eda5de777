#include "backends/cpython/tensor-layout.h"

#include <inttypes.h>
#include <string.h>

#include "banned.h"
#include "base/error.h"
#include "protocol/dtype.h"

/* More bytes of one element are implausible. */
#define ITEM_MAXIMUM (INT64_C(1) << 31)
/*
 * All addresses of a process are lower: five-level paging has 57 bits, and the kernel has the upper
 * half.
 */
#define ADDRESS_END (UINT64_C(1) << 56)
#define SPAN_MAXIMUM (INT64_C(1) << 56)

static int check_item(const struct tensor_layout *layout, struct error *error)
{
	const struct dtype *dtype = layout->dtype;

	if (!dtype)
		return error_set(error, "the dtype of the elements is unknown");
	if (dtype->class == DTYPE_PACKED)
		return error_set(error,
				 "elements of %s are smaller than a byte, which is not supported",
				 dtype->name);
	if (dtype->size != 0 && layout->item_size != dtype->size)
		return error_set(error,
				 "the tensor has elements of %" PRId64
				 " bytes, but an element of %s has %d",
				 layout->item_size, dtype->name, dtype->size);
	/* An item_size of 0 is valid: numpy has arrays of empty strings. */
	if (layout->item_size < 0 || layout->item_size > ITEM_MAXIMUM ||
	    layout->item_size % dtype->swap_size != 0)
		return error_set(error, "an element of %s cannot have %" PRId64 " bytes",
				 dtype->name, layout->item_size);
	return 0;
}

static bool is_empty(const struct tensor_layout *layout)
{
	for (int i = 0; i < layout->dimension_count; i++)
		if (layout->shape[i] == 0)
			return true;
	return false;
}

/* Returns the product; -1: the product exceeds maximum. */
static int64_t multiply(int64_t one, int64_t other, int64_t maximum)
{
	if (one != 0 && other > maximum / one)
		return -1;
	return one * other;
}

static int tensor_layout_check_sizes(const struct tensor_layout *layout, struct error *error)
{
	int64_t bytes = layout->item_size > 0 ? layout->item_size : 1;

	if (layout->dimension_count < 0 || layout->dimension_count > TENSOR_DIMENSIONS)
		return error_set(error, "the tensor has %d dimensions: at most %d are supported",
				 layout->dimension_count, TENSOR_DIMENSIONS);
	for (int i = 0; i < layout->dimension_count; i++)
		if (layout->shape[i] < 0)
			return error_set(error, "dimension %d has an invalid size: %" PRId64, i,
					 layout->shape[i]);
	if (is_empty(layout))
		return 0;
	for (int i = 0; i < layout->dimension_count; i++) {
		bytes = multiply(bytes, layout->shape[i], SPAN_MAXIMUM);
		if (bytes < 0)
			return error_set(error, "the shape is larger than the address space");
	}
	return 0;
}

/*
 * Sets *before to the bytes from the first element down to the lowest element, and *behind to the
 * bytes from the first element up to the end of the highest one. -1: implausible.
 */
static int tensor_layout_find_span(const struct tensor_layout *layout, int64_t *before,
				   int64_t *behind)
{
	*before = 0;
	*behind = layout->item_size;
	for (int i = 0; i < layout->dimension_count; i++) {
		int64_t stride = layout->strides[i];
		int64_t *side = stride < 0 ? before : behind;
		int64_t reach;

		if (layout->shape[i] == 1)
			continue;
		if (stride < -SPAN_MAXIMUM || stride > SPAN_MAXIMUM)
			return -1;
		reach = multiply(layout->shape[i] - 1, stride < 0 ? -stride : stride, SPAN_MAXIMUM);
		if (reach < 0)
			return -1;
		*side += reach;
		if (*side > SPAN_MAXIMUM)
			return -1;
	}
	return 0;
}

struct tensor_layout tensor_layout_mask(const struct tensor_layout *layout)
{
	struct tensor_layout mask = *layout;

	mask.address = layout->mask_address;
	mask.dtype = dtype_find("bool");
	mask.is_swapped = false;
	mask.item_size = 1;
	mask.has_mask = false;
	memcpy(mask.strides, layout->mask_strides, sizeof(mask.strides));
	return mask;
}

static int check_mask(const struct tensor_layout *layout, struct error *error)
{
	struct tensor_layout mask;

	if (!layout->has_mask)
		return 0;
	if (layout->item_size > TENSOR_LAYOUT_MASKED_ITEM)
		return error_set(error, "a masked element has %d bytes at most, not %" PRId64,
				 TENSOR_LAYOUT_MASKED_ITEM, layout->item_size);
	mask = tensor_layout_mask(layout);
	return tensor_layout_check(&mask, error) ? error_prefix(error, "the mask") : 0;
}

int tensor_layout_check(const struct tensor_layout *layout, struct error *error)
{
	int64_t before;
	int64_t behind;

	if (check_item(layout, error) < 0 || tensor_layout_check_sizes(layout, error) < 0 ||
	    check_mask(layout, error) < 0)
		return -1;
	if (is_empty(layout))
		return 0;
	if (tensor_layout_find_span(layout, &before, &behind) < 0)
		return error_set(error, "the strides exceed the address space");
	if (layout->address >= ADDRESS_END || (uint64_t)before > layout->address ||
	    (uint64_t)behind > ADDRESS_END - layout->address)
		return error_set(error,
				 "the elements are outside the address space (0x%" PRIx64 ")",
				 layout->address);
	return 0;
}

int64_t tensor_layout_element_count(const struct tensor_layout *layout)
{
	int64_t count = 1;

	if (is_empty(layout))
		return 0;
	for (int i = 0; i < layout->dimension_count; i++)
		count *= layout->shape[i];
	return count;
}

int64_t tensor_layout_byte_count(const struct tensor_layout *layout)
{
	return tensor_layout_element_count(layout) * layout->item_size;
}

uint64_t tensor_layout_address(const struct tensor_layout *layout, int64_t index)
{
	uint64_t address = layout->address;

	for (int i = layout->dimension_count - 1; i >= 0; i--) {
		int64_t place = index % layout->shape[i];

		index /= layout->shape[i];
		address += (uint64_t)place * (uint64_t)layout->strides[i];
	}
	return address;
}
