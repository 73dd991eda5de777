#include "model/tensordiff.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "model/answers.h"
#include "model/tensorformat.h"
#include "protocol/dtype.h"

#define NOT_READ -1.0

void tensordiff_clear(struct tensordiff *diff)
{
	free(diff->dtype);
	free(diff->grid);
	*diff = (struct tensordiff){ .dtype = NULL };
}

/* Columns of the matrix that the elements are laid out as: the last dimension is a row. */
static int64_t columns_of(const struct tensordiff *diff)
{
	int last = diff->dimension_count - 1;

	return last < 0 ? 1 : diff->shape[last];
}

static int64_t rows_of(const struct tensordiff *diff)
{
	int64_t columns = columns_of(diff);

	return columns > 0 ? diff->element_count / columns : 0;
}

static int tensordiff_at_most(int64_t count, int wanted, int maximum)
{
	if (wanted > maximum)
		wanted = maximum;
	return count < wanted ? (int)count : wanted;
}

static void make_grid(struct tensordiff *diff, int row_count, int column_count)
{
	size_t count;

	diff->row_count = tensordiff_at_most(rows_of(diff), row_count, TENSORDIFF_ROWS_MAXIMUM);
	diff->column_count =
		tensordiff_at_most(columns_of(diff), column_count, TENSORDIFF_COLUMNS_MAXIMUM);
	count = (size_t)diff->row_count * (size_t)diff->column_count;
	if (diff->row_count <= 0 || diff->column_count <= 0)
		return;
	diff->grid = xcalloc(count, sizeof(*diff->grid));
	for (size_t i = 0; i < count; i++)
		diff->grid[i] = NOT_READ;
}

/* Skips the byte order that a dtype begins with: all values are sent in one byte order. */
static const char *skip_order(const char *dtype)
{
	return *dtype == '>' || *dtype == '<' ? dtype + 1 : dtype;
}

int tensordiff_begin(struct tensordiff *diff, const struct tensor *a, const struct tensor *b,
		     int row_count, int column_count, struct error *error)
{
	tensordiff_clear(diff);
	if (!a->dtype || !b->dtype)
		return error_set(error, CANNOT_COMPARE "the dtype is unknown");
	if (strcmp(skip_order(a->dtype), skip_order(b->dtype)) != 0)
		return error_set(error, CANNOT_COMPARE "the dtypes differ (%.100s and %.100s)",
				 a->dtype, b->dtype);
	if (!tensor_has_same_shape(a, b) || a->item_size != b->item_size)
		return error_set(error, CANNOT_COMPARE "the shapes differ");
	if (a->item_size <= 0)
		return error_set(error,
				 CANNOT_COMPARE "elements of dtype %.100s are smaller than a byte",
				 a->dtype);
	diff->dtype = xstrdup(skip_order(a->dtype));
	diff->dimension_count = a->dimension_count;
	memcpy(diff->shape, a->shape, sizeof(diff->shape));
	diff->element_count = a->element_count;
	diff->item_size = a->item_size;
	diff->first.index = -1;
	diff->farthest.index = -1;
	diff->maximum = NAN;
	make_grid(diff, row_count, column_count);
	return 0;
}

/* Divides size positions into count cells, and returns the cell that position at is in. */
static int64_t tensordiff_cell_of(int64_t at, int64_t size, int64_t count)
{
	int64_t quotient = size / count;
	int64_t rest = size % count;

	/* The first `rest` cells have one position more than other cells; no product overflows. */
	if (at < rest * (quotient + 1))
		return at / (quotient + 1);
	return rest + (at - rest * (quotient + 1)) / quotient;
}

/* Notes a difference in a cell; of several differences NaN is kept, else the largest. */
static void note_cell(struct tensordiff *diff, int64_t row, int64_t column, double distance)
{
	double *cell = &diff->grid[row * diff->column_count + column];

	if (!isnan(*cell) && !(distance <= *cell))
		*cell = distance;
}

static int64_t row_cell(const struct tensordiff *diff, int64_t index)
{
	return tensordiff_cell_of(index / columns_of(diff), rows_of(diff), diff->row_count);
}

static int64_t column_cell(const struct tensordiff *diff, int64_t index)
{
	int64_t columns = columns_of(diff);

	return tensordiff_cell_of(index % columns, columns, diff->column_count);
}

static void tensordiff_note(struct tensordiff *diff, int64_t index, double distance)
{
	if (diff->grid)
		note_cell(diff, row_cell(diff, index), column_cell(diff, index), distance);
}

/* Notes whole cells instead of single elements, because there may be very many elements. */
void tensordiff_add_same(struct tensordiff *diff, int64_t start, int64_t count)
{
	int64_t columns = columns_of(diff);
	int64_t last = start + count - 1;
	int64_t from = 0;
	int64_t to = diff->column_count - 1;

	diff->compared += count;
	if (!diff->grid || count <= 0)
		return;
	if (start / columns == last / columns) {
		from = column_cell(diff, start);
		to = column_cell(diff, last);
	}
	for (int64_t row = row_cell(diff, start); row <= row_cell(diff, last); row++)
		for (int64_t column = from; column <= to; column++)
			note_cell(diff, row, column, 0);
}

/* Returns the type for numeric differences; NULL: elements are only tested for equality. */
static const struct dtype *tensordiff_type_of(const struct tensordiff *diff)
{
	const struct dtype *type = dtype_find(diff->dtype);

	/* Long doubles are excluded, because different ones may convert to the same double. */
	if (!type || !dtype_is_number(type) || type->class == DTYPE_TIME ||
	    type->size != diff->item_size || type->swap_size > (int)sizeof(double))
		return NULL;
	return type;
}

/* Returns |a - b|, and 0 if both are NaN; NaN: a and b differ, and a or b is not finite. */
static double real_distance(double a, double b)
{
	if (a == b || (isnan(a) && isnan(b)))
		return 0;
	if (!isfinite(a) || !isfinite(b))
		return NAN;
	return fabs(a - b);
}

/* Exact difference: two large integers may convert to the same double. */
static double integer_distance(const struct dtype *type, const uint8_t *a, const uint8_t *b)
{
	int64_t one = dtype_integer(type, a);
	int64_t other = dtype_integer(type, b);
	bool is_less =
		type->class == DTYPE_UNSIGNED ? (uint64_t)one < (uint64_t)other : one < other;

	return (double)(is_less ? (uint64_t)other - (uint64_t)one
				: (uint64_t)one - (uint64_t)other);
}

static double tensordiff_distance_of(const struct dtype *type, const uint8_t *a, const uint8_t *b)
{
	double one[2] = { 0, 0 };
	double other[2] = { 0, 0 };

	if (dtype_is_integer(type))
		return integer_distance(type, a, b);
	dtype_decode(type, a, 1, one);
	dtype_decode(type, b, 1, other);
	/* The second number is the imaginary part of a complex element. */
	return hypot(real_distance(one[0], other[0]), real_distance(one[1], other[1]));
}

static void place(struct tensordiff_place *place, const struct dtype *type, int64_t index,
		  const uint8_t *a, const uint8_t *b)
{
	size_t size = type ? (size_t)type->size : 0;

	*place = (struct tensordiff_place){ .index = index };
	if (!type)
		return;
	dtype_number(type, a, size, &place->numbers[0]);
	dtype_number(type, b, size, &place->numbers[1]);
}

static void add_element(struct tensordiff *diff, const struct dtype *type, int64_t index,
			const uint8_t *a, const uint8_t *b)
{
	double distance = type ? tensordiff_distance_of(type, a, b) : NAN;

	diff->differing++;
	if (diff->first.index < 0)
		place(&diff->first, type, index, a, b);
	diff->unlike += type && isnan(distance);
	tensordiff_note(diff, index, distance);
	if (isnan(distance) || distance <= diff->maximum)
		return;
	diff->maximum = distance;
	place(&diff->farthest, type, index, a, b);
}

void tensordiff_add(struct tensordiff *diff, int64_t start, const uint8_t *a, const uint8_t *b,
		    int64_t count)
{
	const struct dtype *type = tensordiff_type_of(diff);
	size_t size = (size_t)diff->item_size;

	diff->compared += count;
	for (int64_t i = 0; i < count; i++, a += size, b += size) {
		if (memcmp(a, b, size) == 0)
			tensordiff_note(diff, start + i, 0);
		else
			add_element(diff, type, start + i, a, b);
	}
}

bool tensordiff_is_partial(const struct tensordiff *diff)
{
	return diff->compared < diff->element_count;
}

bool tensordiff_is_within(const struct tensordiff *diff, double tolerance)
{
	if (!diff->dtype || tensordiff_is_partial(diff) || diff->is_torn)
		return false;
	return diff->differing == 0 || (diff->unlike == 0 && diff->maximum <= tolerance);
}

void tensordiff_find_index(const struct tensordiff *diff, int64_t index, int64_t *at)
{
	for (int i = diff->dimension_count - 1; i >= 0; i--) {
		at[i] = diff->shape[i] > 0 ? index % diff->shape[i] : 0;
		index = diff->shape[i] > 0 ? index / diff->shape[i] : 0;
	}
}

void tensordiff_append_index(struct buffer *out, const struct tensordiff *diff, int64_t index)
{
	int64_t at[TENSOR_DIMENSIONS];

	tensordiff_find_index(diff, index, at);
	tensortext_append_sizes(out, at, diff->dimension_count);
}

void tensordiff_append_place(struct buffer *out, const struct tensordiff *diff,
			     const struct tensordiff_place *place)
{
	struct buffer other = BUFFER_INIT;

	tensordiff_append_index(out, diff, place->index);
	if (place->numbers[0].kind == TENSOR_NUMBER_UNKNOWN)
		return;
	buffer_append_string(out, ": ");
	tensortext_append_pair(out, &other, place->numbers);
	buffer_printf(out, " and %s", other.data);
	buffer_clear(&other);
}

static void tensordiff_append_rest(struct buffer *out, const struct tensordiff *diff)
{
	if (diff->is_torn)
		buffer_append_string(out, "; the tensor changed during the comparison");
	if (!tensordiff_is_partial(diff))
		return;
	buffer_append_string(out, "; only ");
	text_count(out, (size_t)diff->compared);
	buffer_append_string(out, " of ");
	text_count(out, (size_t)diff->element_count);
	buffer_append_string(out, " elements were compared");
}

void tensordiff_append(struct buffer *out, const struct tensordiff *diff)
{
	if (diff->differing == 0) {
		buffer_append_string(out, "no element differs");
		tensordiff_append_rest(out, diff);
		return;
	}
	text_count(out, (size_t)diff->differing);
	buffer_append_string(out, " of ");
	text_count(out, (size_t)diff->element_count);
	buffer_append_string(out, diff->element_count == 1 ? " element differs, first at "
							   : " elements differ, first at ");
	tensordiff_append_place(out, diff, &diff->first);
	if (!isnan(diff->maximum)) {
		buffer_printf(out, "; max |difference| %.4g at ", diff->maximum);
		tensordiff_append_index(out, diff, diff->farthest.index);
	}
	tensordiff_append_rest(out, diff);
}

void difference_clear(struct difference *difference)
{
	free(difference->error);
	tensordiff_clear(&difference->found);
	*difference = (struct difference){ .rank = -1, .against = -1 };
}

struct difference *difference_find(const struct answers *answers, int rank, int against)
{
	for (size_t i = 0; i < answers->difference_count; i++) {
		struct difference *difference = &answers->differences[i];

		if (difference->rank == rank && difference->against == against)
			return difference;
	}
	return NULL;
}

struct difference *difference_add(struct answers *answers, int rank, int against)
{
	struct difference *difference = difference_find(answers, rank, against);

	if (difference) {
		difference_clear(difference);
	} else {
		ARRAY_GROW(answers->differences, answers->difference_count,
			   answers->difference_capacity);
		difference = &answers->differences[answers->difference_count++];
	}
	*difference = (struct difference){ .rank = rank, .against = against };
	return difference;
}

static bool is_between(const struct difference *difference, const struct rankset *one,
		       const struct rankset *other)
{
	return rankset_contains(one, difference->rank) &&
	       rankset_contains(other, difference->against);
}

const struct difference *difference_of(const struct answers *answers,
				       const struct answer_class *one,
				       const struct answer_class *other)
{
	for (size_t i = answers->difference_count; i-- > 0;) {
		const struct difference *difference = &answers->differences[i];

		if (is_between(difference, &one->ranks, &other->ranks) ||
		    is_between(difference, &other->ranks, &one->ranks))
			return difference;
	}
	return NULL;
}
