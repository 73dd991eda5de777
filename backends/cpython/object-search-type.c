#include "backends/cpython/object-search-type.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/linux/memory.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/map.h"

/* In every version at least the bytes of a PyTypeObject up to tp_base. */
#define TYPE_BYTES 320
#define NAME_BYTES 64
#define OBJECT_TYPE 8
#define BASES_MAXIMUM 64
#define SIZE_MAXIMUM (INT64_C(1) << 20)

struct crawl_types {
	struct memory *memory;
	const struct cpython *python;
	struct map *known;
};

/* Types that hold functions, by tp_name; a Python subclass is treated like its base. */
static const struct row {
	const char *name;
	enum crawl_kind kind;
	int first;
	int count;
} rows[] = {
	{ "code", CRAWL_CODE, 0, 0 },
	{ "function", CRAWL_FUNCTION, 0, 0 },
	{ "cell", CRAWL_WRAPPER, 16, 1 },
	{ "method", CRAWL_WRAPPER, 16, 1 },
	{ "instancemethod", CRAWL_WRAPPER, 16, 1 },
	{ "staticmethod", CRAWL_WRAPPER, 16, 1 },
	{ "classmethod", CRAWL_WRAPPER, 16, 1 },
	{ "property", CRAWL_WRAPPER, 16, 3 },
	{ "mappingproxy", CRAWL_WRAPPER, 16, 1 },
	{ "functools.partial", CRAWL_WRAPPER, 16, 3 },
	{ "functools._lru_cache_wrapper", CRAWL_WRAPPER, 0, 0 },
	{ "set", CRAWL_SET, 0, 0 },
	{ "frozenset", CRAWL_SET, 0, 0 },
	/* A module is not followed: the caller adds the namespaces of the modules that it wants. */
	{ "module", CRAWL_NOTHING, 0, 0 },
};

/* Types known by a flag of tp_flags; subclasses of int, str … are not followed. */
static const struct {
	uint64_t flag;
	enum crawl_kind kind;
} flags[] = {
	{ PYTYPE_TYPE, CRAWL_CLASS },	   { PYTYPE_DICT, CRAWL_DICT },
	{ PYTYPE_TUPLE, CRAWL_TUPLE },	   { PYTYPE_LIST, CRAWL_LIST },
	{ PYTYPE_STRING, CRAWL_NOTHING },  { PYTYPE_BYTES, CRAWL_NOTHING },
	{ PYTYPE_INTEGER, CRAWL_NOTHING }, { PYTYPE_EXCEPTION, CRAWL_NOTHING },
};

struct crawl_types *crawl_types_new(struct memory *memory, const struct cpython *python)
{
	struct crawl_types *types = xcalloc(1, sizeof(*types));

	types->memory = memory;
	types->python = python;
	types->known = map_new(free);
	return types;
}

void crawl_types_free(struct crawl_types *types)
{
	if (!types)
		return;
	map_free(types->known);
	free(types);
}

/* A type as read from the process. */
struct reading {
	uint64_t name;
	uint64_t base;
	uint64_t meta;
	struct crawl_type type;
};

static int read_type(const struct crawl_types *types, uint64_t address, struct reading *reading)
{
	const struct offsets *at = &types->python->offsets;
	uint8_t bytes[TYPE_BYTES];

	if (address % 8 || memory_fetch(types->memory, address, bytes, sizeof(bytes)) < 0)
		return -1;
	*reading = (struct reading){
		.name = pyreader_word(bytes, at->tp_name),
		.base = pyreader_word(bytes, at->tp_base),
		.meta = pyreader_word(bytes, OBJECT_TYPE),
		.type = {
			.flags = pyreader_word(bytes, at->tp_flags),
			.basic_size = (int64_t)pyreader_word(
				bytes, at->tp_basicsize),
			.dict_offset = (int64_t)pyreader_word(
				bytes, at->tp_dictoffset),
		},
	};
	if (reading->type.basic_size < 0 || reading->type.basic_size > SIZE_MAXIMUM)
		return -1;
	return 0;
}

/* True if the type's own type has the flag of types (Py_TPFLAGS_TYPE_SUBCLASS). */
static bool is_type(const struct crawl_types *types, const struct reading *reading)
{
	struct reading meta;

	return !read_type(types, reading->meta, &meta) && (meta.type.flags & PYTYPE_TYPE);
}

/* Reads a name, cut to NAME_BYTES - 1. */
static void fetch_name(const struct crawl_types *types, uint64_t address, char name[NAME_BYTES])
{
	size_t length = memory_fetch_run(types->memory, address, name, NAME_BYTES - 1);

	name[length] = '\0';
}

static void object_search_type_take_row(struct crawl_type *type, const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		type->kind = rows[i].kind;
		type->first = rows[i].first;
		type->count = rows[i].count;
	}
}

static bool take_flag(struct crawl_type *type)
{
	for (size_t i = 0; i < ARRAY_LENGTH(flags); i++) {
		if (!(type->flags & flags[i].flag))
			continue;
		type->kind = flags[i].kind;
		return true;
	}
	return false;
}

static const struct crawl_type *object_search_type_find(struct crawl_types *types, uint64_t address,
							int depth);

/* True for a class written in Python: such a class has a tp_name without a dot. */
static bool is_of_python(const struct crawl_type *type, const char *name)
{
	return (type->flags & PYTYPE_HEAP) && !strchr(name, '.');
}

/* Copies the kind of the base. */
static void take_base(const struct crawl_type *base, struct crawl_type *type)
{
	type->slots_at = base->slots_at ? base->slots_at : base->basic_size;
	if (base->kind == CRAWL_NOTHING || base->kind == CRAWL_INSTANCE)
		return;
	type->kind = base->kind;
	type->first = base->first;
	type->count = base->count;
}

static void object_search_type_choose(struct crawl_types *types, const struct reading *reading,
				      struct crawl_type *type, int depth)
{
	char name[NAME_BYTES];

	*type = reading->type;
	if (!is_type(types, reading) || take_flag(type))
		return;
	fetch_name(types, reading->name, name);
	if (!is_of_python(type, name)) {
		type->kind = type->dict_offset ? CRAWL_INSTANCE : CRAWL_NOTHING;
		object_search_type_take_row(type, name);
		return;
	}
	type->kind = CRAWL_INSTANCE;
	if (reading->base && depth < BASES_MAXIMUM)
		take_base(object_search_type_find(types, reading->base, depth + 1), type);
}

static const struct crawl_type *object_search_type_find(struct crawl_types *types, uint64_t address,
							int depth)
{
	struct crawl_type *type = map_find(types->known, address);
	struct reading reading;

	if (type)
		return type;
	type = xcalloc(1, sizeof(*type));
	/* The type is entered before its bases are read, so that a cycle of bases ends here. */
	map_put(types->known, address, type);
	if (!read_type(types, address, &reading))
		object_search_type_choose(types, &reading, type, depth);
	return type;
}

const struct crawl_type *crawl_types_find(struct crawl_types *types, uint64_t address)
{
	return object_search_type_find(types, address, 0);
}
