#include "backends/cpython/sys-modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"

#define MODULES_MAXIMUM 20000u
/* Entries of a module's dict that are searched: importlib sets __file__ among the first. */
#define ENTRIES 24u
#define ENTRY_BYTES 24u
#define DICT_HEAD 48u

void sys_modules_clear(struct sys_modules *modules)
{
	free(modules->items);
	*modules = (struct sys_modules){ .items = NULL };
}

static bool add_module(uint64_t key, uint64_t value, void *data)
{
	struct sys_modules *modules = data;

	ARRAY_GROW(modules->items, modules->count, modules->capacity);
	modules->items[modules->count++] = (struct module){ .name = key, .object = value };
	return modules->count < MODULES_MAXIMUM;
}

/* The first attributes of a module. */
struct attributes {
	uint64_t keys; /* address of the __dict__'s keys object */
	size_t entry_size;
	size_t key_at;
	size_t count;
	uint64_t entries;
	uint8_t bytes[ENTRIES * ENTRY_BYTES];
};

struct look {
	struct memory *memory;
	const struct cpython *python;
	struct module *items;
	size_t count;
	struct attributes *attributes;
	struct memory_part *parts;
};

static void sys_modules_fetch(struct look *look)
{
	memory_fetch_parts(look->memory, look->parts, look->count);
}

static void find_dicts(struct look *look)
{
	for (size_t i = 0; i < look->count; i++)
		look->parts[i] = (struct memory_part){
			.address = look->items[i].object + MODULE_DICT,
			.out = &look->items[i].dict,
			.length = 8,
		};
	sys_modules_fetch(look);
	for (size_t i = 0; i < look->count; i++)
		if (look->parts[i].done < 8)
			look->items[i].dict = 0;
}

static void find_keys(struct look *look)
{
	for (size_t i = 0; i < look->count; i++)
		look->parts[i] = (struct memory_part){
			.address = look->items[i].dict + (uint64_t)look->python->offsets.dict_keys,
			.out = &look->attributes[i].keys,
			.length = 8,
		};
	sys_modules_fetch(look);
}

static void find_entries(struct look *look)
{
	for (size_t i = 0; i < look->count; i++)
		look->parts[i] = (struct memory_part){
			.address = look->attributes[i].keys,
			.out = look->attributes[i].bytes,
			.length = PYTABLE_HEAD,
		};
	sys_modules_fetch(look);
	for (size_t i = 0; i < look->count; i++) {
		struct attributes *attributes = &look->attributes[i];
		struct pytable table;

		if (look->parts[i].done < PYTABLE_HEAD ||
		    pytable_parse(look->python, attributes->keys, attributes->bytes, &table))
			continue;
		attributes->entries = table.entries;
		attributes->entry_size = table.entry_size;
		attributes->key_at = table.key_at;
		attributes->count =
			table.entry_count < (int64_t)ENTRIES ? (size_t)table.entry_count : ENTRIES;
	}
}

static void sys_modules_read_entries(struct look *look)
{
	for (size_t i = 0; i < look->count; i++) {
		struct attributes *attributes = &look->attributes[i];

		look->parts[i] = (struct memory_part){
			.address = attributes->entries,
			.out = attributes->bytes,
			.length = attributes->count * attributes->entry_size,
		};
	}
	sys_modules_fetch(look);
	for (size_t i = 0; i < look->count; i++)
		if (look->parts[i].done < look->parts[i].length)
			look->attributes[i].count = 0;
}

static uint64_t sys_modules_word(const struct attributes *attributes, size_t i, size_t offset)
{
	return pyreader_word(attributes->bytes,
			     (long)(i * attributes->entry_size + attributes->key_at + offset));
}

/* Finds the str object "__file__", which is interned, so that all modules share one object. */
static uint64_t sys_modules_find_key(const struct look *look)
{
	struct pyreader reader;

	pyreader_init(&reader, look->memory, look->python);
	for (size_t i = 0; i < look->count; i++) {
		const struct attributes *attributes = &look->attributes[i];

		for (size_t j = 0; j < attributes->count; j++) {
			uint64_t key = sys_modules_word(attributes, j, 0);

			if (pystring_equals(&reader, key, "__file__"))
				return key;
		}
	}
	return 0;
}

static void find_files(struct look *look)
{
	uint64_t wanted = sys_modules_find_key(look);

	for (size_t i = 0; i < look->count; i++) {
		const struct attributes *attributes = &look->attributes[i];

		for (size_t j = 0; j < attributes->count; j++)
			if (sys_modules_word(attributes, j, 0) == wanted)
				look->items[i].file = sys_modules_word(attributes, j, 8);
	}
}

static uint64_t find_modules(struct memory *memory, const struct cpython *python,
			     uint64_t interpreter)
{
	uint64_t modules = 0;

	memory_fetch(memory, interpreter + (uint64_t)python->offsets.is_modules, &modules,
		     sizeof(modules));
	return modules;
}

void sys_modules_read(struct sys_modules *modules, struct memory *memory,
		      const struct cpython *python, uint64_t interpreter)
{
	struct look look = { .memory = memory, .python = python };
	size_t before = modules->count;
	struct pyreader reader;

	pyreader_init(&reader, memory, python);
	pydict_each(&reader, find_modules(memory, python, interpreter), 0, SIZE_MAX, add_module,
		    modules);
	look.count = modules->count - before;
	if (!look.count)
		return;
	look.items = modules->items + before;
	look.attributes = xcalloc(look.count, sizeof(*look.attributes));
	look.parts = xcalloc(look.count, sizeof(*look.parts));
	find_dicts(&look);
	find_keys(&look);
	find_entries(&look);
	sys_modules_read_entries(&look);
	find_files(&look);
	free(look.parts);
	free(look.attributes);
}

uint64_t sys_modules_revision(struct memory *memory, const struct cpython *python,
			      uint64_t interpreter)
{
	uint64_t modules = find_modules(memory, python, interpreter);
	uint8_t dict[DICT_HEAD];
	uint8_t keys[PYTABLE_HEAD];
	struct pytable table;
	uint64_t hash = HASH_START;
	uint64_t at;

	if (memory_fetch(memory, modules, dict, sizeof(dict)) < 0)
		return 0;
	at = pyreader_word(dict, python->offsets.dict_keys);
	if (memory_fetch(memory, at, keys, sizeof(keys)) < 0 ||
	    pytable_parse(python, at, keys, &table))
		return 0;
	hash = hash_number(hash, pyreader_word(dict, PYREADER_HEAD));
	hash = hash_number(hash, at);
	return hash_number(hash, (uint64_t)table.entry_count);
}

#define NAME_MAXIMUM 256
#define VALUE_MAXIMUM 4096
#define VARIABLES_MAXIMUM 10000

struct environ_search {
	struct pyreader *reader;
	const struct pyenviron_query *query;
};

/* Reads a bytes object, and ends it with NUL. Returns -1 if it has size bytes or more. */
static int pyenviron_read_bytes(struct pyreader *reader, uint64_t address, char *out, size_t size)
{
	int64_t length;
	uint64_t at;

	if (pybytes_read(reader, address, &at, &length) || length >= (int64_t)size ||
	    pyreader_read(reader, at, out, (size_t)length))
		return -1;
	out[length] = '\0';
	return 0;
}

static bool take_variable(uint64_t key, uint64_t value, void *data)
{
	struct environ_search *search = data;
	const struct pyenviron_query *query = search->query;
	char name[NAME_MAXIMUM + 1];
	char text[VALUE_MAXIMUM + 1];

	if (pyenviron_read_bytes(search->reader, key, name, sizeof(name)) == 0 &&
	    query->is_wanted(name, query->data) &&
	    pyenviron_read_bytes(search->reader, value, text, sizeof(text)) == 0)
		query->found(name, text, query->data);
	return true;
}

void pyenviron_each(struct pyreader *reader, uint64_t interpreter,
		    const struct pyenviron_query *query)
{
	struct environ_search search = { .reader = reader, .query = query };
	uint64_t environ, data;

	if (pymodule_find(reader, interpreter, "os", "environ", &environ) == 0 &&
	    pyobject_attribute(reader, environ, "_data", &data) == 0)
		pydict_each(reader, data, 0, VARIABLES_MAXIMUM, take_variable, &search);
}
