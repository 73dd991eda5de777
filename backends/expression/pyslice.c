/*
 * Slices of lists, tuples, str and bytes: copies of the process's items, counted as in
 * Objects/sliceobject.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyslot.h"
#include "backends/expression/pysyntax.h"
#include "backends/expression/pyvalue.h"
#include "base/error.h"

/* Most items of a slice, and most characters between the first and the last of a slice. */
#define ITEMS_MAXIMUM 10000
#define CHARACTERS_MAXIMUM (INT64_C(1) << 20)

struct part {
	int64_t start;
	int64_t step;
	int64_t count;
};

static bool pyslice_is_text(const struct pyvalue *value)
{
	return value->kind == PYVALUE_STRING || value->kind == PYVALUE_BYTES;
}

static bool is_sliced(const struct pyvalue *value)
{
	return pyslice_is_text(value) || value->kind == PYVALUE_LIST ||
	       value->kind == PYVALUE_TUPLE;
}

/* Evaluates a bound: None gives fallback, an integer beyond 64 bits the largest of its sign. */
static int pyslice_read_number(struct pyevaluation *evaluation, const struct pysyntax *syntax,
			       int64_t fallback, int64_t *number)
{
	struct pyvalue value;

	*number = fallback;
	if (pyevaluate(evaluation, syntax, &value))
		return -1;
	if (value.kind == PYVALUE_NONE)
		return 0;
	if (!pyvalue_is_integer(&value))
		return error_set(evaluation->error,
				 "A slice has whole numbers or None, and %s is neither.",
				 pyvalue_type_name(evaluation, &value));
	if (pybig_get(&value.integer, number))
		*number = value.integer.is_negative ? -INT64_MAX : INT64_MAX;
	return 0;
}

static int64_t pyslice_clip(int64_t bound, int64_t length, bool is_back)
{
	int64_t least = is_back ? -1 : 0;
	int64_t most = is_back ? length - 1 : length;

	if (bound < 0)
		bound += length;
	if (bound < least)
		return least;
	return bound > most ? most : bound;
}

/* Like PySlice_Unpack() and PySlice_AdjustIndices(). */
static int pyslice_read_slice(struct pyevaluation *evaluation, const struct pysyntax *slice,
			      int64_t length, struct part *part)
{
	int64_t stop;
	bool is_back;

	part->step = 1;
	if (slice->count > 2 && pyslice_read_number(evaluation, slice->items[2], 1, &part->step))
		return -1;
	if (part->step == 0)
		return error_set(evaluation->error, "slice step cannot be zero");
	if (part->step < -INT64_MAX)
		part->step = -INT64_MAX;
	is_back = part->step < 0;
	if (pyslice_read_number(evaluation, slice->items[0], is_back ? INT64_MAX : 0,
				&part->start) ||
	    pyslice_read_number(evaluation, slice->items[1], is_back ? INT64_MIN : INT64_MAX,
				&stop))
		return -1;
	part->start = pyslice_clip(part->start, length, is_back);
	stop = pyslice_clip(stop, length, is_back);
	part->count = 0;
	if (is_back && stop < part->start)
		part->count = (part->start - stop - 1) / -part->step + 1;
	else if (!is_back && part->start < stop)
		part->count = (stop - part->start - 1) / part->step + 1;
	return 0;
}

static int pyslice_refuse_size(struct pyevaluation *evaluation, const struct pyvalue *container,
			       int64_t count)
{
	return error_set(evaluation->error,
			 "A slice over %" PRId64
			 " items of a %s is larger than what is copied from outside.",
			 count, pyvalue_type_name(evaluation, container));
}

/* Returns the characters from `first` on; characters of an object are read from the process. */
static const uint32_t *pyslice_read_characters(struct pyevaluation *evaluation,
					       const struct pyvalue *text, int64_t first,
					       size_t count)
{
	struct pyreader *reader = evaluation->reader;
	struct pystring string = { .width = 1 };
	uint32_t *read;
	int result;

	if (!text->address)
		return text->characters + first;
	result = text->kind == PYVALUE_STRING
			 ? pystring_read(reader, text->address, &string)
			 : pybytes_read(reader, text->address, &string.data, &string.length);
	read = pyevaluation_allocate(evaluation, count * sizeof(*read));
	if (!result && first + (int64_t)count <= string.length &&
	    !pystring_characters(reader, &string, first, count, read))
		return read;
	error_set(evaluation->error, "A %s cannot be read.", pyvalue_type_name(evaluation, text));
	return NULL;
}

static int slice_text(struct pyevaluation *evaluation, const struct pyvalue *text,
		      const struct part *part, struct pyvalue *value)
{
	int64_t last, first, span;
	const uint32_t *from;
	uint32_t *characters;

	*value = (struct pyvalue){ .kind = text->kind };
	if (!part->count)
		return 0;
	last = part->start + (part->count - 1) * part->step;
	first = part->start < last ? part->start : last;
	span = (part->start < last ? last : part->start) - first + 1;
	if (span > CHARACTERS_MAXIMUM)
		return pyslice_refuse_size(evaluation, text, span);
	if (pyevaluation_check_room(evaluation, (size_t)(span + part->count) * sizeof(*characters)))
		return -1;
	from = pyslice_read_characters(evaluation, text, first, (size_t)span);
	if (!from)
		return -1;
	value->count = (size_t)part->count;
	characters = pyevaluation_allocate(evaluation, value->count * sizeof(*characters));
	for (int64_t i = 0; i < part->count; i++)
		characters[i] = from[part->start + i * part->step - first];
	value->characters = characters;
	return 0;
}

static int slice_items(struct pyevaluation *evaluation, const struct pyvalue *container,
		       const struct part *part, struct pyvalue *value)
{
	struct pyvalue *items;

	if (part->count > ITEMS_MAXIMUM)
		return pyslice_refuse_size(evaluation, container, part->count);
	if (pyevaluation_check_room(evaluation, (size_t)part->count * sizeof(*items)))
		return -1;
	*value = (struct pyvalue){ .kind = container->kind, .count = (size_t)part->count };
	items = pyevaluation_allocate(evaluation, value->count * sizeof(*items));
	for (int64_t i = 0; i < part->count; i++)
		if (pyvalue_item(evaluation, container, part->start + i * part->step, &items[i]))
			return -1;
	value->items = items;
	return 0;
}

int pyslice_get(struct pyevaluation *evaluation, const struct pyvalue *container,
		const struct pysyntax *slice, struct pyvalue *value)
{
	struct part part;
	int64_t length;

	if (!is_sliced(container))
		return error_set(evaluation->error,
				 "Slices of %s are not taken from outside: only those of list, "
				 "tuple, str, bytes, tensors and arrays.",
				 pyvalue_type_name(evaluation, container));
	if (container->address &&
	    !pyslot_is_kept(evaluation->reader, container->type, container->base, PYSLOT_SUBSCRIPT))
		return error_set(
			evaluation->error,
			"%s has a __getitem__ of its own, which would have to run in the process.",
			pyvalue_type_name(evaluation, container));
	length = pyvalue_length(evaluation, container);
	if (length < 0 || pyslice_read_slice(evaluation, slice, length, &part))
		return -1;
	return pyslice_is_text(container) ? slice_text(evaluation, container, &part, value)
					  : slice_items(evaluation, container, &part, value);
}
