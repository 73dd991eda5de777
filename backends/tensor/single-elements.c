#include "backends/tensor/single-elements.h"

#include <stdlib.h>

#include "banned.h"
#include "backends/cpython/tensor-layout.h"
#include "backends/tensor/elements.h"
#include "base/alloc.h"
#include "base/error.h"
#include "protocol/dtype.h"

/*
 * The slice's rectangle as a layout of its own. Unsigned: the address of an empty slice may wrap
 * around.
 */
static struct tensor_layout single_elements_cut(const struct tensor_layout *layout,
						const struct tensor_slice *slice)
{
	struct tensor_layout part = *layout;
	const int64_t *mask = layout->mask_strides;
	int dimensions[] = { slice->row_dimension, slice->column_dimension };
	int64_t starts[] = { slice->row, slice->column };
	int64_t counts[] = { slice->row_count, slice->column_count };

	part.dimension_count = 2;
	for (int i = 0; i < layout->dimension_count; i++)
		if (i != slice->row_dimension && i != slice->column_dimension) {
			part.address += (uint64_t)slice->index[i] * (uint64_t)layout->strides[i];
			part.mask_address += (uint64_t)slice->index[i] * (uint64_t)mask[i];
		}
	for (int i = 0; i < 2; i++) {
		part.shape[i] = counts[i];
		part.strides[i] = 0;
		part.mask_strides[i] = 0;
		if (dimensions[i] < 0)
			continue;
		part.strides[i] = layout->strides[dimensions[i]];
		part.address += (uint64_t)starts[i] * (uint64_t)part.strides[i];
		part.mask_strides[i] = mask[dimensions[i]];
		part.mask_address += (uint64_t)starts[i] * (uint64_t)part.mask_strides[i];
	}
	return part;
}

static void single_elements_tell(const struct tensor_layout *layout, const uint8_t *bytes,
				 int64_t count, struct tensor_number *numbers)
{
	for (int64_t i = 0; i < count; i++)
		dtype_number(layout->dtype, bytes + i * layout->item_size,
			     (size_t)layout->item_size, &numbers[i]);
}

/* Reads the elements behind the first unreadable one one by one. */
static int64_t single_elements_read_numbers(const struct tensor_layout *part, uint8_t *bytes,
					    struct tensor_slice *slice, struct error *error)
{
	int64_t count = (int64_t)slice->count;
	int64_t done = count;
	int64_t known;
	struct elements elements;

	elements_init(&elements, part);
	if (elements.unit_count > 0)
		done = elements_read(&elements, 0, elements.unit_count, bytes, error) /
		       elements.item_units;
	single_elements_tell(part, bytes, done, slice->numbers);
	known = done;
	for (int64_t i = done + 1; i < count; i++) {
		int64_t start = i * elements.item_units;

		if (elements_read(&elements, start, elements.item_units, bytes, NULL) <
		    elements.item_units)
			continue;
		single_elements_tell(part, bytes, 1, &slice->numbers[i]);
		known++;
	}
	return known;
}

/*
 * Shows masked elements as "--", like numpy; if the mask is unreadable, the element becomes
 * unknown.
 */
static void hide_masked(const struct tensor_layout *part, struct tensor_slice *slice)
{
	struct tensor_layout layout = tensor_layout_mask(part);
	struct elements elements;

	elements_init(&elements, &layout);
	for (size_t i = 0; i < slice->count; i++) {
		struct tensor_number *number = &slice->numbers[i];
		uint8_t masked;
		bool is_known = elements_read(&elements, (int64_t)i, 1, &masked, NULL) == 1;

		if (is_known && !masked)
			continue;
		tensor_number_clear(number);
		if (!is_known)
			continue;
		number->kind = TENSOR_NUMBER_TEXT;
		number->text = xstrdup("--");
	}
}

int single_elements_slice(const struct tensor_layout *layout, struct tensor_slice *slice,
			  struct error *error)
{
	struct tensor_layout part = single_elements_cut(layout, slice);
	int64_t count = slice->row_count * slice->column_count;
	size_t length = (size_t)(count * layout->item_size);
	uint8_t *bytes;
	int64_t known;

	slice->numbers = xcalloc(count > 0 ? (size_t)count : 1, sizeof(*slice->numbers));
	slice->count = (size_t)count;
	if (count == 0)
		return 0;
	bytes = xmalloc(length > 0 ? length : 1);
	known = single_elements_read_numbers(&part, bytes, slice, error);
	free(bytes);
	if (layout->has_mask)
		hide_masked(&part, slice);
	return known > 0 ? 0 : error_prefix(error, "the slice");
}

uint8_t *single_elements_data(const struct tensor_layout *layout, int64_t start, int64_t count,
			      size_t *length, struct error *error)
{
	int64_t units;
	struct elements elements;
	uint8_t *bytes;

	elements_init(&elements, layout);
	units = count * elements.item_units;
	*length = (size_t)(units * elements.unit_size);
	bytes = xmalloc(*length > 0 ? *length : 1);
	if (units == 0 ||
	    elements_read(&elements, start * elements.item_units, units, bytes, error) == units)
		return bytes;
	free(bytes);
	return NULL;
}
