/* Items of containers, and the memory that holds each item. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyexpression.h"
#include "backends/expression/pyslot.h"
#include "backends/expression/pyvalue.h"
#include "base/error.h"

static int refuse_container(struct pyevaluation *evaluation, const struct pyvalue *container)
{
	return error_set(
		evaluation->error,
		"Items of %s are not looked up from outside: that would run code in the process.",
		pyvalue_type_name(evaluation, container));
}

/* Converts an index to a number from 0 to count - 1; -1: evaluation->error is set. */
static int64_t settle_index(struct pyevaluation *evaluation, const struct pyvalue *index,
			    int64_t count)
{
	int64_t at;

	if (!pyvalue_is_integer(index))
		return error_set(evaluation->error, "An index is a whole number, not %s.",
				 pyvalue_type_name(evaluation, index));
	if (count < 0)
		return -1;
	if (pybig_get(&index->integer, &at) || at >= count || at < -count)
		return error_set(evaluation->error,
				 "The index is out of range: there are %" PRId64 " items.", count);
	return at < 0 ? at + count : at;
}

static int index_string(struct pyevaluation *evaluation, const struct pyvalue *string, int64_t at,
			struct pyvalue *value)
{
	const uint32_t *characters;
	size_t count;

	if (pyvalue_characters(evaluation, string, &characters, &count))
		return -1;
	if (string->kind == PYVALUE_BYTES) {
		pyvalue_set_integer(evaluation, value, characters[at]);
		return 0;
	}
	*value = (struct pyvalue){ .kind = PYVALUE_STRING,
				   .characters = characters + at,
				   .count = 1 };
	return 0;
}

/* Only a list is watched: its items are an array of pointers. The items of a tuple never change. */
static void set_list_place(struct pyevaluation *evaluation, const struct pyvalue *list, int64_t at,
			   struct pyexpression_place *place)
{
	const struct offsets *offsets = &evaluation->reader->python->offsets;
	uint64_t row = list->address + (uint64_t)offsets->list_item;
	uint64_t items;

	if (!place || list->kind != PYVALUE_LIST || !list->address)
		return;
	place->owner = list->address;
	place->guard = row;
	if (at < 0 || pyreader_pointer(evaluation->reader, row, &items))
		return;
	place->address = items + 8 * (uint64_t)at;
	place->length = 8;
	place->is_object = true;
}

static int index_sequence(struct pyevaluation *evaluation, const struct pyvalue *container,
			  const struct pyvalue *index, struct pyvalue *value,
			  struct pyexpression_place *place)
{
	int64_t at = settle_index(evaluation, index, pyvalue_length(evaluation, container));

	set_list_place(evaluation, container, at, place);
	if (at < 0)
		return -1;
	if (container->kind == PYVALUE_STRING || container->kind == PYVALUE_BYTES)
		return index_string(evaluation, container, at, value);
	return pyvalue_item(evaluation, container, at, value);
}

static int load_element(struct pyevaluation *evaluation, const struct pyvalue *owner,
			const struct pyelement *element, uint64_t address, struct pyvalue *value,
			struct pyexpression_place *place)
{
	if (place)
		*place = (struct pyexpression_place){
			.address = address,
			.length = pyelement_size(element),
			.format = element->format,
			.owner = owner->address,
		};
	*value = (struct pyvalue){ .kind = PYVALUE_ELEMENT, .element = *element };
	return pyelement_load(evaluation, address, value);
}

static int index_buffer(struct pyevaluation *evaluation, const struct pyvalue *buffer,
			const struct pyvalue *index, struct pyvalue *value,
			struct pyexpression_place *place)
{
	int64_t at = settle_index(evaluation, index, pyvalue_length(evaluation, buffer));
	struct pyelement element;
	uint64_t address;

	if (at < 0 || pyelement_of_buffer(evaluation, buffer, at, &element, &address))
		return -1;
	if (load_element(evaluation, buffer, &element, address, value, place))
		return -1;
	pyelement_make_plain(value);
	return 0;
}

static int index_dict(struct pyevaluation *evaluation, const struct pyvalue *dict,
		      const struct pyvalue *key, struct pyvalue *value,
		      struct pyexpression_place *place)
{
	uint64_t address, at;
	int found = pykey_find(evaluation, dict, key, &at);

	if (place) {
		place->owner = dict->address;
		place->guard = dict->address + PYINDEX_DICT_USED;
		place->is_count = true;
	}
	if (found < 0)
		return -1;
	if (!found)
		return error_set(evaluation->error, "The dict has no such key.");
	if (pyreader_pointer(evaluation->reader, at, &address))
		return error_set(evaluation->error, "A value of a dict cannot be read.");
	if (place) {
		place->address = at;
		place->length = 8;
		place->is_object = true;
	}
	return pyvalue_load(evaluation, address, value);
}

static int index_tensor(struct pyevaluation *evaluation, const struct pyvalue *tensor,
			const struct pyvalue *index, struct pyvalue *value,
			struct pyexpression_place *place)
{
	const struct pyvalue *indices = index;
	struct pyelement element;
	uint64_t address;
	size_t count = 1;

	if (index->kind == PYVALUE_TUPLE && !index->address) {
		indices = index->items;
		count = index->count;
	}
	if (!count)
		return refuse_container(evaluation, tensor);
	if (pyelement_place(evaluation, tensor, indices, count, &element, &address))
		return -1;
	return load_element(evaluation, tensor, &element, address, value, place);
}

/* obj[i] calls mp_subscript if the type has it, else sq_item: deque has only sq_item. */
static bool pyindex_is_as_base(struct pyevaluation *evaluation, const struct pyvalue *container)
{
	uint64_t function;

	if (!container->address)
		return true;
	if (pyslot_read(evaluation->reader, container->base, PYSLOT_SUBSCRIPT, &function))
		return false;
	return pyslot_is_kept(evaluation->reader, container->type, container->base,
			      PYSLOT_SUBSCRIPT) &&
	       (function ||
		pyslot_is_kept(evaluation->reader, container->type, container->base, PYSLOT_ITEM));
}

int pyindex_get(struct pyevaluation *evaluation, const struct pyvalue *container,
		const struct pyvalue *index, struct pyvalue *value,
		struct pyexpression_place *place)
{
	if (container->kind == PYVALUE_TENSOR || container->kind == PYVALUE_ARRAY)
		return index_tensor(evaluation, container, index, value, place);
	if (container->kind == PYVALUE_OBJECT) {
		int result = pymodule_index(evaluation, container, index, value);

		if (!result)
			result = pyseries_index(evaluation, container, index, value);
		if (result)
			return result < 0 ? -1 : 0;
	}
	if (container->kind != PYVALUE_OBJECT && !pyindex_is_as_base(evaluation, container))
		return error_set(
			evaluation->error,
			"%s has a __getitem__ of its own, which would have to run in the process.",
			pyvalue_type_name(evaluation, container));
	switch (container->kind) {
	case PYVALUE_DICT:
		return index_dict(evaluation, container, index, value, place);
	case PYVALUE_BUFFER:
		return index_buffer(evaluation, container, index, value, place);
	case PYVALUE_STRING:
	case PYVALUE_BYTES:
	case PYVALUE_TUPLE:
	case PYVALUE_LIST:
	case PYVALUE_RANGE:
	case PYVALUE_DEQUE:
		return index_sequence(evaluation, container, index, value, place);
	case PYVALUE_OBJECT:
	case PYVALUE_NONE:
	case PYVALUE_BOOLEAN:
	case PYVALUE_INTEGER:
	case PYVALUE_FLOAT:
	case PYVALUE_SET:
	case PYVALUE_TENSOR:
	case PYVALUE_ARRAY:
	case PYVALUE_SERIES:
	case PYVALUE_ELEMENT:
		break;
	}
	return refuse_container(evaluation, container);
}
