#include "backends/cpython/pyclass-lookup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pyclasses.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

#define BASES_MAXIMUM 32
#define NAME_MAXIMUM 64

/* clang-format off */
static const struct pyclass_lookup looks[] = {
	{ "enum", "Enum", NULL, 0, pyenum_write, NULL },
	{ NULL, NULL, "_fields", PYTYPE_TUPLE, pynamedtuple_write,
	  pynamedtuple_items },
	{ NULL, NULL, "__dataclass_fields__", 0, pydataclass_write, NULL },
	{ "fractions", "Fraction", NULL, 0, pyfraction_write, NULL },
	{ "pathlib", "PurePath", NULL, 0, pypath_write, NULL },
	{ "collections", "Counter", NULL, PYTYPE_DICT, pycounter_write, NULL },
	{ "torch.nn.modules.module", "Module", NULL, 0, pymodule_write, NULL },
};
/* clang-format on */

static bool pyclass_lookup_is_module(struct pyreader *reader, const struct pytype *type,
				     const char *wanted)
{
	struct buffer text = BUFFER_INIT;
	size_t length = strlen(wanted);
	bool is_it = false;
	uint64_t module;

	if (!pytype_attribute(reader, type, "__module__", &module) &&
	    !pyobject_string(reader, module, NAME_MAXIMUM, &text))
		is_it = !strncmp(text.data, wanted, length) &&
			(!text.data[length] || text.data[length] == '.');
	buffer_clear(&text);
	return is_it;
}

static bool pyclass_lookup_is_class(struct pyreader *reader, const struct pyclass_lookup *look,
				    const struct pytype *base, const char *name)
{
	uint64_t value;

	if (look->name && strcmp(look->name, name) != 0)
		return false;
	if (look->module && !pyclass_lookup_is_module(reader, base, look->module))
		return false;
	return !look->attribute || !pytype_attribute(reader, base, look->attribute, &value);
}

static const struct pyclass_lookup *find_for(struct pyreader *reader, const struct pytype *type,
					     const struct pytype *base)
{
	char name[NAME_MAXIMUM];

	if (pyreader_c_string(reader, base->name, name, sizeof(name)))
		return NULL;
	for (size_t i = 0; i < ARRAY_LENGTH(looks); i++) {
		const struct pyclass_lookup *look = &looks[i];

		if ((type->flags & look->flag) == look->flag &&
		    pyclass_lookup_is_class(reader, look, base, name))
			return look;
	}
	return NULL;
}

/* The first row of the table that matches any class of the mro. */
static const struct pyclass_lookup *find(struct pyreader *reader, const struct pytype *type)
{
	int64_t count = pytuple_count(reader, type->mro);
	const struct pyclass_lookup *best = NULL;

	if (count > BASES_MAXIMUM)
		count = BASES_MAXIMUM;
	for (int64_t i = 0; i < count; i++) {
		const struct pyclass_lookup *look;
		struct pytype base;
		uint64_t address;

		if (pytuple_item(reader, type->mro, i, &address) ||
		    pytype_read(reader, address, &base))
			return NULL;
		if (!(base.flags & PYTYPE_HEAP))
			continue;
		look = find_for(reader, type, &base);
		if (look && (!best || look < best))
			best = look;
	}
	return best;
}

const struct pyclass_lookup *pyclass_lookup_find(struct pyreader *reader, const struct pytype *type)
{
	struct pyclass_lookup_cache *cache = &reader->looks;

	if (!(type->flags & PYTYPE_HEAP) || !type->mro)
		return NULL;
	for (size_t i = 0; i < PYCLASS_LOOKUP_CACHE; i++)
		if (cache->items[i].type == type->address)
			return cache->items[i].look;
	cache->items[cache->next].type = type->address;
	cache->items[cache->next].look = find(reader, type);
	const struct pyclass_lookup *found = cache->items[cache->next].look;
	cache->next = (cache->next + 1) % PYCLASS_LOOKUP_CACHE;
	return found;
}
