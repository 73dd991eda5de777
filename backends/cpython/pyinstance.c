#include "backends/cpython/pyinstance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/buffer.h"

#define NAME_MAXIMUM 256
#define SLOTS_MAXIMUM 256
/* Maximum plausible bytes of one object. */
#define INSTANCE_MAXIMUM (INT64_C(1) << 40)

/* PyMemberDef (Include/descrobject.h, structmember.h before 3.12). */
struct member {
	uint64_t name;
	int32_t type;
	int32_t padding;
	int64_t offset;
	int64_t flags;
	uint64_t documentation;
};
/* Offset of ma_used, the number of keys of a dict. */
#define DICT_USED 16
/*
 * Distance from the object back to the pointer to its managed dict, and (3.11) back to the pointer
 * to its values.
 */
#define MANAGED_DICT 24
#define MANAGED_VALUES 32
#define MEMBER_OBJECT 6	    /* T_OBJECT: a member of a type written in C */
#define MEMBER_OBJECT_EX 16 /* T_OBJECT_EX: a slot made by __slots__ */

static int table_at(struct pyreader *reader, uint64_t place, struct pytable *table)
{
	uint64_t dict;

	if (pyreader_pointer(reader, place, &dict))
		return -1;
	*table = (struct pytable){ .used = 0 };
	return dict ? pytable_of_dict(reader, dict, table) : 0;
}

static int table_of_values(struct pyreader *reader, uint64_t values, const struct pytype *type,
			   struct pytable *table)
{
	long at = reader->python->offsets.ht_cached_keys;
	uint64_t keys;

	if (!(type->flags & PYTYPE_HEAP) ||
	    pyreader_pointer(reader, type->address + (uint64_t)at, &keys))
		return -1;
	return pytable_of_values(reader, keys, values, table);
}

/* A negative tp_dictoffset counts from the end of an object of variable size. */
static int table_at_offset(struct pyreader *reader, uint64_t object, const struct pytype *type,
			   struct pytable *table)
{
	int64_t offset = type->dict_offset;
	int64_t size;

	if (offset < 0) {
		if (pyreader_size(reader, object, &size) || size == INT64_MIN)
			return -1;
		size = size < 0 ? -size : size;
		if (type->item_size > NAME_MAXIMUM || size > INSTANCE_MAXIMUM / NAME_MAXIMUM)
			return -1;
		size = size * type->item_size + type->basic_size;
		offset += (size + 7) / 8 * 8;
	}
	if (offset < (int64_t)PYREADER_HEAD || offset > INSTANCE_MAXIMUM)
		return -1;
	return table_at(reader, object + (uint64_t)offset, table);
}

static int managed_table_311(struct pyreader *reader, uint64_t object, const struct pytype *type,
			     struct pytable *table)
{
	uint64_t values;

	if (pyreader_pointer(reader, object - 32, &values))
		return -1;
	if (values)
		return table_of_values(reader, values, type, table);
	return table_at(reader, object - 24, table);
}

static int managed_table_312(struct pyreader *reader, uint64_t object, const struct pytype *type,
			     struct pytable *table)
{
	uint64_t word;

	if (pyreader_pointer(reader, object - 24, &word))
		return -1;
	if (word & 1)
		return table_of_values(reader, word + 1, type, table);
	return table_at(reader, object - 24, table);
}

static int managed_table_313(struct pyreader *reader, uint64_t object, const struct pytype *type,
			     struct pytable *table)
{
	uint64_t place = object - 24;
	uint64_t dict;

	if (pyreader_pointer(reader, place, &dict))
		return -1;
	if (!dict && (type->flags & PYTYPE_INLINE_VALUES))
		return table_of_values(reader, object + (uint64_t)type->basic_size, type, table);
	return table_at(reader, place, table);
}

int pyinstance_table(struct pyreader *reader, uint64_t object, const struct pytype *type,
		     struct pytable *table)
{
	int minor = reader->python->minor;

	/* A type's __dict__ is tp_dict instead. */
	if (type->flags & PYTYPE_TYPE)
		return -1;
	if (minor >= 11 && (type->flags & PYTYPE_MANAGED_DICT)) {
		if (minor == 11)
			return managed_table_311(reader, object, type, table);
		if (minor == 12)
			return managed_table_312(reader, object, type, table);
		return managed_table_313(reader, object, type, table);
	}
	if (!type->dict_offset)
		return -1;
	return table_at_offset(reader, object, type, table);
}

/* Slots with a value, those of base classes first. */
struct slots {
	size_t count;
	struct {
		uint64_t name;
		uint64_t value;
	} items[SLOTS_MAXIMUM];
};

/* Adds the slots that the type itself defines; true if it defines any. */
static bool add_slots(struct pyreader *reader, uint64_t object, const struct pytype *type,
		      struct slots *slots)
{
	uint64_t at = type->members;
	bool has_slots = false;

	for (size_t i = 0; i < SLOTS_MAXIMUM; i++, at += sizeof(struct member)) {
		struct member member;
		uint64_t value;

		if (slots->count == SLOTS_MAXIMUM ||
		    pyreader_read(reader, at, &member, sizeof(member)) || !member.name)
			break;
		if ((member.type != MEMBER_OBJECT && member.type != MEMBER_OBJECT_EX) ||
		    member.offset < (int64_t)PYREADER_HEAD || member.offset >= type->basic_size)
			continue;
		has_slots = true;
		if (pyreader_pointer(reader, object + (uint64_t)member.offset, &value) || !value)
			continue;
		slots->items[slots->count].name = member.name;
		slots->items[slots->count++].value = value;
	}
	return has_slots;
}

uint64_t pyinstance_guard(struct pyreader *reader, uint64_t object, const struct pytype *type,
			  bool *is_count)
{
	bool is_managed = reader->python->minor >= 11 && (type->flags & PYTYPE_MANAGED_DICT);
	uint64_t place = object - MANAGED_DICT;
	uint64_t dict, values;

	*is_count = false;
	if (!is_managed && type->dict_offset < (int64_t)PYREADER_HEAD)
		return 0;
	if (!is_managed)
		place = object + (uint64_t)type->dict_offset;
	if (pyreader_pointer(reader, place, &dict))
		return 0;
	*is_count = dict && !(dict & 1);
	if (*is_count)
		return dict + DICT_USED;
	/*
	 * 3.11 clears the pointer to the values before it stores the pointer to the dict, so the
	 * pointer to the values is the word to watch.
	 */
	if (reader->python->minor == 11 && is_managed &&
	    !pyreader_pointer(reader, object - MANAGED_VALUES, &values) && values)
		return object - MANAGED_VALUES;
	return place;
}

/* Reads all slots; true if the type or a base defines any. */
static bool slots_read(struct pyreader *reader, uint64_t object, const struct pytype *type,
		       struct slots *slots)
{
	struct pytype bases[PYTYPE_BASES_MAXIMUM];
	size_t count = 0;
	bool has_slots = false;

	slots->count = 0;
	if (!(type->flags & PYTYPE_HEAP))
		return false;
	bases[count++] = *type;
	while (count < PYTYPE_BASES_MAXIMUM && bases[count - 1].base) {
		if (pytype_read(reader, bases[count - 1].base, &bases[count]) ||
		    !(bases[count].flags & PYTYPE_HEAP))
			break;
		count++;
	}
	while (count-- > 0) {
		if (bases[count].members && add_slots(reader, object, &bases[count], slots))
			has_slots = true;
	}
	return has_slots;
}

static int pyinstance_find_slot(struct pyreader *reader, uint64_t object, const struct pytype *type,
				const char *name, uint64_t *value)
{
	struct slots slots;
	char text[NAME_MAXIMUM];

	slots_read(reader, object, type, &slots);
	for (size_t i = 0; i < slots.count; i++) {
		if (pyreader_c_string(reader, slots.items[i].name, text, sizeof(text)) ||
		    strcmp(text, name) != 0)
			continue;
		*value = slots.items[i].value;
		return 0;
	}
	return -1;
}

int64_t pyinstance_count(struct pyreader *reader, uint64_t object, const struct pytype *type)
{
	struct pytable table;
	struct slots slots;
	bool has_slots = slots_read(reader, object, type, &slots);
	int64_t count;

	if (pyinstance_table(reader, object, type, &table))
		return has_slots ? (int64_t)slots.count : -1;
	count = table.used;
	if (count < 0)
		count = pytable_each(reader, &table, 0, 0, NULL, NULL);
	return count < 0 ? -1 : count + (int64_t)slots.count;
}

static bool add_attribute(uint64_t key, uint64_t value, void *data)
{
	struct pypage *page = data;
	struct buffer name = BUFFER_INIT;

	if (pyobject_string(page->reader, key, NAME_MAXIMUM, &name))
		buffer_append_string(&name, "?");
	pypage_add(page, &name, value);
	return true;
}

static void add_slot(struct pypage *page, const struct slots *slots, size_t i)
{
	struct buffer name = BUFFER_INIT;
	char text[NAME_MAXIMUM];

	if (pyreader_c_string(page->reader, slots->items[i].name, text, sizeof(text)))
		buffer_append_string(&name, "?");
	else
		buffer_append_string(&name, text);
	pypage_add(page, &name, slots->items[i].value);
}

int pyinstance_attributes(struct pypage *page, uint64_t object, const struct pytype *type)
{
	struct pytable table;
	struct slots slots;
	int64_t start = page->start;

	slots_read(page->reader, object, type, &slots);
	for (; start < (int64_t)slots.count && page->count; page->count--)
		add_slot(page, &slots, (size_t)start++);
	if (pyinstance_table(page->reader, object, type, &table))
		return 0;
	return pytable_each(page->reader, &table, start - (int64_t)slots.count, page->count,
			    add_attribute, page) < 0
		       ? -1
		       : 0;
}

int pyobject_attribute(struct pyreader *reader, uint64_t object, const char *name, uint64_t *value)
{
	struct pytable table;
	struct pytype type;

	if (pytype_of(reader, object, &type))
		return -1;
	if (!pyinstance_table(reader, object, &type, &table) &&
	    !pytable_find(reader, &table, name, value))
		return 0;
	return pyinstance_find_slot(reader, object, &type, name, value);
}
