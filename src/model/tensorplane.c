#include "model/tensorplane.h"

#include <inttypes.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "model/slicetext.h"

void tensor_plane_init(struct tensor_plane *plane)
{
	*plane = (struct tensor_plane){ .dimension_count = -1,
					.row_dimension = -1,
					.column_dimension = -1 };
}

void tensor_plane_fit(struct tensor_plane *plane, const struct tensor *tensor)
{
	int count = tensor->dimension_count;

	if (plane->dimension_count != count) {
		tensor_plane_init(plane);
		plane->dimension_count = count;
		plane->row_dimension = count > 1 ? count - 2 : -1;
		plane->column_dimension = count - 1;
	}
	for (int i = 0; i < count; i++) {
		int64_t last = tensor->shape[i] - 1;

		if (plane->index[i] > last)
			plane->index[i] = last > 0 ? last : 0;
	}
}

bool tensor_plane_is_same(const struct tensor_plane *a, const struct tensor_plane *b)
{
	if (a->dimension_count != b->dimension_count || a->row_dimension != b->row_dimension ||
	    a->column_dimension != b->column_dimension)
		return false;
	for (int i = 0; i < a->dimension_count; i++)
		if (a->index[i] != b->index[i])
			return false;
	return true;
}

static int64_t tensorplane_size_of(const struct tensor *tensor, int dimension)
{
	if (dimension < 0)
		return tensor->element_count > 0 ? 1 : 0;
	return tensor->shape[dimension];
}

int64_t tensor_plane_rows(const struct tensor_plane *plane, const struct tensor *tensor)
{
	return tensorplane_size_of(tensor, plane->row_dimension);
}

int64_t tensor_plane_columns(const struct tensor_plane *plane, const struct tensor *tensor)
{
	return tensorplane_size_of(tensor, plane->column_dimension);
}

static bool runs(const struct tensor_plane *plane, int dimension)
{
	return dimension == plane->row_dimension || dimension == plane->column_dimension;
}

void tensor_plane_append(struct buffer *out, const struct tensor_plane *plane)
{
	buffer_append_char(out, '[');
	for (int i = 0; i < plane->dimension_count; i++) {
		if (i > 0)
			buffer_append_string(out, ", ");
		if (runs(plane, i))
			buffer_append_char(out, ':');
		else
			buffer_printf(out, "%" PRId64, plane->index[i]);
	}
	buffer_append_char(out, ']');
}

/* The range must end at the dimension's end, since a pane shows all elements from first on. */
static int check_run(const struct tensor *tensor, int dimension, int64_t first, int64_t count,
		     struct error *error)
{
	int64_t size = dimension < 0 ? 1 : tensor->shape[dimension];

	if (first + count == size && (count > 0 || size == 0))
		return 0;
	return error_set(
		error,
		"dimension %d has %" PRId64
		" elements and is shown to its end: write : for all of it, or 3: to begin at 3",
		dimension, size);
}

int tensor_plane_parse(struct tensor_plane *plane, struct tensor_place *place,
		       const struct tensor *tensor, const char *text, struct error *error)
{
	struct tensor_slice slice;

	if (slicetext_parse(&slice, text, tensor, error) < 0 ||
	    check_run(tensor, slice.row_dimension, slice.row, slice.row_count, error) < 0 ||
	    check_run(tensor, slice.column_dimension, slice.column, slice.column_count, error) < 0)
		return -1;
	tensor_plane_init(plane);
	plane->dimension_count = slice.dimension_count;
	plane->row_dimension = slice.row_dimension;
	plane->column_dimension = slice.column_dimension;
	memcpy(plane->index, slice.index, sizeof(plane->index));
	*place = (struct tensor_place){ slice.row, slice.column };
	return 0;
}

bool tensor_plane_step(struct tensor_plane *plane, const struct tensor *tensor, int by)
{
	bool stands = false;

	for (int i = plane->dimension_count - 1; i >= 0; i--) {
		int64_t size = tensor->shape[i];

		if (runs(plane, i) || size < 1)
			continue;
		stands |= size > 1;
		plane->index[i] += by;
		if (plane->index[i] >= 0 && plane->index[i] < size)
			return true;
		plane->index[i] = by < 0 ? size - 1 : 0;
	}
	return stands;
}

int64_t tensor_plane_flat(const struct tensor_plane *plane, const struct tensor *tensor,
			  const struct tensor_place *place)
{
	int64_t flat = 0;

	for (int i = 0; i < plane->dimension_count; i++) {
		int64_t index = plane->index[i];

		if (i == plane->row_dimension)
			index = place->row;
		else if (i == plane->column_dimension)
			index = place->column;
		flat = flat * tensor->shape[i] + index;
	}
	return flat;
}

struct tensor_place tensor_plane_show(struct tensor_plane *plane, const struct tensor *tensor,
				      int64_t flat)
{
	struct tensor_place place = { 0, 0 };

	if (flat < 0 || flat >= tensor->element_count)
		return place;
	for (int i = plane->dimension_count - 1; i >= 0; i--) {
		int64_t index = flat % tensor->shape[i];

		flat /= tensor->shape[i];
		if (i == plane->row_dimension)
			place.row = index;
		else if (i == plane->column_dimension)
			place.column = index;
		else
			plane->index[i] = index;
	}
	return place;
}

void tensor_plane_append_element(struct buffer *out, const struct tensor_plane *plane,
				 const struct tensor_place *place)
{
	struct tensor_plane element = *plane;

	if (plane->row_dimension >= 0)
		element.index[plane->row_dimension] = place->row;
	if (plane->column_dimension >= 0)
		element.index[plane->column_dimension] = place->column;
	element.row_dimension = -1;
	element.column_dimension = -1;
	tensor_plane_append(out, &element);
}

struct tensor_slice tensor_plane_slice(const struct tensor_plane *plane,
				       const struct tensor_place *place, int64_t rows,
				       int64_t columns)
{
	struct tensor_slice slice = {
		.row_dimension = plane->row_dimension,
		.column_dimension = plane->column_dimension,
		.dimension_count = plane->dimension_count,
		.row = place->row,
		.row_count = rows,
		.column = place->column,
		.column_count = columns,
	};

	memcpy(slice.index, plane->index, sizeof(slice.index));
	return slice;
}
