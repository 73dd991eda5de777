#include "backends/tensor/parameter-walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytensor-pandas.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/reader.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/map.h"
#include "base/pack.h"
#include "base/text.h"
#include "protocol/variable.h"

#define DEPTH_MAXIMUM 100
#define NAME_MAXIMUM 1000
#define ENTRIES_MAXIMUM 100000
#define KEY_MAXIMUM 200
/* Maximum bytes of one plain value as repr() writes it. */
#define VALUE_MAXIMUM ((size_t)1 << 20)
#define VALUE_OBJECTS 100000
/* A plain value of more bytes than this is cut to VALUE_COLUMNS columns and a CRC. */
#define VALUE_WHOLE 200
#define VALUE_COLUMNS 60
/*
 * Maximum number of objects of any kind that are walked, because the node serves no other request
 * meanwhile.
 */
#define LOOKED_MAXIMUM 1000000

#define MODULE "torch.nn.modules.module.Module"
#define OPTIMIZER "torch.optim.optimizer.Optimizer"

enum kind {
	KIND_OTHER,
	KIND_TENSOR,
	KIND_MODULE,
	KIND_OPTIMIZER,
	KIND_LIST,
	KIND_TUPLE,
	KIND_DICT,
	KIND_FRAME,
};

struct walker {
	struct ptrace_connection *connection;
	struct pyreader reader;
	struct tensor_walk *walk;
	struct map *seen;   /* objects already walked */
	struct map *types;  /* kind of each type, plus one */
	struct map *params; /* optimizer: number of each parameter, plus one */
	struct buffer name; /* name of the object being walked */
	const char *text;   /* name of the root object */
	bool wants_values;
	int owners; /* number of nested modules and optimizers being walked */
	int depth;
	int64_t looked; /* number of objects so far */
	struct error *error;
};

static int parameter_walk_refuse(struct walker *walker)
{
	return error_set(walker->error,
			 "the parameters cannot be read, or changed during the read: try again");
}

static int parameter_walk_refuse_size(struct walker *walker)
{
	return error_set(walker->error, "the value has too many items, or is nested too deeply, to "
					"be read without an agent");
}

/*
 * Kinds
 */

static enum kind parameter_walk_judge(struct walker *walker, const struct pytype *type)
{
	static const char *const tensors[] = { "torch._C.TensorBase", "torch._C._TensorBase",
					       "numpy.ndarray" };
	const char *name = type->kind ? type->kind->name : "";

	for (size_t i = 0; i < ARRAY_LENGTH(tensors); i++)
		if (strcmp(name, tensors[i]) == 0)
			return KIND_TENSOR;
	if (type->flags & PYTYPE_LIST)
		return KIND_LIST;
	if (type->flags & PYTYPE_TUPLE)
		return KIND_TUPLE;
	if (type->flags & PYTYPE_DICT)
		return KIND_DICT;
	if (!(type->flags & PYTYPE_HEAP))
		return KIND_OTHER;
	if (pandas_is_series(&walker->reader, type) || pytensor_is_jax(&walker->reader, type))
		return KIND_TENSOR;
	if (pandas_is_frame(&walker->reader, type))
		return KIND_FRAME;
	if (pytype_derives(&walker->reader, type, MODULE))
		return KIND_MODULE;
	return pytype_derives(&walker->reader, type, OPTIMIZER) ? KIND_OPTIMIZER : KIND_OTHER;
}

/* Stores number + 1, so that the map's value is never NULL. */
static void parameter_walk_put_number(struct map *map, uint64_t key, size_t number)
{
	map_put(map, key, (void *)(uintptr_t)(number + 1));
}

static bool parameter_walk_get_number(const struct map *map, uint64_t key, size_t *number)
{
	uintptr_t value = (uintptr_t)map_find(map, key);

	*number = value - 1;
	return value != 0;
}

static enum kind parameter_walk_kind_of(struct walker *walker, uint64_t object)
{
	struct pytype type;
	size_t known;

	walker->looked++;
	if (pytype_of(&walker->reader, object, &type))
		return KIND_OTHER;
	if (parameter_walk_get_number(walker->types, type.address, &known))
		return (enum kind)known;
	known = parameter_walk_judge(walker, &type);
	parameter_walk_put_number(walker->types, type.address, known);
	return (enum kind)known;
}

/* Starts a new read budget: each part of the walk may read as much as one request. */
static void renew(struct walker *walker)
{
	struct ptrace_connection *connection = walker->connection;

	memory_begin(connection->memory, false);
	pyreader_init(&walker->reader, connection->memory, &connection->python);
}

/* Returns true the first time that the object is seen. */
static bool see(struct walker *walker, uint64_t object)
{
	if (map_find(walker->seen, object))
		return false;
	parameter_walk_put_number(walker->seen, object, 0);
	return true;
}

/*
 * Entries of dicts
 */

struct entry {
	uint64_t key;
	uint64_t value;
};

struct entries {
	struct entry *items;
	size_t count;
	size_t capacity;
};

static bool parameter_walk_take_entry(uint64_t key, uint64_t value, void *data)
{
	struct entries *entries = data;

	ARRAY_GROW(entries->items, entries->count, entries->capacity);
	entries->items[entries->count++] = (struct entry){ key, value };
	return true;
}

/* Reads a dict's entries; the caller frees entries->items in any case. */
static int parameter_walk_read_entries(struct walker *walker, uint64_t dict,
				       struct entries *entries)
{
	int64_t count = pydict_each(&walker->reader, dict, 0, ENTRIES_MAXIMUM,
				    parameter_walk_take_entry, entries);

	if (count < 0 || walker->reader.budget == 0)
		return parameter_walk_refuse(walker);
	return count > ENTRIES_MAXIMUM ? parameter_walk_refuse_size(walker) : 0;
}

/*
 * Names
 */

/* Appends ".name", or "name" as the first part; -1: key is not a str, or the name is too long. */
static int push_name(struct walker *walker, uint64_t key)
{
	if (walker->name.length)
		buffer_append_char(&walker->name, '.');
	if (walker->name.length > NAME_MAXIMUM ||
	    pyobject_string(&walker->reader, key, KEY_MAXIMUM, &walker->name))
		return parameter_walk_refuse(walker);
	return 0;
}

static void push_index(struct walker *walker, int64_t number)
{
	buffer_printf(&walker->name, "[%" PRId64 "]", number);
}

static int push_key(struct walker *walker, uint64_t key)
{
	struct buffer text = BUFFER_INIT;

	pyobject_repr(&walker->reader, key, &text);
	buffer_printf(&walker->name, "[%.*s]", KEY_MAXIMUM, text.data);
	buffer_clear(&text);
	return walker->name.length > NAME_MAXIMUM ? parameter_walk_refuse_size(walker) : 0;
}

/*
 * Walking
 */

static struct tensor_walk_item *parameter_walk_add_item(struct walker *walker)
{
	struct tensor_walk *walk = walker->walk;
	struct tensor_walk_item *item;

	if (walk->count >= TENSOR_WALK_MAXIMUM) {
		parameter_walk_refuse_size(walker);
		return NULL;
	}
	ARRAY_GROW(walk->items, walk->count, walk->capacity);
	item = &walk->items[walk->count++];
	*item = (struct tensor_walk_item){
		.name = xstrdup(walker->name.length ? walker->name.data : walker->text),
		.column = -1,
	};
	return item;
}

static int parameter_walk_add(struct walker *walker, uint64_t object, bool is_buffer)
{
	bool is_first = see(walker, object);
	struct tensor_walk_item *item;

	/*
	 * If walker->wants_values, a tensor outside modules and optimizers is listed under each of
	 * its names.
	 */
	if (!is_first && (!walker->wants_values || walker->owners > 0))
		return 0;
	item = parameter_walk_add_item(walker);
	if (!item)
		return -1;
	item->is_buffer = is_buffer;
	item->object = object;
	return 0;
}

/*
 * Plain values
 */

/*
 * Appends the object's repr() if the repr() is the whole value; else appends nothing and returns
 * false.
 */
static bool parameter_walk_append_plain(struct walker *walker, uint64_t object, struct buffer *out)
{
	size_t length = out->length;
	struct pywriter writer;

	pywriter_init(&writer, &walker->reader, out);
	writer.limit = length + VALUE_MAXIMUM;
	writer.objects = VALUE_OBJECTS;
	pywriter_object(&writer, object);
	if (variable_says_all(out->data + length, true))
		return true;
	buffer_truncate(out, length);
	return false;
}

static int parameter_walk_add_text(struct walker *walker, const struct buffer *whole)
{
	struct tensor_walk_item *item = parameter_walk_add_item(walker);
	struct buffer text = BUFFER_INIT;

	if (!item)
		return -1;
	if (whole->length <= VALUE_WHOLE) {
		buffer_append_string(&text, whole->data);
	} else {
		text_cut(&text, whole->data, VALUE_COLUMNS);
		buffer_printf(&text, " (%zu bytes, crc32 %08" PRIx32 ")", whole->length,
			      crc_add(0, (const uint8_t *)whole->data, whole->length));
	}
	item->value = buffer_take(&text);
	return 0;
}

static int add_error(struct walker *walker, uint64_t object)
{
	struct tensor_walk_item *item = parameter_walk_add_item(walker);
	struct buffer type = BUFFER_INIT;

	if (!item)
		return -1;
	if (pyobject_type_name(&walker->reader, object, &type))
		buffer_append_string(&type, "object");
	item->error = xasprintf("a %s has no elements to compare", type.data);
	buffer_clear(&type);
	return 0;
}

static int add_value(struct walker *walker, uint64_t object)
{
	struct buffer text = BUFFER_INIT;
	int result = parameter_walk_append_plain(walker, object, &text)
			     ? parameter_walk_add_text(walker, &text)
			     : add_error(walker, object);

	buffer_clear(&text);
	return result;
}

static int walk_any(struct walker *walker, uint64_t object);

/* Walks the values of a dict that have the wanted kind, with their keys as names. */
static int walk_named(struct walker *walker, uint64_t dict, enum kind wanted, bool is_buffer)
{
	struct entries entries = { .items = NULL };
	size_t length = walker->name.length;
	int result = parameter_walk_read_entries(walker, dict, &entries);

	for (size_t i = 0; !result && i < entries.count; i++) {
		uint64_t value = entries.items[i].value;

		if (parameter_walk_kind_of(walker, value) != wanted)
			continue;
		result = push_name(walker, entries.items[i].key);
		if (!result)
			result = wanted == KIND_TENSOR
					 ? parameter_walk_add(walker, value, is_buffer)
					 : walk_any(walker, value);
		buffer_truncate(&walker->name, length);
	}
	free(entries.items);
	return result;
}

static int walk_module(struct walker *walker, uint64_t module)
{
	uint64_t parameters, buffers, children;

	renew(walker);
	if (pyobject_attribute(&walker->reader, module, "_parameters", &parameters) ||
	    pyobject_attribute(&walker->reader, module, "_buffers", &buffers) ||
	    pyobject_attribute(&walker->reader, module, "_modules", &children))
		return parameter_walk_refuse(walker);
	if (walk_named(walker, parameters, KIND_TENSOR, false) ||
	    walk_named(walker, buffers, KIND_TENSOR, true))
		return -1;
	return walk_named(walker, children, KIND_MODULE, false);
}

static int parameter_walk_get_item(struct walker *walker, uint64_t object, bool is_list,
				   int64_t number, uint64_t *item)
{
	if (number % 1000 == 999)
		renew(walker);
	if (is_list ? pylist_item(&walker->reader, object, number, item)
		    : pytuple_item(&walker->reader, object, number, item))
		return parameter_walk_refuse(walker);
	return 0;
}

/*
 * Adds the plain items of a sequence as one text, with "_" in place of the other items, which are
 * walked.
 */
static int parameter_walk_add_items(struct walker *walker, uint64_t object, bool is_list,
				    int64_t count)
{
	struct buffer text = BUFFER_INIT;
	bool is_any = count == 0;
	int result = 0;
	uint64_t item;

	buffer_append_char(&text, is_list ? '[' : '(');
	for (int64_t i = 0; !result && i < count; i++) {
		result = parameter_walk_get_item(walker, object, is_list, i, &item);
		if (i > 0)
			buffer_append_string(&text, ", ");
		if (!result && parameter_walk_kind_of(walker, item) == KIND_OTHER &&
		    parameter_walk_append_plain(walker, item, &text))
			is_any = true;
		else
			buffer_append_char(&text, '_');
	}
	buffer_append_char(&text, is_list ? ']' : ')');
	if (!result && is_any)
		result = parameter_walk_add_text(walker, &text);
	buffer_clear(&text);
	return result;
}

/* Walks an item of a sequence unless it is a plain value, which the sequence's text contains. */
static int walk_item(struct walker *walker, uint64_t item)
{
	struct buffer unused = BUFFER_INIT;
	bool is_plain;

	if (parameter_walk_kind_of(walker, item) != KIND_OTHER)
		return walk_any(walker, item);
	is_plain = parameter_walk_append_plain(walker, item, &unused);
	buffer_clear(&unused);
	return is_plain ? 0 : add_error(walker, item);
}

static int walk_sequence(struct walker *walker, uint64_t object, bool is_list)
{
	int64_t count = is_list ? pylist_count(&walker->reader, object)
				: pytuple_count(&walker->reader, object);
	size_t length = walker->name.length;
	int result = 0;

	if (count < 0)
		return parameter_walk_refuse(walker);
	if (count > ENTRIES_MAXIMUM)
		return parameter_walk_refuse_size(walker);
	if (walker->wants_values)
		result = parameter_walk_add_items(walker, object, is_list, count);
	for (int64_t i = 0; !result && i < count; i++) {
		uint64_t item;

		if (parameter_walk_get_item(walker, object, is_list, i, &item))
			return -1;
		if (!walker->wants_values && parameter_walk_kind_of(walker, item) == KIND_OTHER)
			continue;
		push_index(walker, i);
		result = walk_item(walker, item);
		buffer_truncate(&walker->name, length);
	}
	return result;
}

static int walk_dict(struct walker *walker, uint64_t dict)
{
	struct entries entries = { .items = NULL };
	size_t length = walker->name.length;
	int result = parameter_walk_read_entries(walker, dict, &entries);

	if (!result && walker->wants_values && entries.count == 0)
		result = add_value(walker, dict);
	for (size_t i = 0; !result && i < entries.count; i++) {
		if (i % 1000 == 999)
			renew(walker);
		if (!walker->wants_values &&
		    parameter_walk_kind_of(walker, entries.items[i].value) == KIND_OTHER)
			continue;
		result = push_key(walker, entries.items[i].key);
		if (!result)
			result = walk_any(walker, entries.items[i].value);
		buffer_truncate(&walker->name, length);
	}
	free(entries.items);
	return result;
}

/*
 * A column that is unreadable or has no numbers is listed, too: reading its elements gives the
 * error.
 */
static int walk_frame(struct walker *walker, uint64_t frame)
{
	size_t length = walker->name.length;
	int64_t count = pandas_count_columns(&walker->reader, frame);
	int result = count < 0 ? parameter_walk_refuse(walker) : 0;

	for (int64_t i = 0; !result && i < count; i++) {
		struct tensor_walk_item *item;
		struct buffer text = BUFFER_INIT;

		if (i % 100 == 99)
			renew(walker);
		if (pandas_append_name(&walker->reader, frame, i, &text))
			result = parameter_walk_refuse(walker);
		else
			buffer_printf(&walker->name, "[%.*s]", KEY_MAXIMUM, text.data);
		buffer_clear(&text);
		item = result ? NULL : parameter_walk_add_item(walker);
		if (item) {
			item->object = frame;
			item->column = i;
		}
		result = item ? 0 : -1;
		buffer_truncate(&walker->name, length);
	}
	return result;
}

/*
 * Optimizers
 */

/*
 * Walks the options in a dict, such as the learning rate. Values that are walked elsewhere are left
 * out: the list named `but`; if but is NULL, all tensors.
 */
static int walk_options(struct walker *walker, uint64_t dict, const char *but)
{
	struct entries entries = { .items = NULL };
	size_t length = walker->name.length;
	int result = walker->wants_values ? parameter_walk_read_entries(walker, dict, &entries) : 0;

	for (size_t i = 0; !result && i < entries.count; i++) {
		enum kind kind = parameter_walk_kind_of(walker, entries.items[i].value);

		if (kind == KIND_TENSOR && !but)
			continue;
		result = push_name(walker, entries.items[i].key);
		if (!result && (!but || strcmp(walker->name.data + length, but) != 0))
			result = walk_any(walker, entries.items[i].value);
		buffer_truncate(&walker->name, length);
	}
	free(entries.items);
	return result;
}

static int walk_group(struct walker *walker, uint64_t group, int64_t number)
{
	size_t length = walker->name.length;
	uint64_t params, object;
	int64_t count;
	int result = 0;

	if (pydict_find(&walker->reader, group, "params", &params))
		return parameter_walk_refuse(walker);
	count = pylist_count(&walker->reader, params);
	if (count < 0 || count > ENTRIES_MAXIMUM)
		return parameter_walk_refuse(walker);
	for (int64_t i = 0; !result && i < count; i++) {
		if (i % 1000 == 999)
			renew(walker);
		if (pylist_item(&walker->reader, params, i, &object))
			return parameter_walk_refuse(walker);
		parameter_walk_put_number(walker->params, object, map_count(walker->params));
		if (walker->name.length)
			buffer_append_char(&walker->name, '.');
		buffer_printf(&walker->name, "param_groups[%" PRId64 "].params[%" PRId64 "]",
			      number, i);
		if (parameter_walk_kind_of(walker, object) == KIND_TENSOR)
			result = parameter_walk_add(walker, object, false);
		buffer_truncate(&walker->name, length);
	}
	if (length)
		buffer_append_char(&walker->name, '.');
	buffer_printf(&walker->name, "param_groups[%" PRId64 "]", number);
	if (!result)
		result = walk_options(walker, group, ".params");
	buffer_truncate(&walker->name, length);
	return result;
}

static int walk_state(struct walker *walker, uint64_t state)
{
	struct entries entries = { .items = NULL };
	size_t length = walker->name.length;
	int result = parameter_walk_read_entries(walker, state, &entries);

	for (size_t i = 0; !result && i < entries.count; i++) {
		size_t number;

		if (i % 100 == 99)
			renew(walker);
		if (!parameter_walk_get_number(walker->params, entries.items[i].key, &number) ||
		    parameter_walk_kind_of(walker, entries.items[i].value) != KIND_DICT)
			continue;
		if (length)
			buffer_append_char(&walker->name, '.');
		buffer_printf(&walker->name, "state[%zu]", number);
		result = walk_named(walker, entries.items[i].value, KIND_TENSOR, true);
		if (!result)
			result = walk_options(walker, entries.items[i].value, NULL);
		buffer_truncate(&walker->name, length);
	}
	free(entries.items);
	return result;
}

static int walk_optimizer(struct walker *walker, uint64_t optimizer)
{
	uint64_t groups, state, group;
	int64_t count;

	renew(walker);
	if (pyobject_attribute(&walker->reader, optimizer, "param_groups", &groups) ||
	    pyobject_attribute(&walker->reader, optimizer, "state", &state))
		return parameter_walk_refuse(walker);
	count = pylist_count(&walker->reader, groups);
	if (count < 0 || count > ENTRIES_MAXIMUM)
		return parameter_walk_refuse(walker);
	map_free(walker->params);
	walker->params = map_new(NULL);
	for (int64_t i = 0; i < count; i++)
		if (pylist_item(&walker->reader, groups, i, &group) || walk_group(walker, group, i))
			return parameter_walk_refuse(walker);
	return walk_state(walker, state);
}

static int walk_owner(struct walker *walker, uint64_t object,
		      int (*walk)(struct walker *walker, uint64_t object))
{
	int result;

	walker->owners++;
	result = walk(walker, object);
	walker->owners--;
	return result;
}

static int walk_kind(struct walker *walker, uint64_t object, enum kind kind)
{
	switch (kind) {
	case KIND_TENSOR:
		return parameter_walk_add(walker, object, false);
	case KIND_MODULE:
		return walk_owner(walker, object, walk_module);
	case KIND_OPTIMIZER:
		return walk_owner(walker, object, walk_optimizer);
	case KIND_LIST:
		return walk_sequence(walker, object, true);
	case KIND_TUPLE:
		return walk_sequence(walker, object, false);
	case KIND_DICT:
		return walk_dict(walker, object);
	case KIND_FRAME:
		return walk_frame(walker, object);
	case KIND_OTHER:
		return walker->wants_values ? add_value(walker, object) : 0;
	}
	return 0;
}

static int walk_any(struct walker *walker, uint64_t object)
{
	enum kind kind = parameter_walk_kind_of(walker, object);
	bool is_container = kind != KIND_TENSOR && kind != KIND_OTHER;
	int result;

	if (is_container && !see(walker, object))
		return 0;
	if (++walker->depth > DEPTH_MAXIMUM || walker->looked > LOOKED_MAXIMUM)
		return parameter_walk_refuse_size(walker);
	result = walk_kind(walker, object, kind);
	walker->depth--;
	/* With values, a container is walked again in another place, but not within itself. */
	if (is_container && walker->wants_values && (walker->owners == 0 || kind >= KIND_LIST))
		map_remove(walker->seen, object);
	return result;
}

static int walk_root(struct walker *walker, uint64_t object, const char *text)
{
	struct tensor_walk *walk = walker->walk;
	enum kind kind;
	int result;

	renew(walker);
	kind = parameter_walk_kind_of(walker, object);
	if (kind == KIND_OTHER && !walker->wants_values)
		return error_set(walker->error,
				 "%s is not a module, optimizer, tensor or DataFrame, nor a list, "
				 "tuple or dict of these",
				 text);
	if (kind == KIND_TENSOR || kind == KIND_OTHER)
		buffer_append_string(&walker->name, text);
	result = walk_any(walker, object);
	if (!result && kind == KIND_OTHER && walk->items[0].error)
		return error_set(walker->error, "%s: %s; compare an attribute (%s.NAME)", text,
				 walk->items[0].error, text);
	return result;
}

int tensor_walk(struct ptrace_connection *connection, uint64_t object, const char *text,
		bool wants_values, struct tensor_walk *walk, struct error *error)
{
	struct walker walker = {
		.connection = connection,
		.walk = walk,
		.seen = map_new(NULL),
		.types = map_new(NULL),
		.params = map_new(NULL),
		.name = BUFFER_INIT,
		.text = text,
		.wants_values = wants_values,
		.error = error,
	};
	int result = walk_root(&walker, object, text);

	buffer_clear(&walker.name);
	map_free(walker.seen);
	map_free(walker.types);
	map_free(walker.params);
	return result;
}

void tensor_walk_clear(struct tensor_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++) {
		free(walk->items[i].name);
		free(walk->items[i].value);
		free(walk->items[i].error);
	}
	free(walk->items);
	*walk = (struct tensor_walk){ .items = NULL };
}
