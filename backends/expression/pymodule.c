/*
 * Items of torch.nn.Sequential, ModuleList, ModuleDict, ParameterList and ParameterDict, which
 * their __getitem__ finds in dicts and attributes of the module.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytype.h"
#include "backends/expression/pycompare.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyvalue.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

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

/* Returns the container of torch.nn whose __getitem__ the object inherits; NULL: another one. */
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
				 "The index is out of range: there are %" PRId64 " items.",
				 count < 0 ? 0 : count);
	if (pydict_each(evaluation->reader, modules, at < 0 ? at + count : at, 1,
			pymodule_take_value, &address) < 0 ||
	    !address)
		return error_set(evaluation->error, "The modules cannot be read.");
	return pyvalue_load(evaluation, address, value);
}

static int get_name(struct pyevaluation *evaluation, const struct pyvalue *object, int64_t at,
		    struct pyvalue *value)
{
	char name[32];

	if (at < 0)
		return error_set(evaluation->error, "Parameters of a list are counted from its "
						    "start when they are read from outside.");
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
			"Parameters in a dict are found by strings of at most %d characters.",
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
		return error_set(evaluation->error, "Modules in a list are found by whole numbers; "
						    "slices would run code in the process.");
	if (way == WAY_NAME)
		return get_name(evaluation, object, at, value);
	if (pyattribute_get(evaluation, object, "_modules", &modules, NULL))
		return -1;
	if (modules.kind != PYVALUE_DICT)
		return error_set(evaluation->error, "The modules cannot be read.");
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
