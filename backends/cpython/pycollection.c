#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/buffer.h"

/*
 * dequeobject (Modules/_collectionsmodule.c), equal from 3.8 to 3.14: ob_size, then pointers to
 * both ends of a chain of blocks of 64 items.
 */
#define BLOCK_ITEMS 64
#define BLOCK_RIGHT (8 + 8 * BLOCK_ITEMS)
#define MAXIMUM_TEXT 48

struct deque_layout {
	uint64_t left_block, right_block;
	int64_t left, right; /* index of the first and last item in their blocks */
	uint64_t state;
	int64_t maximum; /* maxlen; -1: none */
};

/* A position in the chain of blocks. */
struct deque {
	struct deque_layout is;
	int64_t count;
	uint64_t block;
	int64_t number; /* index of the next item in block */
};

static int deque_read(struct pyreader *reader, uint64_t address, struct deque *deque)
{
	if (pyreader_size(reader, address, &deque->count) || deque->count < 0 ||
	    deque->count > INT64_MAX / 8 ||
	    pyreader_read(reader, address + PYREADER_HEAD + 8, &deque->is, sizeof(deque->is)) ||
	    deque->is.left < 0 || deque->is.left >= BLOCK_ITEMS)
		return -1;
	deque->block = deque->is.left_block;
	deque->number = deque->is.left;
	return 0;
}

static int deque_skip(struct pyreader *reader, struct deque *deque, int64_t count)
{
	deque->number += count;
	while (deque->number >= BLOCK_ITEMS) {
		if (pyreader_pointer(reader, deque->block + BLOCK_RIGHT, &deque->block))
			return -1;
		deque->number -= BLOCK_ITEMS;
	}
	return 0;
}

/* Reads the item at the position and advances by one. */
static int deque_next(struct pyreader *reader, struct deque *deque, uint64_t *item)
{
	if (deque_skip(reader, deque, 0))
		return -1;
	return pyreader_pointer(reader, deque->block + 8 + 8 * (uint64_t)deque->number++, item);
}

int64_t pydeque_count(struct pyreader *reader, uint64_t address)
{
	struct deque deque;

	return deque_read(reader, address, &deque) ? -1 : deque.count;
}

int pydeque_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item)
{
	struct deque deque;

	if (deque_read(reader, address, &deque) || number < 0 || number >= deque.count ||
	    deque_skip(reader, &deque, number))
		return -1;
	return deque_next(reader, &deque, item);
}

int pydeque_items(struct pypage *page, uint64_t address)
{
	struct deque deque;
	int64_t end;

	if (deque_read(page->reader, address, &deque))
		return -1;
	if (page->start >= deque.count)
		return 0;
	end = deque.count;
	if (end - page->start > (int64_t)page->count)
		end = page->start + (int64_t)page->count;
	if (deque_skip(page->reader, &deque, page->start))
		return -1;
	for (int64_t i = page->start; i < end; i++) {
		struct buffer name = BUFFER_INIT;
		uint64_t item;

		if (deque_next(page->reader, &deque, &item))
			return -1;
		buffer_printf(&name, "[%" PRId64 "]", i);
		pypage_add(page, &name, item);
	}
	return 0;
}

void pydeque_write(struct pywriter *writer, uint64_t address)
{
	char close[MAXIMUM_TEXT] = "])";
	char empty[MAXIMUM_TEXT + 8];
	struct pybrackets brackets = { "deque([", close, "[...]", empty };
	struct deque deque;

	if (deque_read(writer->reader, address, &deque)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (deque.is.maximum >= 0)
		snprintf(close, sizeof(close), "], maxlen=%" PRId64 ")", deque.is.maximum);
	snprintf(empty, sizeof(empty), "deque([%s", close);
	if (!pywriter_open(writer, address, deque.count, &brackets))
		return;
	for (int64_t i = 0; i < deque.count; i++) {
		uint64_t item = 0;

		if (!pywriter_next(writer, i))
			break;
		if (deque_next(writer->reader, &deque, &item))
			item = 0;
		pywriter_object(writer, item);
	}
	pywriter_close(writer, &brackets);
}

/* defdictobject (Modules/_collectionsmodule.c): a dict, then default_factory. */
#define DICT_BYTES 48

void pydefaultdict_write(struct pywriter *writer, uint64_t address)
{
	uint64_t factory;

	pywriter_text(writer, "defaultdict(");
	if (pyreader_pointer(writer->reader, address + DICT_BYTES, &factory))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else if (!factory)
		pywriter_text(writer, "None");
	else
		pywriter_object(writer, factory);
	pywriter_text(writer, ", ");
	pydict_write(writer, address);
	pywriter_text(writer, ")");
}

/*
 * PyODictObject (Objects/odictobject.c): a dict, then the first node of a linked list of keys,
 * which has the order. The dict itself keeps the order of insertion, which move_to_end() does not
 * change.
 */
#define ODICT_FIRST DICT_BYTES

struct odict_node {
	uint64_t key, hash, next, previous;
};

struct odict {
	struct pytable table;
	uint64_t next;
};

static int odict_read(struct pyreader *reader, uint64_t address, struct odict *odict)
{
	if (pytable_of_dict(reader, address, &odict->table))
		return -1;
	return pyreader_pointer(reader, address + ODICT_FIRST, &odict->next);
}

static int odict_next(struct pyreader *reader, struct odict *odict, struct odict_node *node)
{
	if (pyreader_read(reader, odict->next, node, sizeof(*node)))
		return -1;
	odict->next = node->next;
	return 0;
}

int pyodict_items(struct pypage *page, uint64_t address)
{
	struct odict odict;
	int64_t end;

	if (odict_read(page->reader, address, &odict))
		return -1;
	end = odict.table.used;
	if (page->start < end && end - page->start > (int64_t)page->count)
		end = page->start + (int64_t)page->count;
	for (int64_t i = 0; i < end; i++) {
		struct buffer name = BUFFER_INIT;
		struct odict_node node;
		uint64_t value;

		if (odict_next(page->reader, &odict, &node))
			return -1;
		if (i < page->start)
			continue;
		if (pytable_find_key(page->reader, &odict.table, node.hash, node.key, &value))
			value = 0;
		pypage_put_key(page, "[]", node.key, &name);
		pypage_add(page, &name, value);
	}
	return 0;
}

void pyodict_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "OrderedDict({", "})", "...", "OrderedDict()" };
	struct odict odict;

	if (odict_read(writer->reader, address, &odict)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!pywriter_open(writer, address, odict.table.used, &brackets))
		return;
	for (int64_t i = 0; i < odict.table.used; i++) {
		struct odict_node node;
		uint64_t value = 0;

		if (!pywriter_next(writer, i))
			break;
		if (odict_next(writer->reader, &odict, &node)) {
			pywriter_text(writer, PYWRITER_UNKNOWN);
			break;
		}
		if (pytable_find_key(writer->reader, &odict.table, node.hash, node.key, &value))
			value = 0;
		pywriter_object(writer, node.key);
		pywriter_text(writer, ": ");
		pywriter_object(writer, value);
	}
	pywriter_close(writer, &brackets);
}
