#include "backends/cpython/pytype.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/buffer.h"

#define NAME_MAXIMUM 256

/*
 * PyTypeObject from tp_flags on has the same members in the same order in 3.8 to 3.14
 * (Include/cpython/object.h); PyHeapTypeObject has ht_name, ht_slots and ht_qualname directly
 * before ht_cached_keys.
 */
#define MEMBERS_AFTER_FLAGS 72
#define DICT_BEFORE_DICTOFFSET 24
#define MRO_AFTER_DICTOFFSET 56
#define ITEMSIZE_AFTER_BASICSIZE 8
#define QUALNAME_BEFORE_CACHED_KEYS 8

/* Maximum bytes of a PyTypeObject that are read. */
#define TYPE_BYTES 512

int pytype_read(struct pyreader *reader, uint64_t address, struct pytype *type)
{
	const struct offsets *at = &reader->python->offsets;
	char bytes[TYPE_BYTES];
	size_t length = (size_t)at->tp_dictoffset + MRO_AFTER_DICTOFFSET + 8;

	if (at->tp_dictoffset < at->tp_flags || length > sizeof(bytes))
		return -1;
	if (address % 8 || pyreader_read(reader, address, bytes, length))
		return -1;
	*type = (struct pytype){
		.address = address,
		.flags = pyreader_word(bytes, at->tp_flags),
		.name = pyreader_word(bytes, at->tp_name),
		.members = pyreader_word(bytes, at->tp_flags + MEMBERS_AFTER_FLAGS),
		.base = pyreader_word(bytes, at->tp_base),
		.mro = pyreader_word(bytes, at->tp_dictoffset + MRO_AFTER_DICTOFFSET),
		.dict = pyreader_word(bytes, at->tp_dictoffset - DICT_BEFORE_DICTOFFSET),
		.basic_size = (int64_t)pyreader_word(bytes, at->tp_basicsize),
		.item_size =
			(int64_t)pyreader_word(bytes, at->tp_basicsize + ITEMSIZE_AFTER_BASICSIZE),
		.dict_offset = (int64_t)pyreader_word(bytes, at->tp_dictoffset),
	};
	if (type->basic_size < 0 || type->item_size < 0)
		return -1;
	return 0;
}

/* Reads the type at address, the ob_type of an object, after a check of the type's metaclass. */
static int read_claimed(struct pyreader *reader, uint64_t address, struct pytype *type)
{
	const struct offsets *at = &reader->python->offsets;
	uint64_t meta, flags;

	if (address % 8 || pyreader_pointer(reader, address + PYREADER_HEAD - 8, &meta) ||
	    pyreader_pointer(reader, meta + (uint64_t)at->tp_flags, &flags) ||
	    !(flags & PYTYPE_TYPE) || pytype_read(reader, address, type))
		return -1;
	type->kind = pykind_find(reader, type);
	return 0;
}

int pytype_of(struct pyreader *reader, uint64_t object, struct pytype *type)
{
	struct pytype_cache *cache = &reader->types;
	uint64_t address;

	if (object % 8 || pyreader_pointer(reader, object + PYREADER_HEAD - 8, &address) ||
	    !address)
		return -1;
	for (size_t i = 0; i < PYTYPE_CACHE; i++) {
		if (cache->types[i].address == address) {
			*type = cache->types[i];
			return 0;
		}
	}
	if (read_claimed(reader, address, type))
		return -1;
	cache->types[cache->next] = *type;
	cache->next = (cache->next + 1) % PYTYPE_CACHE;
	return 0;
}

bool pytype_has(struct pyreader *reader, uint64_t object, uint64_t flag)
{
	struct pytype type;

	return !pytype_of(reader, object, &type) && (type.flags & flag);
}

bool pytype_is(struct pyreader *reader, uint64_t object, const char *name)
{
	struct pytype type;
	char text[NAME_MAXIMUM];

	return !pytype_of(reader, object, &type) && !(type.flags & PYTYPE_HEAP) &&
	       !pyreader_c_string(reader, type.name, text, sizeof(text)) && !strcmp(text, name);
}

bool pytype_is_native(struct pyreader *reader, const struct pytype *type, char *name, size_t size)
{
	if (pyreader_c_string(reader, type->name, name, size))
		return false;
	return !(type->flags & PYTYPE_HEAP) || strchr(name, '.');
}

int pytype_attribute(struct pyreader *reader, const struct pytype *type, const char *name,
		     uint64_t *value)
{
	if (!type->dict)
		return -1;
	return pydict_find(reader, type->dict, name, value);
}

bool pytype_derives(struct pyreader *reader, const struct pytype *type, const char *wanted)
{
	int64_t count = pytuple_count(reader, type->mro);
	bool found = false;

	for (int64_t i = 0; i < count && i < PYTYPE_BASES_MAXIMUM && !found; i++) {
		struct buffer name = BUFFER_INIT;
		struct pytype base;
		uint64_t address;

		if (pytuple_item(reader, type->mro, i, &address) ||
		    pytype_read(reader, address, &base))
			break;
		found = pytype_name(reader, &base, &name) == 0 && strcmp(name.data, wanted) == 0;
		buffer_clear(&name);
	}
	return found;
}

int pytype_name(struct pyreader *reader, const struct pytype *type, struct buffer *out)
{
	const struct offsets *at = &reader->python->offsets;
	size_t before = out->length;
	char name[NAME_MAXIMUM];
	uint64_t module, qualname;

	if (!(type->flags & PYTYPE_HEAP)) {
		if (pyreader_c_string(reader, type->name, name, sizeof(name)))
			return -1;
		buffer_append_string(out, name);
		return 0;
	}
	if (!pytype_attribute(reader, type, "__module__", &module) &&
	    !pyobject_string(reader, module, NAME_MAXIMUM, out)) {
		if (!strcmp(out->data + before, "builtins"))
			buffer_truncate(out, before);
		else
			buffer_append_char(out, '.');
	}
	if (pyreader_pointer(reader,
			     type->address + (uint64_t)at->ht_cached_keys -
				     QUALNAME_BEFORE_CACHED_KEYS,
			     &qualname) ||
	    pyobject_string(reader, qualname, NAME_MAXIMUM, out)) {
		buffer_truncate(out, before);
		return -1;
	}
	return 0;
}
