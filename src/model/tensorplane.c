#include "model/tensorplane.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/tensor.h"

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
	return error_set(error,
			 "cannot end the range before the last of %" PRId64
			 " elements of dimension %d: write ':' or, to begin at 3, '3:'",
			 size, dimension);
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

/* The part of a slice for one dimension. */
struct part {
	bool runs;
	int64_t first; /* start of the range, or the index */
	int64_t end;
};

static void slicetext_skip_blanks(const char **at)
{
	*at += strspn(*at, " \t");
}

/* Reads a number; negative numbers count from the end, as in Python. False: no number. */
static bool slicetext_read_number(const char **at, int64_t size, int64_t *number)
{
	char *end;

	slicetext_skip_blanks(at);
	if (!strchr("-0123456789", **at) || **at == '\0')
		return false;
	*number = strtoll(*at, &end, 10);
	if (end == *at)
		return false;
	if (*number < 0)
		*number += size;
	*at = end;
	slicetext_skip_blanks(at);
	return true;
}

static int64_t bound(int64_t number, int64_t size)
{
	if (number < 0)
		return 0;
	return number > size ? size : number;
}

static int no_part(const char *text, struct error *error)
{
	return error_set(error, "'%.20s' is not part of a slice such as [0:8, 3, :]", text);
}

/* Parses one part: "3", "0:8", ":", "2:". */
static int read_part(struct part *part, const char **at, int64_t size, int dimension,
		     struct error *error)
{
	bool has_number = slicetext_read_number(at, size, &part->first);

	slicetext_skip_blanks(at);
	part->runs = **at == ':';
	if (!part->runs && !has_number)
		return no_part(*at, error);
	if (!part->runs && (part->first < 0 || part->first >= size))
		return error_set(error, "index out of range: dimension %d has %" PRId64 " elements",
				 dimension, size);
	if (!part->runs)
		return 0;
	++*at;
	part->first = has_number ? bound(part->first, size) : 0;
	part->end = size;
	if (slicetext_read_number(at, size, &part->end))
		part->end = bound(part->end, size);
	if (part->end < part->first)
		part->end = part->first;
	return 0;
}

static int slicetext_read_parts(struct part *parts, const char *text, const struct tensor *tensor,
				struct error *error)
{
	int count = tensor->dimension_count;
	const char *at = text + strspn(text, " \t");
	bool has_bracket = *at == '[';
	int i = 0;

	at += has_bracket;
	slicetext_skip_blanks(&at);
	for (; *at != '\0' && *at != ']'; i++) {
		if (i == count)
			return error_set(error, "the tensor has only %d dimension%s", count,
					 count == 1 ? "" : "s");
		if (read_part(&parts[i], &at, tensor->shape[i], i, error) < 0)
			return -1;
		if (*at != ',' && *at != ']' && *at != '\0')
			return no_part(at, error);
		at += *at == ',';
		slicetext_skip_blanks(&at);
	}
	at += has_bracket && *at == ']';
	slicetext_skip_blanks(&at);
	if (*at != '\0')
		return no_part(at, error);
	for (; i < count; i++)
		parts[i] = (struct part){ true, 0, tensor->shape[i] };
	return 0;
}

static void slicetext_set_row(struct tensor_slice *slice, int dimension, const struct part *part)
{
	slice->row_dimension = dimension;
	slice->row = part->first;
	slice->row_count = part->end - part->first;
}

static void set_column(struct tensor_slice *slice, int dimension, const struct part *part)
{
	slice->column_dimension = dimension;
	slice->column = part->first;
	slice->column_count = part->end - part->first;
}

int slicetext_parse(struct tensor_slice *slice, const char *text, const struct tensor *tensor,
		    struct error *error)
{
	struct part parts[TENSOR_DIMENSIONS];
	int running = 0;

	*slice = (struct tensor_slice){
		.row_dimension = -1,
		.column_dimension = -1,
		.dimension_count = tensor->dimension_count,
		.row_count = 1,
		.column_count = 1,
	};
	if (slicetext_read_parts(parts, text, tensor, error) < 0)
		return -1;
	for (int i = tensor->dimension_count - 1; i >= 0; i--) {
		if (!parts[i].runs)
			slice->index[i] = parts[i].first;
		else if (++running == 1)
			set_column(slice, i, &parts[i]);
		else if (running == 2)
			slicetext_set_row(slice, i, &parts[i]);
		else
			return error_set(error, "more than two ranges in the slice: give the other "
						"dimensions an index, as in [0, :, :]");
	}
	return 0;
}
