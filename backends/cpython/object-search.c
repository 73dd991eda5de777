/*
 * The queue of objects is worked off in chunks. For each chunk one call fetches the heads of all
 * objects; further calls fetch the parts to which the heads point: heads of dicts, heads of dict
 * keys, ranges of references. The references found are queued in turn.
 */
#include "backends/cpython/object-search.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpython/code-file.h"
#include "backends/cpython/code-search.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/object-search-type.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"

#define OBJECTS_MAXIMUM 600000u
#define WORDS_MAXIMUM ((size_t)64 << 20)
#define CHUNK 1024u
#define HEAD 128u /* bytes read of each object: enough for co_filename of a code object */
#define BATCH_BYTES ((size_t)1 << 20)
#define PIECE_BYTES ((size_t)64 << 10)
#define CONTAINER_MAXIMUM 16384 /* larger containers are taken for data and not searched */
#define PAGE 4096u
#define ADDRESS_MAXIMUM (UINT64_C(1) << 47)
#define SLOTS_MAXIMUM 64 /* words of an instance */
#define INLINE_MAXIMUM 30
#define OBJECT_TYPE 8
#define COUNT_MAXIMUM (UINT64_C(1) << 40) /* larger reference counts: the object was freed */
/* PyFunctionObject: bytes of func_defaults and func_kwdefaults, which lie before func_closure. */
#define DEFAULTS_BEFORE_CLOSURE 16

struct item {
	uint64_t address;
	int depth;
};

/* A range of references: one word in every stride bytes. */
struct range {
	uint64_t address;
	size_t count;
	size_t stride;
	int depth;
};

/* A dict whose values are to be searched. */
struct values {
	uint64_t keys;
	uint64_t values; /* address of a split table's values; 0: combined table */
	int depth;
};

struct object_search {
	bool is_full;  /* true: a limit was reached */
	size_t budget; /* bytes of references that may still be read */
	bool is_flat;
	struct memory *memory;
	const struct cpython *python;
	struct crawl_types *types;
	struct code_names *names;
	struct code_list *list;
	struct address_set seen;
	struct item *queue;
	size_t queue_count;
	size_t queue_capacity;
	size_t done; /* queue items already visited */
	/* The following members belong to the current chunk. */
	struct values dicts[CHUNK];
	size_t dict_count;
	struct range *ranges;
	size_t range_count;
	size_t range_capacity;
	struct memory_part parts[CHUNK];
	uint8_t heads[CHUNK][HEAD];
	uint8_t *batch; /* BATCH_BYTES */
};

struct object_search *object_search_new(struct memory *memory, const struct cpython *python,
					const struct object_search_calls *calls)
{
	struct object_search *crawl = xcalloc(1, sizeof(*crawl));

	crawl->memory = memory;
	crawl->python = python;
	crawl->is_flat = calls->is_flat;
	crawl->budget = WORDS_MAXIMUM;
	crawl->types = crawl_types_new(memory, python);
	crawl->names = code_names_new(memory, python, calls);
	crawl->batch = xmalloc(BATCH_BYTES);
	return crawl;
}

void object_search_free(struct object_search *crawl)
{
	if (!crawl)
		return;
	free(crawl->batch);
	free(crawl->ranges);
	free(crawl->queue);
	address_set_clear(&crawl->seen);
	code_names_free(crawl->names);
	crawl_types_free(crawl->types);
	free(crawl);
}

size_t object_search_count(const struct object_search *crawl)
{
	return crawl->done;
}

void object_search_add(struct object_search *crawl, uint64_t object, int depth)
{
	if (object % 8 || object < PAGE || object > ADDRESS_MAXIMUM ||
	    !address_set_add(&crawl->seen, object))
		return;
	if (crawl->queue_count >= OBJECTS_MAXIMUM) {
		crawl->is_full = true;
		return;
	}
	ARRAY_GROW(crawl->queue, crawl->queue_count, crawl->queue_capacity);
	crawl->queue[crawl->queue_count++] = (struct item){ object, depth };
}

static void add_range(struct object_search *crawl, uint64_t address, size_t count, size_t stride,
		      int depth)
{
	size_t most = PIECE_BYTES / stride;

	if (count * stride > crawl->budget) {
		crawl->is_full = true;
		return;
	}
	crawl->budget -= count * stride;
	while (count) {
		size_t some = count < most ? count : most;

		ARRAY_GROW(crawl->ranges, crawl->range_count, crawl->range_capacity);
		crawl->ranges[crawl->range_count++] =
			(struct range){ address, some, stride, depth };
		address += some * stride;
		count -= some;
	}
}

static void add_words(struct object_search *crawl, uint64_t address, int64_t count, int depth)
{
	if (count > 0 && count <= CONTAINER_MAXIMUM)
		add_range(crawl, address, (size_t)count, 8, depth);
}

/* The word at an offset of an object's fetched bytes; 0: not fetched. */
static uint64_t object_search_word(const struct memory_part *part, long offset)
{
	if (offset < 0 || (size_t)offset + 8 > part->done)
		return 0;
	return pyreader_word(part->out, offset);
}

static int64_t object_search_size_of(const struct memory_part *part)
{
	return (int64_t)object_search_word(part, PYREADER_HEAD);
}

/* An object of the chunk: its type and its first bytes. */
struct object {
	struct item item;
	const struct memory_part *part;
	const struct crawl_type *type;
};

/*
 * Adds a tuple that is part of an object (closure, co_consts). depth + 1: the tuple does not count
 * as a container.
 */
static void add_tuple(struct object_search *crawl, uint64_t tuple, int depth)
{
	object_search_add(crawl, tuple, depth + 1);
}

static void visit_nothing(struct object_search *crawl, const struct object *object)
{
	(void)crawl;
	(void)object;
}

static void visit_code(struct object_search *crawl, const struct object *object)
{
	const struct offsets *at = &crawl->python->offsets;
	uint64_t name = object_search_word(object->part, at->co_filename);
	struct code_list *list = crawl->list;

	if (!code_names_is_wanted(crawl->names, name))
		return;
	if (!list->file)
		list->file = xstrdup(code_names_text(crawl->names, name));
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = object->item.address;
	if (!crawl->is_flat)
		add_tuple(crawl, object_search_word(object->part, at->co_consts), 0);
}

static void visit_function(struct object_search *crawl, const struct object *object)
{
	const struct offsets *at = &crawl->python->offsets;
	const struct memory_part *part = object->part;
	/* func_dict lies behind func_doc; up to 3.9 behind func_name, too. */
	long dict = at->func_closure + (crawl->python->minor < 10 ? 24 : 16);
	int depth = object->item.depth;

	object_search_add(crawl, object_search_word(part, at->func_code), 0);
	add_tuple(crawl, object_search_word(part, at->func_closure), depth);
	object_search_add(crawl, object_search_word(part, dict), depth + 1);
	for (long before = DEFAULTS_BEFORE_CLOSURE; before > 0; before -= 8)
		object_search_add(crawl, object_search_word(part, at->func_closure - before),
				  depth);
}

static void visit_class(struct object_search *crawl, const struct object *object)
{
	add_range(crawl, object->item.address + (uint64_t)crawl->python->offsets.tp_dict, 1, 8,
		  object->item.depth + 1);
}

static void visit_dict(struct object_search *crawl, const struct object *object)
{
	const struct offsets *at = &crawl->python->offsets;

	if (object->item.depth <= 0)
		return;
	crawl->dicts[crawl->dict_count++] = (struct values){
		.keys = object_search_word(object->part, at->dict_keys),
		.values = object_search_word(object->part, at->dict_values),
		.depth = object->item.depth - 1,
	};
}

static void visit_tuple(struct object_search *crawl, const struct object *object)
{
	const struct offsets *at = &crawl->python->offsets;

	if (object->item.depth > 0)
		add_words(crawl, object->item.address + (uint64_t)at->tuple_item,
			  object_search_size_of(object->part), object->item.depth - 1);
}

static void visit_list(struct object_search *crawl, const struct object *object)
{
	const struct offsets *at = &crawl->python->offsets;

	if (object->item.depth > 0)
		add_words(crawl, object_search_word(object->part, at->list_item),
			  object_search_size_of(object->part), object->item.depth - 1);
}

static void visit_set(struct object_search *crawl, const struct object *object)
{
	const struct offsets *at = &crawl->python->offsets;
	uint64_t mask = object_search_word(object->part, at->set_mask);

	/* A setentry is a key and its hash. */
	if (object->item.depth > 0 && mask < CONTAINER_MAXIMUM)
		add_range(crawl, object_search_word(object->part, at->set_table), mask + 1, 16,
			  object->item.depth - 1);
}

static void visit_wrapper(struct object_search *crawl, const struct object *object)
{
	const struct crawl_type *type = object->type;

	for (int i = 0; i < type->count; i++)
		object_search_add(crawl, object_search_word(object->part, type->first + 8 * i),
				  object->item.depth);
	if (type->dict_offset > 0)
		add_range(crawl, object->item.address + (uint64_t)type->dict_offset, 1, 8,
			  object->item.depth + 1);
}

/*
 * 3.11, 3.12: adds the values of an instance. The bytes before the array of values hold the order
 * of insertion: the byte at values - 2 is the number of values; the bytes below that byte are the
 * indices of the values, downwards.
 */
static void add_ordered(struct object_search *crawl, uint64_t values, int depth)
{
	uint8_t before[2 + INLINE_MAXIMUM];
	size_t length = sizeof(before);
	size_t count;

	if (memory_fetch(crawl->memory, values - length, before, length) < 0)
		return;
	count = before[length - 2];
	for (size_t i = 0; i < count && i < INLINE_MAXIMUM; i++) {
		uint8_t number = before[length - 3 - i];

		if (number < INLINE_MAXIMUM)
			add_range(crawl, values + 8 * number, 1, 8, depth);
	}
}

/*
 * 3.13 on: adds the values stored inside the instance, a PyDictValues, which begins with four
 * bytes: capacity, size, embedded, valid.
 */
static void add_inline(struct object_search *crawl, uint64_t values, int depth)
{
	uint8_t head[4];

	if (memory_fetch(crawl->memory, values, head, sizeof(head)) == 0 &&
	    head[0] <= INLINE_MAXIMUM && head[3])
		add_range(crawl, values + 8, head[0], 8, depth);
}

/* Adds attributes of an instance whose class has managed dicts (see pyinstance.h). */
static void object_search_add_values(struct object_search *crawl, const struct object *object)
{
	uint64_t address = object->item.address;
	int depth = object->item.depth - 1;
	int minor = crawl->python->minor;
	uint64_t before[2]; /* 32 and 24 bytes before the object */

	if (memory_fetch(crawl->memory, address - 32, before, sizeof(before)) < 0)
		return;
	/* A managed dict and its instance count as one container. */
	object_search_add(crawl, before[1], object->item.depth);
	if (minor == 11 && before[0])
		add_ordered(crawl, before[0], depth);
	else if (minor == 12 && (before[1] & 1))
		add_ordered(crawl, before[1] + 1, depth);
	else if (minor >= 13 && !before[1] && (object->type->flags & PYTYPE_INLINE_VALUES))
		add_inline(crawl, address + (uint64_t)object->type->basic_size, depth);
}

static void visit_instance(struct object_search *crawl, const struct object *object)
{
	const struct crawl_type *type = object->type;
	uint64_t address = object->item.address;
	int depth = object->item.depth;
	int64_t slots = (type->basic_size - type->slots_at) / 8;

	if (depth <= 0)
		return;
	if (crawl->python->minor >= 11 && (type->flags & PYTYPE_MANAGED_DICT))
		object_search_add_values(crawl, object);
	if (type->dict_offset > 0)
		add_range(crawl, address + (uint64_t)type->dict_offset, 1, 8, depth);
	if (type->slots_at && slots <= SLOTS_MAXIMUM)
		add_words(crawl, address + (uint64_t)type->slots_at, slots, depth - 1);
}

static void (*const visits[])(struct object_search *crawl, const struct object *object) = {
	[CRAWL_NOTHING] = visit_nothing,   [CRAWL_CODE] = visit_code,
	[CRAWL_FUNCTION] = visit_function, [CRAWL_CLASS] = visit_class,
	[CRAWL_DICT] = visit_dict,	   [CRAWL_TUPLE] = visit_tuple,
	[CRAWL_LIST] = visit_list,	   [CRAWL_SET] = visit_set,
	[CRAWL_WRAPPER] = visit_wrapper,   [CRAWL_INSTANCE] = visit_instance,
};

/* Fetches the heads of the next objects of the queue; returns their number. */
static size_t fetch_heads(struct object_search *crawl)
{
	size_t count = crawl->queue_count - crawl->done;

	if (count > CHUNK)
		count = CHUNK;
	for (size_t i = 0; i < count; i++)
		crawl->parts[i] = (struct memory_part){
			.address = crawl->queue[crawl->done + i].address,
			.out = crawl->heads[i],
			.length = HEAD,
		};
	memory_fetch_parts(crawl->memory, crawl->parts, count);
	return count;
}

/* Reads all new file names of the chunk in one go, before the objects are visited. */
static void learn_names(struct object_search *crawl, const struct object *objects, size_t count)
{
	long at = crawl->python->offsets.co_filename;

	for (size_t i = 0; i < count; i++)
		if (objects[i].type->kind == CRAWL_CODE)
			code_names_expect(crawl->names, object_search_word(objects[i].part, at));
	code_names_learn(crawl->names);
}

/*
 * A freed object keeps its bytes except for the first word, which is then the link to the next free
 * block instead of a reference count.
 */
static bool is_alive(const struct object_search *crawl, const struct memory_part *part)
{
	uint64_t count = object_search_word(part, 0);

	/* From 3.14 on the upper bits are flags. */
	if (crawl->python->minor >= 14)
		count &= UINT64_C(0xffffffffffff);
	return count && count < COUNT_MAXIMUM;
}

static const struct crawl_type *object_search_type_of(struct object_search *crawl,
						      const struct memory_part *part)
{
	uint64_t type = is_alive(crawl, part) ? object_search_word(part, OBJECT_TYPE) : 0;

	return crawl_types_find(crawl->types, type);
}

static void visit_chunk(struct object_search *crawl)
{
	size_t count = fetch_heads(crawl);
	struct object *objects = xcalloc(count, sizeof(*objects));

	for (size_t i = 0; i < count; i++)
		objects[i] = (struct object){
			.item = crawl->queue[crawl->done + i],
			.part = &crawl->parts[i],
			.type = object_search_type_of(crawl, &crawl->parts[i]),
		};
	crawl->done += count;
	learn_names(crawl, objects, count);
	for (size_t i = 0; i < count; i++)
		visits[objects[i].type->kind](crawl, &objects[i]);
	free(objects);
}

/* Adds the values of a dict; part has the head of the dict's keys object. */
static void add_entries(struct object_search *crawl, const struct memory_part *part,
			const struct values *values)
{
	struct pytable table;
	uint64_t held;

	if (part->done < PYTABLE_HEAD ||
	    pytable_parse(crawl->python, part->address, part->out, &table) ||
	    table.entry_count > CONTAINER_MAXIMUM)
		return;
	held = values->values;
	if (held)
		add_range(crawl, held + (crawl->python->minor >= 13 ? 8 : 0),
			  (size_t)table.entry_count, 8, values->depth);
	else
		add_range(crawl, table.entries + table.key_at + 8, (size_t)table.entry_count,
			  table.entry_size, values->depth);
}

static void open_dicts(struct object_search *crawl)
{
	uint8_t(*heads)[PYTABLE_HEAD] = xcalloc(CHUNK, sizeof(*heads));

	for (size_t i = 0; i < crawl->dict_count; i++)
		crawl->parts[i] = (struct memory_part){
			.address = crawl->dicts[i].keys,
			.out = heads[i],
			.length = PYTABLE_HEAD,
		};
	memory_fetch_parts(crawl->memory, crawl->parts, crawl->dict_count);
	for (size_t i = 0; i < crawl->dict_count; i++)
		add_entries(crawl, &crawl->parts[i], &crawl->dicts[i]);
	crawl->dict_count = 0;
	free(heads);
}

static void take_words(struct object_search *crawl, const struct memory_part *part,
		       const struct range *range)
{
	for (size_t at = 0; at + 8 <= part->done; at += range->stride)
		object_search_add(crawl, object_search_word(part, (long)at), range->depth);
}

/* Fetches as many ranges as fit into the batch; returns the first that did not fit. */
static size_t fetch_ranges(struct object_search *crawl, size_t first)
{
	size_t used = 0;
	size_t count = 0;

	while (first + count < crawl->range_count && count < CHUNK) {
		const struct range *range = &crawl->ranges[first + count];
		size_t length = (range->count - 1) * range->stride + 8;

		if (used + length > BATCH_BYTES)
			break;
		crawl->parts[count++] = (struct memory_part){
			.address = range->address,
			.out = crawl->batch + used,
			.length = length,
		};
		used += length;
	}
	memory_fetch_parts(crawl->memory, crawl->parts, count);
	for (size_t i = 0; i < count; i++)
		take_words(crawl, &crawl->parts[i], &crawl->ranges[first + i]);
	return first + count;
}

void object_search_run(struct object_search *crawl, struct code_list *list)
{
	crawl->list = list;
	while (crawl->done < crawl->queue_count) {
		visit_chunk(crawl);
		open_dicts(crawl);
		for (size_t at = 0; at < crawl->range_count;)
			at = fetch_ranges(crawl, at);
		crawl->range_count = 0;
	}
	if (crawl->is_full)
		list->is_cut = true;
}

#define SLOTS_AT_FIRST 1024u /* a power of two */

void address_set_clear(struct address_set *addresses)
{
	free(addresses->slots);
	*addresses = (struct address_set){ .slots = NULL };
}

/* The slot of address, or the free slot where address belongs; the table is never full. */
static size_t address_set_find(const struct address_set *addresses, uint64_t address)
{
	size_t mask = addresses->slot_count - 1;
	size_t slot = (address * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	for (;; slot++) {
		uint64_t held = addresses->slots[slot & mask];

		if (!held || held == address)
			return slot & mask;
	}
}

static void grow(struct address_set *addresses)
{
	struct address_set larger = {
		.slot_count = addresses->slot_count ? addresses->slot_count * 2 : SLOTS_AT_FIRST,
		.count = addresses->count,
	};

	larger.slots = xcalloc(larger.slot_count, sizeof(*larger.slots));
	for (size_t i = 0; i < addresses->slot_count; i++) {
		uint64_t held = addresses->slots[i];

		if (held)
			larger.slots[address_set_find(&larger, held)] = held;
	}
	free(addresses->slots);
	*addresses = larger;
}

bool address_set_add(struct address_set *addresses, uint64_t address)
{
	size_t slot;

	if (!address)
		return false;
	if (addresses->count * 2 >= addresses->slot_count)
		grow(addresses);
	slot = address_set_find(addresses, address);
	if (addresses->slots[slot])
		return false;
	addresses->slots[slot] = address;
	addresses->count++;
	return true;
}

bool address_set_has(const struct address_set *addresses, uint64_t address)
{
	return address && addresses->slot_count &&
	       addresses->slots[address_set_find(addresses, address)] == address;
}
