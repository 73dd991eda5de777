#include "model/tensorplane.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"

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

bool tensor_plane_is_same(const struct tensor_plane *a,
			  const struct tensor_plane *b)
{
	if (a->dimension_count != b->dimension_count ||
	    a->row_dimension != b->row_dimension ||
	    a->column_dimension != b->column_dimension)
		return false;
	for (int i = 0; i < a->dimension_count; i++)
		if (a->index[i] != b->index[i])
			return false;
	return true;
}

static int64_t size_of(const struct tensor *tensor, int dimension)
{
	if (dimension < 0)
		return tensor->element_count > 0 ? 1 : 0;
	return tensor->shape[dimension];
}

int64_t tensor_plane_rows(const struct tensor_plane *plane,
			  const struct tensor *tensor)
{
	return size_of(tensor, plane->row_dimension);
}

int64_t tensor_plane_columns(const struct tensor_plane *plane,
			     const struct tensor *tensor)
{
	return size_of(tensor, plane->column_dimension);
}

static bool runs(const struct tensor_plane *plane, int dimension)
{
	return dimension == plane->row_dimension ||
	       dimension == plane->column_dimension;
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

/* One part of a slice's text. */
struct part {
	bool is_running;
	int64_t number; /* the index, or the first that is shown */
};

static const char *skip_blanks(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

/* Moves *text behind an integer; false: there is none. */
static bool take_number(const char **text, int64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text) && **text != '-')
		return false;
	errno = 0;
	*number = strtoll(*text, &end, 10);
	if (end == *text || errno == ERANGE)
		return false;
	*text = end;
	return true;
}

/* Moves *text behind "2", ":" or "3:"; false: it is none of these. */
static bool take_part(const char **text, struct part *part)
{
	bool is_number;

	*part = (struct part){ .is_running = false };
	*text = skip_blanks(*text);
	is_number = take_number(text, &part->number);
	*text = skip_blanks(*text);
	if (**text == ':') {
		part->is_running = true;
		*text = skip_blanks(*text + 1);
		return true;
	}
	return is_number;
}

static int set_part(struct part *part, int dimension,
		    const struct tensor *tensor, struct error *error)
{
	int64_t size = tensor->shape[dimension];
	int64_t number = part->number;

	if (number < 0)
		number += size;
	if (number < 0 || (number >= size && (number > 0 || size > 0)))
		return error_set(error,
				 "dimension %d has %" PRId64 " indices, and "
				 "%" PRId64 " is none of them.",
				 dimension, size, part->number);
	part->number = number;
	return 0;
}

static int no_slice(const struct tensor *tensor, struct error *error)
{
	struct tensor_plane plane;
	struct buffer text = BUFFER_INIT;

	tensor_plane_init(&plane);
	tensor_plane_fit(&plane, tensor);
	tensor_plane_append(&text, &plane);
	error_set(error,
		  "a slice has an index or : for each dimension, and at most "
		  "two :, as %s or with 3: to begin at 3.",
		  text.data);
	buffer_clear(&text);
	return -1;
}

/* The parts that text names; those behind them run. -1: it is no slice. */
static int read_parts(struct part *parts, const struct tensor *tensor,
		      const char *text)
{
	bool has_bracket;
	int count = 0;

	text = skip_blanks(text);
	has_bracket = *text == '[';
	text = skip_blanks(text + has_bracket);
	while (*text != '\0' && *text != ']') {
		if (count == tensor->dimension_count ||
		    !take_part(&text, &parts[count]))
			return -1;
		count++;
		if (*text == ',')
			text = skip_blanks(text + 1);
		else if (*text != '\0' && *text != ']')
			return -1;
	}
	if (*text == ']')
		text = skip_blanks(text + has_bracket);
	if (*text != '\0')
		return -1;
	for (int i = count; i < tensor->dimension_count; i++)
		parts[i] = (struct part){ .is_running = true };
	return 0;
}

int tensor_plane_parse(struct tensor_plane *plane, struct tensor_place *place,
		       const struct tensor *tensor, const char *text,
		       struct error *error)
{
	struct part parts[TENSOR_DIMENSIONS];
	struct tensor_plane read;
	int running[2] = { -1, -1 };
	int count = 0;

	if (read_parts(parts, tensor, text) < 0)
		return no_slice(tensor, error);
	tensor_plane_init(&read);
	read.dimension_count = tensor->dimension_count;
	for (int i = 0; i < tensor->dimension_count; i++) {
		if (set_part(&parts[i], i, tensor, error) < 0)
			return -1;
		if (!parts[i].is_running) {
			read.index[i] = parts[i].number;
			continue;
		}
		if (count == 2)
			return no_slice(tensor, error);
		running[count++] = i;
	}
	read.row_dimension = count > 1 ? running[0] : -1;
	read.column_dimension = count > 1 ? running[1] : running[0];
	place->row = count > 1 ? parts[running[0]].number : 0;
	place->column =
		count > 0 ? parts[read.column_dimension].number : 0;
	*plane = read;
	return 0;
}

bool tensor_plane_step(struct tensor_plane *plane, const struct tensor *tensor,
		       int by)
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

int64_t tensor_plane_flat(const struct tensor_plane *plane,
			  const struct tensor *tensor,
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

struct tensor_place tensor_plane_show(struct tensor_plane *plane,
				      const struct tensor *tensor, int64_t flat)
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

void tensor_plane_append_element(struct buffer *out,
				 const struct tensor_plane *plane,
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
				       const struct tensor_place *place,
				       int64_t rows, int64_t columns)
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
