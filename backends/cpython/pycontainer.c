#include "backends/cpython/pycontainer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
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
	/* index of the first item in left_block, and of the last item in right_block */
	int64_t left, right;
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
 * PyODictObject (Objects/odictobject.c): a dict, then the first node of a linked list of keys. The
 * list has the order of the keys; the dict itself keeps the order of insertion, which move_to_end()
 * does not change.
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

/* An array of pointers to objects. */
struct sequence {
	uint64_t items;
	int64_t count;
};

static int list_read(struct pyreader *reader, uint64_t address, struct sequence *sequence)
{
	uint64_t at = address + (uint64_t)reader->python->offsets.list_item;

	if (!pytype_has(reader, address, PYTYPE_LIST) ||
	    pyreader_size(reader, address, &sequence->count) || sequence->count < 0 ||
	    sequence->count > INT64_MAX / 8)
		return -1;
	return pyreader_pointer(reader, at, &sequence->items);
}

static int tuple_read(struct pyreader *reader, uint64_t address, struct sequence *sequence)
{
	if (!pytype_has(reader, address, PYTYPE_TUPLE) ||
	    pyreader_size(reader, address, &sequence->count) || sequence->count < 0 ||
	    sequence->count > INT64_MAX / 8)
		return -1;
	sequence->items = address + (uint64_t)reader->python->offsets.tuple_item;
	return 0;
}

static int pysequence_read_item(struct pyreader *reader, const struct sequence *sequence,
				int64_t number, uint64_t *item)
{
	return pyreader_pointer(reader, sequence->items + 8 * (uint64_t)number, item);
}

static int pysequence_add_items(struct pypage *page, const struct sequence *sequence)
{
	int64_t end = sequence->count;

	if (page->start < end && end - page->start > (int64_t)page->count)
		end = page->start + (int64_t)page->count;
	for (int64_t i = page->start; i < end; i++) {
		struct buffer name = BUFFER_INIT;
		uint64_t item;

		if (pysequence_read_item(page->reader, sequence, i, &item))
			return -1;
		buffer_printf(&name, "[%" PRId64 "]", i);
		pypage_add(page, &name, item);
	}
	return 0;
}

static void pysequence_write_items(struct pywriter *writer, uint64_t address,
				   const struct sequence *sequence,
				   const struct pybrackets *brackets)
{
	if (!pywriter_open(writer, address, sequence->count, brackets))
		return;
	for (int64_t i = 0; i < sequence->count; i++) {
		uint64_t item = 0;

		if (!pywriter_next(writer, i))
			break;
		if (pysequence_read_item(writer->reader, sequence, i, &item))
			item = 0;
		pywriter_object(writer, item);
	}
	pywriter_close(writer, brackets);
}

int64_t pylist_count(struct pyreader *reader, uint64_t address)
{
	struct sequence sequence;

	return list_read(reader, address, &sequence) ? -1 : sequence.count;
}

int pylist_items(struct pypage *page, uint64_t address)
{
	struct sequence sequence;

	if (list_read(page->reader, address, &sequence))
		return -1;
	return pysequence_add_items(page, &sequence);
}

int pylist_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item)
{
	struct sequence sequence;

	if (list_read(reader, address, &sequence) || number < 0 || number >= sequence.count)
		return -1;
	return pysequence_read_item(reader, &sequence, number, item);
}

void pylist_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "[", "]", "[...]", "[]" };
	struct sequence sequence;

	if (list_read(writer->reader, address, &sequence))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else
		pysequence_write_items(writer, address, &sequence, &brackets);
}

int64_t pytuple_count(struct pyreader *reader, uint64_t address)
{
	struct sequence sequence;

	return tuple_read(reader, address, &sequence) ? -1 : sequence.count;
}

int pytuple_items(struct pypage *page, uint64_t address)
{
	struct sequence sequence;

	if (tuple_read(page->reader, address, &sequence))
		return -1;
	return pysequence_add_items(page, &sequence);
}

int pytuple_item(struct pyreader *reader, uint64_t address, int64_t number, uint64_t *item)
{
	struct sequence sequence;

	if (tuple_read(reader, address, &sequence) || number < 0 || number >= sequence.count)
		return -1;
	return pysequence_read_item(reader, &sequence, number, item);
}

void pytuple_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets one = { "(", ",)", "(...)", "()" };
	static const struct pybrackets many = { "(", ")", "(...)", "()" };
	struct sequence sequence;

	if (tuple_read(writer->reader, address, &sequence))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else
		pysequence_write_items(writer, address, &sequence,
				       sequence.count == 1 ? &one : &many);
}

/* Reads count pointers directly behind the object's head; writes "?" if unreadable. */
static int pysequence_read_held(struct pywriter *writer, uint64_t address, size_t count,
				uint64_t *held)
{
	if (!pyreader_read(writer->reader, address + PYREADER_HEAD, held, count * sizeof(*held)))
		return 0;
	pywriter_text(writer, PYWRITER_UNKNOWN);
	return -1;
}

static void write_held(struct pywriter *writer, const char *name, const uint64_t *held,
		       size_t count)
{
	pywriter_text(writer, name);
	for (size_t i = 0; i < count; i++) {
		pywriter_text(writer, i ? ", " : "(");
		pywriter_object(writer, held[i]);
	}
	pywriter_text(writer, ")");
}

/* rangeobject: start, stop, step, length (Objects/rangeobject.c). */
void pyrange_write(struct pywriter *writer, uint64_t address)
{
	uint64_t held[3];
	int64_t step;

	if (pysequence_read_held(writer, address, 3, held))
		return;
	if (!pyobject_integer(writer->reader, held[2], &step) && step == 1)
		write_held(writer, "range", held, 2);
	else
		write_held(writer, "range", held, 3);
}

/* PySliceObject: start, stop, step. */
void pyslice_write(struct pywriter *writer, uint64_t address)
{
	uint64_t held[3];

	if (!pysequence_read_held(writer, address, 3, held))
		write_held(writer, "slice", held, 3);
}

/* PyCellObject: ob_ref. */
void pycell_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "<cell: ", ">", "<cell: ...>",
						    "<cell: empty>" };
	uint64_t held;

	if (pysequence_read_held(writer, address, 1, &held) ||
	    !pywriter_open(writer, address, held ? 1 : 0, &brackets))
		return;
	pywriter_object(writer, held);
	pywriter_close(writer, &brackets);
}

/*
 * PyMemoryViewObject: ob_size, managed buffer, hash, flags, exports, then a Py_buffer: buf, obj,
 * len, itemsize, readonly, ndim, format, shape.
 */
#define VIEW_BUFFER 56
#define VIEW_DIMENSIONS 64
struct view {
	uint64_t data, object;
	int64_t length, item_size;
	int32_t is_read_only, dimension_count;
	uint64_t format, shape;
};

/* "<memory of 64 bytes, format 'B'>" */
void pymemoryview_write(struct pywriter *writer, uint64_t address)
{
	struct view view;
	char format[16];

	if (pyreader_read(writer->reader, address + VIEW_BUFFER, &view, sizeof(view)) ||
	    view.length < 0 || view.dimension_count < 0 || view.dimension_count > VIEW_DIMENSIONS) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	buffer_printf(writer->out, "<memory of %" PRId64 " bytes", view.length);
	if (view.format && !pyreader_c_string(writer->reader, view.format, format, sizeof(format)))
		buffer_printf(writer->out, ", format '%s'", format);
	pywriter_text(writer, ">");
}

#define CHUNK 64

/* setentry; a deleted entry has a dummy key and hash -1 (Objects/setobject.c). */
struct entry {
	uint64_t key;
	int64_t hash;
};

struct set {
	uint64_t table;
	int64_t size; /* entries of the table, a power of two */
	int64_t used;
};

static int set_read(struct pyreader *reader, uint64_t address, struct set *set)
{
	const struct offsets *at = &reader->python->offsets;
	int64_t mask;

	if (pyreader_read(reader, address + (uint64_t)at->set_used, &set->used,
			  sizeof(set->used)) ||
	    pyreader_read(reader, address + (uint64_t)at->set_mask, &mask, sizeof(mask)) ||
	    pyreader_pointer(reader, address + (uint64_t)at->set_table, &set->table))
		return -1;
	if (mask < 0 || mask > INT64_MAX / 16 || (mask & (mask + 1)) || set->used < 0 ||
	    set->used > mask + 1)
		return -1;
	set->size = mask + 1;
	return 0;
}

/* Calls visit for each key and hash from index start on, until visit returns false. */
static int set_each(struct pyreader *reader, const struct set *set, int64_t start,
		    bool (*visit)(uint64_t key, int64_t hash, void *data), void *data)
{
	struct entry entries[CHUNK];
	int64_t number = 0;

	for (int64_t at = 0; at < set->size && number < set->used; at++) {
		const struct entry *entry = &entries[at % CHUNK];
		int64_t left = set->size - at;

		if (left > CHUNK)
			left = CHUNK;
		if (at % CHUNK == 0 && pyreader_read(reader, set->table + 16 * (uint64_t)at,
						     entries, sizeof(*entries) * (size_t)left))
			return -1;
		if (!entry->key || entry->hash == -1)
			continue;
		if (number++ >= start && !visit(entry->key, entry->hash, data))
			break;
	}
	return 0;
}

int64_t pyset_count(struct pyreader *reader, uint64_t address)
{
	struct set set;

	return set_read(reader, address, &set) ? -1 : set.used;
}

int pyset_each(struct pyreader *reader, uint64_t address,
	       bool (*visit)(uint64_t key, int64_t hash, void *data), void *data)
{
	struct set set;

	if (set_read(reader, address, &set))
		return -1;
	return set_each(reader, &set, 0, visit, data);
}

static bool pyset_add_item(uint64_t key, int64_t hash, void *data)
{
	struct pypage *page = data;
	struct buffer name = BUFFER_INIT;

	(void)hash;
	pypage_put_key(page, "{}", key, &name);
	pypage_add(page, &name, key);
	return --page->count > 0;
}

int pyset_items(struct pypage *page, uint64_t address)
{
	struct set set;

	if (set_read(page->reader, address, &set))
		return -1;
	if (!page->count)
		return 0;
	return set_each(page->reader, &set, page->start, pyset_add_item, page);
}

struct writing {
	struct pywriter *writer;
	int64_t number;
};

static bool pyset_write_item(uint64_t key, int64_t hash, void *data)
{
	struct writing *writing = data;

	(void)hash;
	if (!pywriter_next(writing->writer, writing->number++))
		return false;
	pywriter_object(writing->writer, key);
	return true;
}

static void write_set(struct pywriter *writer, uint64_t address, const struct pybrackets *brackets)
{
	struct writing writing = { writer, 0 };
	struct set set;

	if (set_read(writer->reader, address, &set)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	if (!pywriter_open(writer, address, set.used, brackets))
		return;
	if (set_each(writer->reader, &set, 0, pyset_write_item, &writing))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	pywriter_close(writer, brackets);
}

void pyset_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "{", "}", "set(...)", "set()" };

	write_set(writer, address, &brackets);
}

void pyfrozenset_write(struct pywriter *writer, uint64_t address)
{
	static const struct pybrackets brackets = { "frozenset({", "})", "frozenset(...)",
						    "frozenset()" };

	write_set(writer, address, &brackets);
}
