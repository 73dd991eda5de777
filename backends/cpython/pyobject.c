#include "backends/cpython/pyobject.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyinstance.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"

/* Maximum bytes of a key in a child's name. */
#define KEY_MAXIMUM 256
/* Maximum bytes read for one variable, so that the reader's budget suffices for all variables. */
#define VALUE_BUDGET ((size_t)64 << 10)

int pyobject_type_name(struct pyreader *reader, uint64_t address, struct buffer *out)
{
	struct pytype type;

	if (pytype_of(reader, address, &type))
		return -1;
	return pytype_name(reader, &type, out);
}

static void write_default(struct pywriter *writer, uint64_t address, const struct pytype *type)
{
	pywriter_text(writer, "<");
	if (pytype_name(writer->reader, type, writer->out))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	buffer_printf(writer->out, " at 0x%" PRIx64 ">", address);
}

void pywriter_object(struct pywriter *writer, uint64_t address)
{
	const struct pyclass_lookup *look;
	struct pytype type;

	writer->objects--;
	if (!address || pytype_of(writer->reader, address, &type)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	look = pyclass_lookup_find(writer->reader, &type);
	if (look && !look->write(writer, address, &type))
		return;
	if (type.kind)
		type.kind->write(writer, address);
	else
		write_default(writer, address, &type);
}

void pyobject_repr(struct pyreader *reader, uint64_t address, struct buffer *out)
{
	struct pywriter writer;

	pywriter_init(&writer, reader, out);
	pywriter_object(&writer, address);
}

/* Number of children, by kind: items come first, then attributes. */
struct children {
	int64_t items;	    /* -1: no container */
	int64_t attributes; /* -1: the object cannot have attributes */
};

static void count_children(struct pyreader *reader, uint64_t address, const struct pytype *type,
			   struct children *children)
{
	children->items = -1;
	if (type->kind && type->kind->count)
		children->items = type->kind->count(reader, address);
	children->attributes = pyinstance_count(reader, address, type);
	/*
	 * Functions and similar objects can have attributes, but few have any: without attributes
	 * they are shown as a leaf.
	 */
	if (!children->attributes && !(type->flags & PYTYPE_HEAP))
		children->attributes = -1;
	/*
	 * Without attributes, an instance of a subclass of str, list … is shown like a str or list.
	 */
	if (!children->attributes && type->kind)
		children->attributes = -1;
}

static int64_t children_total(const struct children *children)
{
	int64_t items = children->items > 0 ? children->items : 0;
	int64_t attributes = children->attributes > 0 ? children->attributes : 0;

	if (children->items < 0 && children->attributes < 0)
		return -1;
	return items > INT64_MAX - attributes ? INT64_MAX : items + attributes;
}

void pyobject_describe(struct pyreader *reader, uint64_t address, struct variable *variable)
{
	struct buffer name = BUFFER_INIT;
	struct buffer value = BUFFER_INIT;
	size_t budget = reader->budget;
	struct children children;
	struct pytype type;

	/* One large value must not use up the budget of the others. */
	if (reader->budget > VALUE_BUDGET)
		reader->budget = VALUE_BUDGET;
	variable->address = address;
	variable->child_count = -1;
	pyobject_repr(reader, address, &value);
	if (pytype_of(reader, address, &type) || pytype_name(reader, &type, &name)) {
		buffer_append_string(&name, PYWRITER_UNKNOWN);
	} else {
		count_children(reader, address, &type, &children);
		variable->child_count = children_total(&children);
	}
	variable->type = buffer_take(&name);
	variable->value = buffer_take(&value);
	if (budget > VALUE_BUDGET)
		reader->budget += budget - VALUE_BUDGET;
}

void pypage_add(struct pypage *page, struct buffer *name, uint64_t address)
{
	struct variable *variable = variable_list_add(page->list);

	variable->kind = VARIABLE_ITEM;
	variable->name = buffer_take(name);
	pyobject_describe(page->reader, address, variable);
}

void pypage_add_named(struct pypage *page, const struct pynamed *items, size_t count)
{
	int64_t number = 0;

	for (size_t i = 0; i < count; i++) {
		struct buffer name = BUFFER_INIT;

		if (!items[i].address || number++ < page->start ||
		    number > page->start + (int64_t)page->count)
			continue;
		buffer_append_string(&name, items[i].name);
		pypage_add(page, &name, items[i].address);
	}
}

void pypage_put_key(struct pypage *page, const char *brackets, uint64_t key, struct buffer *name)
{
	struct pywriter writer;

	pywriter_init(&writer, page->reader, name);
	writer.limit = name->length + KEY_MAXIMUM;
	buffer_append_char(name, brackets[0]);
	pywriter_object(&writer, key);
	buffer_append_char(name, brackets[1]);
}

static int pyobject_add_items(struct pypage *page, uint64_t address, const struct pytype *type)
{
	const struct pyclass_lookup *look = pyclass_lookup_find(page->reader, type);

	if (look && look->items)
		return look->items(page, address, type);
	return type->kind->items(page, address);
}

static int pyobject_add_children(struct pypage *page, uint64_t address, const struct pytype *type,
				 const struct children *children)
{
	int64_t items = children->items > 0 ? children->items : 0;
	size_t before = page->list->count;
	size_t count = page->count;

	if (page->start < items && pyobject_add_items(page, address, type))
		return -1;
	page->count = count - (page->list->count - before);
	page->start = page->start > items ? page->start - items : 0;
	if (children->attributes <= 0 || !page->count)
		return 0;
	return pyinstance_attributes(page, address, type);
}

int pyobject_children(struct pyreader *reader, uint64_t address, int64_t start, size_t count,
		      struct variable_list *list, struct error *error)
{
	struct pypage page = {
		.reader = reader,
		.list = list,
		.start = start > 0 ? start : 0,
		.count = count,
	};
	struct children children;
	struct pytype type;
	bool is_torn;

	if (pytype_of(reader, address, &type))
		return error_set(error,
				 "the Python object at 0x%" PRIx64
				 " no longer exists: refresh the list",
				 address);
	count_children(reader, address, &type, &children);
	list->total = children_total(&children);
	is_torn = type.kind && type.kind->count && children.items < 0;
	if (list->total < 0 && !is_torn)
		return error_set(error, "the object at 0x%" PRIx64 " has no items or attributes",
				 address);
	if (!is_torn && !pyobject_add_children(&page, address, &type, &children))
		return 0;
	if (!reader->budget)
		return error_set(error,
				 "the object at 0x%" PRIx64
				 " is too large for one request: open a page nearer to the start",
				 address);
	return error_set(error, "the object at 0x%" PRIx64 " changed while it was read: try again",
			 address);
}

int pymodule_find(struct pyreader *reader, uint64_t interpreter, const char *module,
		  const char *name, uint64_t *value)
{
	long at = reader->python->offsets.is_modules;
	uint64_t modules, object;

	if (!interpreter || at < 0 ||
	    pyreader_pointer(reader, interpreter + (uint64_t)at, &modules) ||
	    pydict_find(reader, modules, module, &object))
		return -1;
	return pyobject_attribute(reader, object, name, value);
}
