/* Items of containers, and the memory that holds each item. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyelement.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyexpression.h"
#include "backends/expression/pysyntax.h"
#include "backends/expression/pyvalue.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

static int refuse_container(struct pyevaluation *evaluation, const struct pyvalue *container)
{
	return error_set(
		evaluation->error,
		"cannot read an item of %s without an agent (code would run in the process)",
		pyvalue_type_name(evaluation, container));
}

/* Converts an index to a number from 0 to count - 1; -1: evaluation->error is set. */
static int64_t settle_index(struct pyevaluation *evaluation, const struct pyvalue *index,
			    int64_t count)
{
	int64_t at;

	if (!pyvalue_is_integer(index))
		return error_set(evaluation->error, "an index must be an integer, not %s",
				 pyvalue_type_name(evaluation, index));
	if (count < 0)
		return -1;
	if (pybig_get(&index->integer, &at) || at >= count || at < -count)
		return error_set(evaluation->error,
				 "the index is out of range: the length is %" PRId64, count);
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

/*
 * Only an item of a list is watched, by its pointer in the list's array. The items of a tuple never
 * change.
 */
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
		return error_set(evaluation->error, "key not found in the dict");
	if (pyreader_pointer(evaluation->reader, at, &address))
		return error_set(evaluation->error, "the value in the dict cannot be read");
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

/*
 * True if container[i] runs only the code of the builtin type. container[i] calls mp_subscript if
 * the type has this slot, else sq_item; deque has only sq_item.
 */
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
		return error_set(evaluation->error,
				 "cannot index %s without an agent (its __getitem__ would run in "
				 "the process)",
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

/*
 * Slices of lists, tuples, str and bytes: copies of the process's items, counted as in
 * Objects/sliceobject.c.
 */

/*
 * Maximum number of items of a slice, and maximum number of characters from the first to the last
 * one of a slice, respectively.
 */
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

/*
 * Evaluates a bound or step of a slice. None gives fallback; an integer beyond 64 bits gives
 * INT64_MAX or -INT64_MAX.
 */
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
		return error_set(evaluation->error, "slice bounds must be integers or None, not %s",
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
			 "a slice over %" PRId64
			 " items of a %s is too large to copy without an agent",
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
	error_set(evaluation->error, "the %s cannot be read", pyvalue_type_name(evaluation, text));
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
				 "slices of %s are not supported without an agent: only of list, "
				 "tuple, str, bytes, tensors and arrays",
				 pyvalue_type_name(evaluation, container));
	if (container->address &&
	    !pyslot_is_kept(evaluation->reader, container->type, container->base, PYSLOT_SUBSCRIPT))
		return error_set(evaluation->error,
				 "cannot slice %s without an agent (its __getitem__ would run in "
				 "the process)",
				 pyvalue_type_name(evaluation, container));
	length = pyvalue_length(evaluation, container);
	if (length < 0 || pyslice_read_slice(evaluation, slice, length, &part))
		return -1;
	return pyslice_is_text(container) ? slice_text(evaluation, container, &part, value)
					  : slice_items(evaluation, container, &part, value);
}

/*
 * Items of torch.nn.Sequential, ModuleList, ModuleDict, ParameterList and ParameterDict, which
 * their __getitem__ finds in dicts and attributes of the module.
 */

#define CONTAINERS "torch.nn.modules.container"
#define NAME_MAXIMUM 1000

enum way {
	WAY_NUMBER, /* the index is the position in _modules */
	WAY_KEY,    /* the index is a key of _modules */
	WAY_NAME,   /* the item is an attribute whose name is the number */
	WAY_TEXT,   /* the item is an attribute whose name is the key */
};

static const struct container {
	const char *name;
	enum way way;
} containers[] = {
	{ "Sequential", WAY_NUMBER },  { "ModuleList", WAY_NUMBER },  { "ModuleDict", WAY_KEY },
	{ "ParameterList", WAY_NAME }, { "ParameterDict", WAY_TEXT },
};

/* Returns the address of the __getitem__ that the class defines or inherits; 0: none. */
static uint64_t find_getter(struct pyreader *reader, uint64_t class)
{
	struct pytype type, base;
	uint64_t address, getter;
	int64_t count;

	if (pytype_read(reader, class, &type))
		return 0;
	count = pytuple_count(reader, type.mro);
	for (int64_t i = 0; i < count && i < PYTYPE_BASES_MAXIMUM; i++) {
		if (pytuple_item(reader, type.mro, i, &address) ||
		    pytype_read(reader, address, &base))
			return 0;
		if (!pytype_attribute(reader, &base, "__getitem__", &getter))
			return getter;
	}
	return 0;
}

/*
 * Returns the container of torch.nn whose __getitem__ the object inherits; NULL: the object has
 * another __getitem__.
 */
static const struct container *find_container(struct pyevaluation *evaluation,
					      const struct pyvalue *object)
{
	uint64_t getter = find_getter(evaluation->reader, object->type);

	for (size_t i = 0; getter && i < ARRAY_LENGTH(containers); i++) {
		struct pytype type;
		uint64_t class, own;

		if (!pyevaluation_module(evaluation, CONTAINERS, containers[i].name, &class) &&
		    !pytype_read(evaluation->reader, class, &type) &&
		    !pytype_attribute(evaluation->reader, &type, "__getitem__", &own) &&
		    own == getter)
			return &containers[i];
	}
	return NULL;
}

static bool pymodule_take_value(uint64_t key, uint64_t value, void *data)
{
	(void)key;
	*(uint64_t *)data = value;
	return false;
}

static int pymodule_get_number(struct pyevaluation *evaluation, uint64_t modules, int64_t at,
			       struct pyvalue *value)
{
	int64_t count = pydict_count(evaluation->reader, modules);
	uint64_t address = 0;

	if (at < -count || at >= count)
		return error_set(evaluation->error,
				 "the index is out of range: the length is %" PRId64,
				 count < 0 ? 0 : count);
	if (pydict_each(evaluation->reader, modules, at < 0 ? at + count : at, 1,
			pymodule_take_value, &address) < 0 ||
	    !address)
		return error_set(evaluation->error, "the submodules cannot be read");
	return pyvalue_load(evaluation, address, value);
}

static int get_name(struct pyevaluation *evaluation, const struct pyvalue *object, int64_t at,
		    struct pyvalue *value)
{
	char name[32];

	if (at < 0)
		return error_set(
			evaluation->error,
			"a negative index into a ParameterList is not supported without an agent");
	snprintf(name, sizeof(name), "%" PRId64, at);
	return pyattribute_get(evaluation, object, name, value, NULL);
}

/* A computed str, such as a literal, has no address: its characters are in string->characters. */
static int pymodule_append_string(struct pyevaluation *evaluation, const struct pyvalue *string,
				  struct buffer *out)
{
	if (string->address)
		return pyobject_string(evaluation->reader, string->address, NAME_MAXIMUM, out);
	if (string->count > NAME_MAXIMUM)
		return -1;
	for (size_t i = 0; i < string->count; i++)
		text_put_codepoint(out, (int32_t)string->characters[i]);
	return 0;
}

static int pymodule_get_text(struct pyevaluation *evaluation, const struct pyvalue *object,
			     const struct pyvalue *index, struct pyvalue *value)
{
	struct buffer name = BUFFER_INIT;
	int result;

	if (index->kind != PYVALUE_STRING || pymodule_append_string(evaluation, index, &name))
		result = error_set(
			evaluation->error,
			"a key of a ParameterDict must be a string of at most %d characters",
			NAME_MAXIMUM);
	else
		result = pyattribute_get(evaluation, object, name.data ? name.data : "", value,
					 NULL);
	buffer_clear(&name);
	return result;
}

static int pymodule_get_item(struct pyevaluation *evaluation, const struct pyvalue *object,
			     enum way way, const struct pyvalue *index, struct pyvalue *value)
{
	struct pyvalue modules;
	int64_t at;

	if (way == WAY_TEXT)
		return pymodule_get_text(evaluation, object, index, value);
	if (way != WAY_KEY && (index->kind != PYVALUE_INTEGER || pybig_get(&index->integer, &at)))
		return error_set(evaluation->error,
				 "without an agent, the index of a module list must be an integer "
				 "(other indices would run code in the process)");
	if (way == WAY_NAME)
		return get_name(evaluation, object, at, value);
	if (pyattribute_get(evaluation, object, "_modules", &modules, NULL))
		return -1;
	if (modules.kind != PYVALUE_DICT)
		return error_set(evaluation->error, "the submodules cannot be read");
	if (way == WAY_KEY)
		return pyindex_get(evaluation, &modules, index, value, NULL);
	return pymodule_get_number(evaluation, modules.address, at, value);
}

int pymodule_index(struct pyevaluation *evaluation, const struct pyvalue *object,
		   const struct pyvalue *index, struct pyvalue *value)
{
	const struct container *container;

	if (!object->address)
		return 0;
	container = find_container(evaluation, object);
	if (!container)
		return 0;
	return pymodule_get_item(evaluation, object, container->way, index, value) ? -1 : 1;
}
